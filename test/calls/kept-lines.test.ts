import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { levelDbfs } from '../../src/cli/voice-tracker.ts';
import { FRAME_SAMPLES } from '../../src/contracts/limits.ts';
import { fillerLines } from '../../src/providers/spoken-lines/filler-lines.ts';
import { rescueLines } from '../../src/providers/spoken-lines/rescue-lines.ts';
import { startDeepgram } from '../emulators/deepgram.ts';
import { startElevenLabs } from '../emulators/elevenlabs.ts';
import { startOpenAi } from '../emulators/openai.ts';
import { toneOf } from '../emulators/speech-tone.ts';
import {
  hearOpening,
  MAX_SILENCE_MS,
  MS_PER_CHAR,
  sayAndListen,
  startProviderHarness,
} from '../harness/provider-calls.ts';
import { until } from '../harness/wait.ts';

/** Lines that a call finds on disk, because an earlier one left them there. */
t.setTimeout(280_000);
const harness = await startProviderHarness(t, 2);
const texts = Array.from({ length: 20 }, (_, i) => `part ${i}`);
const [deepgram, openai, elevenlabs] = await Promise.all([
  startDeepgram({ hearing: { texts } }),
  startOpenAi(),
  startElevenLabs({ voice: { msPerChar: MS_PER_CHAR } }),
]);
t.teardown(() => Promise.all([deepgram, openai, elevenlabs].map((emulator) => emulator.close())));

const OPENING = 'Good morning, this is the clinic.';
const tts = {
  provider: 'elevenlabs',
  voice: 'rachel',
  api_key: elevenlabs.apiKey,
  base_url: elevenlabs.wsUrl,
};
const bot = {
  opening_message: OPENING,
  stt: { provider: 'deepgram', model: 'nova-3', api_key: deepgram.key, base_url: deepgram.wsUrl },
  llm: { provider: 'openai', model: 'gpt-6-luna', api_key: openai.apiKey, base_url: openai.url },
  tts,
};
const lines = rescueLines(bot);
const kept = () => {
  try {
    return readdirSync(join(harness.appliance.dataDir, 'speech-cache')).filter((name) =>
      name.endsWith('.speech'),
    );
  } catch {
    return [];
  }
};
/** How often the voice was sent a text. */
const asked = (text: string) =>
  elevenlabs.log.messages('in').filter((message) => JSON.stringify(message).includes(text)).length;

/** The loudest frame of what was heard; the emulated voice tells texts apart by their loudness. */
const loudest = (samples: Int16Array) => {
  let most = -100;
  for (let at = 0; at + FRAME_SAMPLES <= samples.length; at += FRAME_SAMPLES) {
    most = Math.max(most, levelDbfs(samples.subarray(at, at + FRAME_SAMPLES)));
  }
  return most;
};
const isVoiceOf = (heard: Int16Array, text: string) =>
  Math.abs(loudest(heard) - loudest(toneOf(text, 8_000, MS_PER_CHAR))) < 1;

t.test('RT-46 RT-59 RT-45 the first call leaves the opening, rescue lines and fillers on disk', async (t) => {
  const story = await harness.call({ ...bot, opening_message_fixed: true }, async (call) => {
    t.ok(await hearOpening(call));
    t.ok(isVoiceOf(call.heard.samples, OPENING), 'the voice speaks it');
  });
  t.equal(asked(OPENING), 1);
  t.equal(story.result.usage_metrics.find((metric) => metric.type === 'tts')?.characters, OPENING.length);
  t.equal(kept().length, 9, 'the opening, five rescue lines and three fillers, ahead of the result');
  const told = story.result.usage_metrics.flatMap(({ type, characters }) =>
    type === 'tts' ? [characters] : [],
  );
  const rendered = [...Object.values(lines), ...fillerLines(bot)].map((text) => text.length);
  t.same(told.slice(-8).sort(), rendered.sort(), 'R111 each line that was rendered was paid for');
});

t.test('RT-46 RT-60 the next call opens from disk while its connections are being made', async (t) => {
  // The voice would answer the first text seconds later, which the caller of a kept opening does not notice.
  const opened = elevenlabs.control.sockets.length;
  const connecting = elevenlabs.control.opened(opened + 1).then((socket) => {
    socket.delayAllMs = 1_000;
  });
  const waits: number[] = [];
  const story = await harness.call(bot, async (call) => {
    await connecting;
    t.ok(await hearOpening(call));
    t.ok(isVoiceOf(call.heard.samples, OPENING), 'in the same voice');
    const ready = call.events.find((event) => event.type === 'ready')?.atMs ?? 0;
    waits.push((call.arrivals[0]?.atMs ?? Number.POSITIVE_INFINITY) - ready);
    t.ok(await sayAndListen(call));
  });
  t.comment(`first audio ${Math.round(waits[0] ?? 0)} ms after ready`);
  t.equal(asked(OPENING), 1, 'the voice was not asked for it again');
  t.equal(story.botLines[0], OPENING);
  const characters = story.result.usage_metrics
    .filter((metric) => metric.type === 'tts')
    .map((m) => m.characters);
  t.notOk(characters.includes(OPENING.length), 'R111 and what was not sent is not counted');
});

t.test('RT-59 a voice that is gone: the bot’s own voice says so from disk, then the call ends', async (t) => {
  elevenlabs.control.next({ status: 503 }, 50);
  const heard: Int16Array[] = [];
  const story = await harness.call(bot, async (call) => {
    t.ok(await hearOpening(call), 'the opening is kept too');
    const from = call.heard.samples.length;
    await call.say(new Int16Array(1_600));
    await sayAndListen(call);
    await call.event('hangup', 60_000);
    heard.push(call.heard.samples.slice(from));
  });
  t.equal(story.result.disconnected_by, 'error');
  t.ok(story.botLines.includes(lines.rescue) && story.botLines.includes(lines.farewell));
  const expected = Math.max(
    ...[lines.rescue, lines.farewell].map((text) => loudest(toneOf(text, 8_000, MS_PER_CHAR))),
  );
  t.ok(Math.abs(loudest(heard[0] ?? new Int16Array(0)) - expected) < 1, 'not the engine of this host');
  t.ok(story.longestSilenceMs < MAX_SILENCE_MS + story.machineMs, `${story.longestSilenceMs} ms`);
});

t.test('an opening that belongs to one call is not kept', async (t) => {
  const other = await startElevenLabs({ voice: { msPerChar: MS_PER_CHAR } });
  t.teardown(() => other.close());
  const before = kept().length;
  const own = { ...bot, tts: { ...tts, base_url: other.wsUrl, voice: 'adam' } };
  await harness.call(
    { ...own, opening_message: 'Hello Asha.', opening_message_fixed: false },
    async (call) => {
      await hearOpening(call);
    },
  );
  await until(() => kept().length === before + 8, 'all but the opening');
});
