import type { ChildProcess } from 'node:child_process';
import { monotonicMs } from '../src/platform/clock.ts';
import { endPrograms, startProgram } from './child-programs.ts';
import { readMemory } from './process-readings.ts';
import type { Family, SlotOrder, SlotReport } from './provider-slot.ts';
import { type BenchVendor, startVendors } from './provider-vendors.ts';
import { type Spread, spreadOf } from './spread.ts';

/** What one provider costs a call: time that is ours, and memory of its slot. */
export interface ProviderFigures {
  family: Family;
  provider: string;
  /** From the vendor's byte to what the call makes of it, in milliseconds; the vendor's own time is not in it. */
  added: Spread;
  /** Private memory of the slot that the client takes: once it is open, and after all rounds. */
  openMb: number;
  usedMb: number;
}

const ANSWER_TIMEOUT_MS = 30_000;
/** The first rounds compile code and open connections; a call has done so before its first turn. */
const WARM_ROUNDS = 3;

/**
 * Each provider in a process with the code of a slot, against an emulated vendor in this one. Both read the kernel's
 * monotonic clock, so a time from one can be taken from a time of the other.
 */
export async function benchProviders(plan: {
  rounds: number;
  sttRounds: number;
  onBegin(sentence: string): void;
}): Promise<ProviderFigures[]> {
  const vendors = await startVendors();
  const figures: ProviderFigures[] = [];
  try {
    for (const vendor of vendors) {
      const rounds = vendor.family === 'stt' ? plan.sttRounds : plan.rounds;
      plan.onBegin(`${vendor.family} ${vendor.config.provider}: ${rounds} rounds`);
      figures.push(await benchProvider(vendor, rounds));
    }
    return figures;
  } finally {
    await Promise.all(vendors.map(({ emulator }) => emulator.close()));
  }
}

async function benchProvider(vendor: BenchVendor, rounds: number): Promise<ProviderFigures> {
  const child = startProgram('provider-slot', [vendor.family, JSON.stringify(vendor.config)]);
  const slot = new ProviderSlot(child);
  try {
    await slot.until('ready');
    const bare = await slot.memoryMb();
    await slot.order({ type: 'open' }, 'opened');
    const open = await slot.memoryMb();
    const added: number[] = [];
    for (let round = 0; round < rounds + WARM_ROUNDS; round++) {
      const before = vendor.emulator.log.entries.length;
      const { firstAtUs } = await slot.order({ type: 'round' }, 'round');
      const byteAtMs = vendorByteMs(vendor, before, localMs(firstAtUs));
      if (round >= WARM_ROUNDS) added.push(Math.max(0, localMs(firstAtUs) - byteAtMs));
    }
    return {
      family: vendor.family,
      provider: vendor.config.provider,
      added: spreadOf(added),
      openMb: open - bare,
      usedMb: (await slot.memoryMb()) - bare,
    };
  } catch (error) {
    throw new Error(`${vendor.family} ${vendor.config.provider}: ${(error as Error).message}`);
  } finally {
    await endPrograms([child]);
  }
}

/** When the byte that the slot waited for left the vendor: of a voice the first, of ears the last before the text. */
function vendorByteMs(vendor: BenchVendor, sinceEntry: number, beforeMs: number): number {
  const told = vendor.firstContentMs?.();
  if (told !== undefined && told !== null) return told;
  const sent = vendor.emulator.log.entries
    .slice(sinceEntry)
    .filter((entry) => entry.direction === 'out' && isContent(vendor, entry.kind));
  // The emulator logs what it has written, so the other end may have read it a moment before that.
  const entry =
    vendor.family === 'tts' ? sent[0] : (sent.findLast(({ atMs }) => atMs <= beforeMs) ?? sent[0]);
  if (!entry) throw new Error('the emulator sent nothing in this round');
  return entry.atMs;
}

/** A voice over HTTP answers with its head long before its first audio; an engine over HTTP with its text. */
function isContent({ family }: BenchVendor, kind: string): boolean {
  return (
    kind === 'text' || kind === 'binary' || kind === 'chunk' || (kind === 'response' && family === 'stt')
  );
}

/** A reading of the kernel's monotonic clock as this process's own clock shows it. */
function localMs(kernelUs: number): number {
  return monotonicMs() + kernelUs / 1000 - Number(process.hrtime.bigint()) / 1e6;
}

class ProviderSlot {
  private readonly child: ChildProcess;
  private readonly reports: SlotReport[] = [];
  private wake: () => void = () => undefined;

  constructor(child: ChildProcess) {
    this.child = child;
    child.on('message', (report: SlotReport) => {
      this.reports.push(report);
      this.wake();
    });
    child.on('exit', (code, signal) => {
      this.reports.push({ type: 'failed', sentence: `the process ended with ${signal ?? code}` });
      this.wake();
    });
  }

  async order<T extends SlotReport['type']>(
    order: SlotOrder,
    report: T,
  ): Promise<Extract<SlotReport, { type: T }>> {
    this.child.send(order);
    return this.until(report);
  }

  async until<T extends SlotReport['type']>(type: T): Promise<Extract<SlotReport, { type: T }>> {
    const deadline = monotonicMs() + ANSWER_TIMEOUT_MS;
    for (;;) {
      const report = this.reports.shift();
      if (report?.type === 'failed') throw new Error(report.sentence);
      if (report?.type === type) return report as Extract<SlotReport, { type: T }>;
      if (report) continue;
      const leftMs = deadline - monotonicMs();
      if (leftMs <= 0) throw new Error(`no "${type}" came`);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, leftMs);
        this.wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }

  async memoryMb(): Promise<number> {
    await this.order({ type: 'rest' }, 'rested');
    return readMemory(this.child.pid ?? -1)?.privateDirtyMb ?? Number.NaN;
  }
}

/** The figures as lines of a table. */
export function describeProviders(figures: readonly ProviderFigures[]): string[] {
  const ms = (value: number | null) => `${(value ?? Number.NaN).toFixed(2)} ms`.padStart(10);
  const mb = (value: number) => `${value.toFixed(1)} MB`.padStart(9);
  return [
    'provider             rounds   ours p50   ours p99      open  after all rounds',
    ...figures.map(
      ({ family, provider, added, openMb, usedMb }) =>
        `${`${family} ${provider}`.padEnd(20)} ${String(added.count).padStart(6)} ${ms(added.p50)} ${ms(added.p99)} ${mb(openMb)} ${mb(usedMb)}`,
    ),
    'ours: from the byte that the vendor sent to the text, the word, or the audio frame on its way to the line;',
    'memory: private to the slot, more than the code of a slot alone.',
  ];
}
