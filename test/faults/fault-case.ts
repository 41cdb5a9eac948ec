import type { Test } from 'tap';
import type { DiallerCall } from '../../src/cli/dialler-client.ts';
import type { Emulator } from '../emulators/kit/emulator.ts';
import {
  type CallStory,
  hearOpening,
  MAX_SILENCE_MS,
  type ProviderHarness,
} from '../harness/provider-calls.ts';

/** The emulators of one test and the bots that use them; of its own, so that no breaker reaches the next test. */
export interface Vendors<B extends string> {
  emulators: readonly Emulator[];
  bots: Readonly<Record<B, Record<string, unknown>>>;
}

/** One fault in a live call: what is ordered, what happens in the call, what must have come of it. */
export interface FaultCase<B extends string, V extends Vendors<B>> {
  name: string;
  bot: B;
  /** Before the call. */
  order?: (vendors: V) => void;
  /** After the opening line has been heard. */
  live: (call: DiallerCall, vendors: V) => Promise<unknown>;
  /** Events that the results must tell. */
  events?: readonly string[];
  /** What the bot was heard to say, in this order, among other lines. */
  botLines?: readonly RegExp[];
  /** What was understood, in full. */
  customerLines?: readonly string[];
  /** Who served the last step of the family. */
  servedBy?: { type: 'llm' | 'tts'; processor: string };
  disconnectedBy?: 'customer' | 'error';
  check?: (t: Test, story: CallStory, vendors: V) => unknown;
}

/** Runs each case as a test of its own, some at the same time, each with vendors of its own. */
export function runFaultCases<B extends string, V extends Vendors<B>>(
  t: Test,
  harness: ProviderHarness,
  start: () => Promise<V>,
  cases: readonly FaultCase<B, V>[],
): void {
  for (const fault of cases) {
    t.test(fault.name, { buffered: true }, async (t) => {
      const vendors = await start();
      t.teardown(() => Promise.all(vendors.emulators.map((emulator) => emulator.close())));
      fault.order?.(vendors);
      const story = await harness.call(vendors.bots[fault.bot], async (call) => {
        t.ok(await hearOpening(call), 'the caller hears the bot first');
        await fault.live(call, vendors);
      });
      judge(t, fault, story);
      await fault.check?.(t, story, vendors);
      t.same(
        vendors.emulators.flatMap((emulator) => emulator.violations.list),
        [],
        'nothing was sent that a vendor refuses',
      );
    });
  }
}

function judge<B extends string, V extends Vendors<B>>(
  t: Test,
  fault: FaultCase<B, V>,
  story: CallStory,
): void {
  const { result, longestSilenceMs, machineMs } = story;
  const silence = `RT-59 the longest silence was ${longestSilenceMs} ms, the machine's share at most ${machineMs} ms`;
  t.ok(longestSilenceMs < MAX_SILENCE_MS + machineMs, silence);
  t.equal(
    result.disconnected_by,
    fault.disconnectedBy ?? 'customer',
    'R106 nobody is blamed who was not at fault',
  );
  for (const name of fault.events ?? []) t.ok(story.events(name).length > 0, `the results tell ${name}`);
  let from = 0;
  for (const line of fault.botLines ?? []) {
    const at = story.botLines.findIndex((text, index) => index >= from && line.test(text));
    t.ok(at >= 0, `the caller heard ${line} in ${JSON.stringify(story.botLines)}`);
    from = at + 1;
  }
  if (fault.customerLines) t.same(story.customerLines, fault.customerLines, 'no word is lost or doubled');
  if (fault.servedBy) {
    const { type, processor } = fault.servedBy;
    const last = result.usage_metrics.findLast((metric) => metric.type === type);
    t.equal(last?.processor, processor, 'the usage names who served');
  }
}
