import t from 'tap';
import type { DiallerCall } from '../../src/cli/dialler-client.ts';
import type { CallResults } from '../../src/contracts/call-results.ts';
import { HUNG_AFTER_MS } from '../../src/contracts/limits.ts';
import { startMain } from '../../src/main/main.ts';
import { ForeignPlane } from '../harness/foreign-plane.ts';
import { humanSpeech } from '../harness/human-speech.ts';
import { placeWhenFree } from '../harness/place-call.ts';
import { tempFolder } from '../harness/temp-folder.ts';
import { until } from '../harness/wait.ts';
import { quietLogger, workerSettings } from '../harness/worker.ts';

/** Real slots, whose calls end with work for the language model. */
t.setTimeout(280_000);
const plane = await ForeignPlane.start();
const main = await startMain(workerSettings(tempFolder(), { ...plane.env, SLOTS: '1', TURN_MODEL: 'off' }), {
  logger: quietLogger(),
});
t.teardown(async () => {
  await main.stop();
  await plane.close();
});
await until(() => main.health()?.fleet_available === 1);

const rule = (intent: string, pattern: string, reply: string) => ({ intent, pattern, reply });

/** A call in which the caller says one sentence, and its end. */
async function shortCall(change: Record<string, unknown>): Promise<DiallerCall> {
  await until(() => main.health()?.fleet_available === 1);
  plane.config = () => ({
    status: 200,
    body: plane.scriptedBot({
      opening_message: 'Good morning.',
      stt: { provider: 'scripted', script: ['please call me back'] },
      timezone: 'Asia/Kolkata',
      ...change,
    }),
  });
  const call = await placeWhenFree({ url: `ws://127.0.0.1:${main.fleetPort}/ws/scripted` });
  await call.answerAfter(0);
  const said = await call.say(humanSpeech('cards/001.wav'));
  await call.event('bot_started', 20_000, said.voiceEndedAtMs);
  await call.hangUp();
  return call;
}

async function resultOf(call: DiallerCall): Promise<CallResults> {
  const found = () => plane.results.find((result) => result.session_id === call.sessionId);
  await until(() => found() !== undefined);
  return found() as CallResults;
}

t.test(
  'R64 R94 R108 a call is read after it by the bot’s prompts, and its result tells what they made of it',
  async (t) => {
    const call = await shortCall({
      post_call_analysis_prompt: 'Analyse the call.',
      qc_prompt: 'Judge the bot.',
      callback_detection_enabled: true,
      callback_detection: { default_delay_minutes: 30 },
      post_call_llm: {
        provider: 'scripted',
        model: 'reader',
        rules: [
          rule('analysis', 'Analyse', '{"disposition": "Call back", "summary": "Wants a call."}'),
          rule('qc', 'Judge', '{"score": 3}'),
          rule('callback', 'called back', '{"requested": true}'),
        ],
      },
    });
    const result = await resultOf(call);
    t.match(result, {
      disconnected_by: 'customer',
      post_call_analysis: { disposition: 'Call back', summary: 'Wants a call.' },
      qc: { score: 3, result: { score: 3 } },
      callback: { requested: true, timezone: 'Asia/Kolkata' },
    });
    const after = result.usage_metrics.filter(({ type }) => type === 'post_call' || type === 'qc');
    t.strictSame(after.map(({ type, processor, model }) => [type, processor, model]).sort(), [
      ['post_call', 'callback_extraction', 'reader'],
      ['post_call', 'post_call_analysis', 'reader'],
      ['qc', 'qc_analysis', 'reader'],
    ]);
    t.ok(
      result.usage_metrics.some(({ type, processor }) => type === 'ttfb' && processor === 'scripted'),
      'R111',
    );
  },
);

t.test('R94 a slot that is killed over the work after a call leaves a result without it', async (t) => {
  const call = await shortCall({
    post_call_analysis_prompt: 'Analyse the call.',
    post_call_llm: { provider: 'scripted', fail: { on_turn: 1, kind: 'stall' } },
  });
  // Longer than main leaves a slot without a heartbeat alone: the slot must be alive, not hung.
  await new Promise((resolve) => setTimeout(resolve, HUNG_AFTER_MS + 1_500));
  const [worker] = main.health()?.workers ?? [];
  t.equal(worker?.state, 'busy', 'the slot takes no call while it works');
  t.notOk(plane.results.some((result) => result.session_id === call.sessionId));
  process.kill(worker?.pid ?? 0, 'SIGKILL');
  const result = await resultOf(call);
  t.equal(result.disconnected_by, 'customer', 'how the call ended stays true');
  t.strictSame(result.post_call_analysis, {});
  t.match(
    result.transcript.slice(0, 2).map(({ text }) => text),
    ['Good morning.', 'please call me back'],
  );
  t.ok(
    result.transcript.every(({ text }) => text !== ''),
    'as in any other result',
  );
  t.ok(result.events.some(({ event }) => event === 'slot_died'));
});

t.test('work that fails is an event, and the result goes out at once', async (t) => {
  const call = await shortCall({
    post_call_analysis_prompt: 'Analyse the call.',
    llm: { provider: 'scripted', rules: [], fallback: { reply: 'I heard you.' } },
  });
  const result = await resultOf(call);
  t.strictSame(result.post_call_analysis, {});
  t.match(
    result.events.find(({ event }) => event === 'post_call_failed'),
    { stage: 'post_call_analysis', error: /no JSON object/ },
  );
  t.equal(result.usage_metrics.filter(({ type }) => type === 'post_call').length, 2, 'both answers cost');
});
