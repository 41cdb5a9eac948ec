import type { ProviderClock } from '../../../src/providers/contract/provider-clock.ts';
import type { EmulatedSocket } from './emulated-socket.ts';
import type { Violations } from './violations.ts';

/** One step of a scenario, plain data, so that a golden SDK and our client meet the very same one. */
export type ScriptStep =
  /** Waits for a text frame that holds at least these keys and values. */
  | { expect: Record<string, unknown>; withinMs?: number }
  /** Waits for so many bytes of audio since the step before that asked for audio. */
  | { expectAudioBytes: number; withinMs?: number }
  /** Waits for a frame without content: the end of audio at some vendors. */
  | { expectEmpty: true; withinMs?: number }
  | { expectClose: true; withinMs?: number }
  | { emit: unknown; delayMs?: number }
  | { emitText: string; delayMs?: number }
  | { close: number; reason?: string; delayMs?: number }
  | {
      fault:
        | 'cut'
        | 'reset'
        | 'silent'
        | 'half json'
        | 'cut in frame'
        | 'oversized'
        | 'unknown'
        | 'duplicate';
      delayMs?: number;
    }
  | { pauseMs: number };

/** A step that waits does so this long at most, on the emulator's clock. */
const DEFAULT_WITHIN_MS = 10_000;

/**
 * Plays a script on one connection. A frame that does not come in time is a violation and ends the connection. Text
 * frames that no step asks for are passed over: keep-alives come when they like.
 */
export class ScriptPlayer {
  private readonly socket: EmulatedSocket;
  private readonly clock: ProviderClock;
  private readonly violations: Violations;
  private readonly frames: { json: unknown; text: string }[] = [];
  private audioBytes = 0;
  private closed = false;
  private wake: () => void = () => undefined;

  constructor(socket: EmulatedSocket, clock: ProviderClock, violations: Violations) {
    this.socket = socket;
    this.clock = clock;
    this.violations = violations;
    socket.scripted = true;
    socket.onText((json, text) => {
      const audio = base64Bytes(json);
      if (audio > 0) this.audioBytes += audio;
      else this.frames.push({ json, text });
      this.wake();
    });
    socket.onBinary((bytes) => {
      if (bytes.length === 0) this.frames.push({ json: undefined, text: '' });
      this.audioBytes += bytes.length;
      this.wake();
    });
    socket.onClose(() => {
      this.closed = true;
      this.wake();
    });
  }

  async play(steps: readonly ScriptStep[]): Promise<void> {
    for (const [index, step] of steps.entries()) {
      if (this.closed && !('expectClose' in step)) return;
      if (await this.step(step)) continue;
      if (!this.closed) {
        this.violations.add(`script step ${index}: ${JSON.stringify(step)} did not come in time`);
        this.socket.cut();
      }
      return;
    }
  }

  private async step(step: ScriptStep): Promise<boolean> {
    if ('expect' in step)
      return this.await(step.withinMs, () => this.take((frame) => holds(frame.json, step.expect)));
    if ('expectEmpty' in step)
      return this.await(step.withinMs, () => this.take((frame) => frame.text === ''));
    if ('expectClose' in step) return this.await(step.withinMs, () => this.closed);
    if ('expectAudioBytes' in step) {
      const came = await this.await(step.withinMs, () => this.audioBytes >= step.expectAudioBytes);
      this.audioBytes = 0;
      return came;
    }
    if ('pauseMs' in step) {
      await this.clock.sleep(step.pauseMs);
      return true;
    }
    if (step.delayMs) await this.clock.sleep(step.delayMs);
    if ('emit' in step) this.socket.send(step.emit);
    else if ('emitText' in step) this.socket.sendText(step.emitText);
    else if ('close' in step) this.socket.close(step.close, step.reason);
    else this.fault(step.fault);
    return true;
  }

  private fault(fault: string): void {
    const acts: Record<string, () => void> = {
      cut: () => this.socket.cut(),
      reset: () => this.socket.reset(),
      silent: () => this.socket.goSilent(),
      'half json': () => this.socket.sendHalfJson(),
      'cut in frame': () => this.socket.cutInFrame(),
      oversized: () => this.socket.sendOversized(),
      unknown: () => this.socket.sendUnknown(),
      duplicate: () => this.socket.duplicateLast(),
    };
    acts[fault]?.();
  }

  /** Takes the first waiting frame that fits, and with it the older ones that nobody asked for. */
  private take(fits: (frame: { json: unknown; text: string }) => boolean): boolean {
    const at = this.frames.findIndex(fits);
    if (at === -1) return false;
    this.frames.splice(0, at + 1);
    return true;
  }

  private await(withinMs: number | undefined, done: () => boolean): Promise<boolean> {
    return new Promise((resolve) => {
      const finish = (came: boolean) => {
        cancel();
        this.wake = () => undefined;
        resolve(came);
      };
      const cancel = this.clock.after(withinMs ?? DEFAULT_WITHIN_MS, () => finish(false));
      this.wake = () => {
        if (done()) finish(true);
        else if (this.closed) finish(false);
      };
      this.wake();
    });
  }
}

/** Whether `actual` has every key of `wanted` with its value, nested objects likewise. */
export function holds(actual: unknown, wanted: unknown): boolean {
  if (typeof wanted !== 'object' || wanted === null) return Object.is(actual, wanted);
  if (typeof actual !== 'object' || actual === null) return false;
  return Object.entries(wanted).every(([key, value]) =>
    holds((actual as Record<string, unknown>)[key], value),
  );
}

/** Bytes of audio in a JSON frame that carries it as base64, 0 in any other. */
function base64Bytes(json: unknown): number {
  if (typeof json !== 'object' || json === null) return 0;
  const { audio } = json as { audio?: unknown };
  const data = typeof audio === 'object' && audio !== null ? (audio as { data?: unknown }).data : audio;
  return typeof data === 'string' ? Buffer.from(data, 'base64').length : 0;
}
