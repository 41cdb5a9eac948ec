import type { Test } from 'tap';
import type { DiallerCall } from '../../src/cli/dialler-client.ts';
import { levelDbfs, VOICE_DBFS } from '../../src/cli/voice-tracker.ts';
import type { CallResults } from '../../src/contracts/call-results.ts';
import { FRAME_MS, FRAME_SAMPLES } from '../../src/contracts/limits.ts';
import { Appliance } from './appliance.ts';
import { BareLoop } from './bare-loop.ts';
import { ForeignPlane } from './foreign-plane.ts';
import { humanSpeech } from './human-speech.ts';
import { placeWhenFree } from './place-call.ts';

/** A character of the emulated voices: short, so that whole sentences take a second. */
export const MS_PER_CHAR = 20;
/** No failure of one provider may leave the caller in silence for longer (RT-59). */
export const MAX_SILENCE_MS = 4_000;
/** Frames, timers and processes, the vendors' too, that a turn waits for one after another. */
const WAITS_PER_TURN = 20;

/** What a caller says: "go forward ten meters", two seconds of a human voice. */
export const sentence = humanSpeech('goforward.raw');

/** What one call left behind, as the caller met it and as the results tell it. */
export interface CallStory {
  result: CallResults;
  /** Longest time, from `ready` on, in which neither side was audible until the bot was; what the caller waited. */
  longestSilenceMs: number;
  /** What of that the machine may have added, by a bare loop of the same moment. */
  machineMs: number;
  /** Events of a name, in order. */
  events(name: string): CallResults['events'];
  /** What the bot said, as far as it was heard. */
  botLines: string[];
  customerLines: string[];
}

export interface ProviderHarness {
  appliance: Appliance;
  plane: ForeignPlane;
  /** Places a call to a bot with these fields and plays `live`; the caller hangs up where the call still stands. */
  call(bot: Record<string, unknown>, live: (call: DiallerCall) => Promise<void>): Promise<CallStory>;
}

/** A worker with real slots whose configs and results are a foreign plane's; so many calls may stand at once. */
export async function startProviderHarness(t: Test, slots: number): Promise<ProviderHarness> {
  const plane = await ForeignPlane.start();
  const appliance = await Appliance.start({ ...plane.env, SLOTS: String(slots) });
  t.teardown(async () => {
    await appliance.destroy();
    await plane.close();
  });
  const bots = new Map<string, unknown>();
  const idle = new BareLoop(t);
  plane.config = ({ botId }) => ({ status: 200, body: bots.get(botId) });
  return {
    appliance,
    plane,
    async call(bot, live) {
      const body = plane.scriptedBot({ re_engagement: { after_seconds: 60, prompts: [] }, ...bot });
      const botId = `bot-${bots.size}`;
      bots.set(botId, body);
      const call = await placeWhenFree({ url: `${appliance.callUrl}${botId}` });
      const startedAtMs = performance.now();
      await live(call);
      const longestSilenceMs = longestSilence(call);
      const machineMs = idle.shareMs(WAITS_PER_TURN, startedAtMs);
      await call.hangUp();
      return describe(await plane.resultOf(body.session_id), longestSilenceMs, machineMs);
    },
  };
}

/** Says the sentence and waits until the bot has answered it and is quiet again; false where it never did. */
export async function sayAndListen(call: DiallerCall, quietMs = 700): Promise<boolean> {
  const spoken = await call.say(sentence);
  return (await call.answerAfter(spoken.voiceEndedAtMs, quietMs, 60_000)) !== null;
}

/** The same where more than one line may come: the bot has nothing to say any more once it keeps silent for so long. */
export function sayAndHearOut(call: DiallerCall): Promise<boolean> {
  return sayAndListen(call, MAX_SILENCE_MS + 300);
}

/** Waits until the opening line, or what is said in its place, has been heard. */
export async function hearOpening(call: DiallerCall): Promise<boolean> {
  return (await call.answerAfter(0, 700, 60_000)) !== null;
}

function describe(result: CallResults, longestSilenceMs: number, machineMs: number): CallStory {
  const lines = (speaker: string) =>
    result.transcript.filter((entry) => entry.speaker === speaker).map((entry) => entry.text);
  return {
    result,
    longestSilenceMs,
    machineMs,
    events: (name) => result.events.filter((event) => event.event === name),
    botLines: lines('bot'),
    customerLines: lines('customer'),
  };
}

/** Both sides as the far end spoke and heard them, frame by frame; what was to be heard is for the test to name. */
function longestSilence(call: DiallerCall): number {
  const [spoken, heard] = [call.spoken.samples, call.heard.samples];
  let longest = 0;
  let run = 0;
  for (let at = 0; at + FRAME_SAMPLES <= heard.length; at += FRAME_SAMPLES) {
    const isLoud = (side: Int16Array) => levelDbfs(side.subarray(at, at + FRAME_SAMPLES)) >= VOICE_DBFS;
    if (isLoud(heard)) longest = Math.max(longest, run);
    run = isLoud(heard) || isLoud(spoken) ? 0 : run + FRAME_MS;
  }
  return longest;
}
