import t from 'tap';
import { DEMO_CLIPS } from '../../src/cli/demo-script.ts';
import { demoBot } from '../../src/control/bots/demo-bot.ts';
import type { LlmDelta } from '../../src/providers/contract/language-model.ts';
import { openLlm, openStt, openTts } from '../../src/providers/open-providers.ts';
import { DecoderSession } from '../../src/providers/vendors/pocketsphinx/decoder-session.ts';
import { until } from '../harness/wait.ts';
import { feedFrames, lineAudio, lineNoise } from './recordings.ts';

const never = new AbortController().signal;
const bot = demoBot('2026-01-01T00:00:00.000Z');

async function answerTo(text: string): Promise<LlmDelta[]> {
  const llm = await openLlm(bot.llm);
  const deltas: LlmDelta[] = [];
  const messages = [{ role: 'user', text }] as const;
  for await (const delta of llm.answer({ system: bot.system_prompt, messages, tools: bot.tools }, never)) {
    deltas.push(delta);
  }
  return deltas;
}

t.test('the demo bot understands all 14 recordings of people through a telephone line', async (t) => {
  t.equal(DEMO_CLIPS.length, 14);
  const session = await (await openStt(bot.stt)).open({
    onInterim: () => undefined,
    onFailure: (error) => t.fail(error.message),
  });
  t.teardown(() => session.close());
  const flushMs: number[] = [];
  for (const clip of DEMO_CLIPS) {
    feedFrames(session, lineNoise(240, 3));
    feedFrames(session, lineAudio(clip));
    feedFrames(session, lineNoise(200, 3));
    // A real caller speaks in real time, so the decoder has kept up when the turn ends.
    await until(() => session instanceof DecoderSession && session.lagSamples === 0);
    const startMs = performance.now();
    const { text } = await session.flush(never);
    flushMs.push(performance.now() - startMs);
    const [note] = await answerTo(text);
    t.equal(text, clip.expectedPhrase);
    t.same(note, { type: 'note', note: `rule:${clip.intent}` });
    t.comment(`${clip.intent}: ${text} (${Math.round(flushMs.at(-1) ?? 0)} ms)`);
  }
  flushMs.sort((a, b) => a - b);
  t.comment(
    `n ${flushMs.length}, flush p50 ${flushMs[7]?.toFixed(1)} ms, most ${flushMs.at(-1)?.toFixed(1)} ms`,
  );
});

t.test('the demo bot can be interrupted in a long answer, and hangs up at the last recording', async (t) => {
  const interrupting = DEMO_CLIPS.findIndex((clip) => clip.interrupts);
  const longAnswer = await answerTo(DEMO_CLIPS[interrupting - 1]?.expectedPhrase ?? '');
  const words = longAnswer.filter((delta) => delta.type === 'text').length;
  t.ok(words > 50, `${words} words, some 20 s of speech`);
  const last = await answerTo(DEMO_CLIPS.at(-1)?.expectedPhrase ?? '');
  t.match(
    last.find((delta) => delta.type === 'tool_call'),
    { call: { name: 'end_call' } },
  );
  for (const clip of DEMO_CLIPS.slice(0, -1)) {
    const calls = (await answerTo(clip.expectedPhrase)).filter((delta) => delta.type === 'tool_call');
    t.same(calls, [], clip.expectedPhrase);
  }
});

t.test('speech outside its grammar is unclear to the demo bot, and it asks again', async (t) => {
  const cards = {
    ...bot.stt,
    grammar: undefined,
    phrases: ['ten of clubs', 'seven of hearts', 'go forward'],
  };
  const session = await (await openStt(cards)).open({
    onInterim: () => undefined,
    onFailure: () => undefined,
  });
  t.teardown(() => session.close());
  for (const clip of DEMO_CLIPS.filter((clip) => clip.file.includes('librivox'))) {
    feedFrames(session, lineAudio(clip));
    await until(() => session instanceof DecoderSession && session.lagSamples === 0);
    const { text } = await session.flush(never);
    t.equal(text, '[unclear]', clip.expectedPhrase);
    t.same((await answerTo(text))[0], { type: 'note', note: 'rule:fallback' });
  }
});

t.test('the demo bot has a voice', async (t) => {
  const tts = await openTts(bot.tts);
  t.teardown(() => tts.close());
  let samples = 0;
  for await (const block of tts.speak(bot.opening_message, never)) samples += block.length;
  t.ok(samples > tts.sampleRate * 2, 'a greeting of more than two seconds');
});
