import t from 'tap';
import { Check } from 'typebox/value';
import { assembleResults } from '../../src/contracts/assemble-results.ts';
import { ANSWERED_AT_ONCE, callDurations } from '../../src/contracts/call-durations.ts';
import { CallResults } from '../../src/contracts/call-results.ts';
import type { RuntimeConfig } from '../../src/contracts/runtime-config.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { plainContext } from '../../src/providers/contract/provider-context.ts';
import { CallLog } from '../../src/slot/record/call-log.ts';
import { readObject } from '../../src/slot/wrap-up/ask-for-json.ts';
import { localMoment, readCallbackRequest } from '../../src/slot/wrap-up/callback-request.ts';
import { postCallWork } from '../../src/slot/wrap-up/post-call-work.ts';

const TRANSCRIPT = [
  { speaker: 'bot', text: 'Good morning.', timestamp: 0.2 },
  { speaker: 'customer', text: 'I have paid already, call me tomorrow.', timestamp: 2.4 },
];

const rule = (intent: string, pattern: string, reply: string | string[]) => ({ intent, pattern, reply });
const ANALYSIS = rule('analysis', 'Analyse', '{"disposition": "Paid", "summary": "Has paid."}');
const QC = rule('qc', 'Judge', '{"score": 4.5, "flags": ["polite"], "greeting": true}');
const CALLBACK = rule('callback', 'called back', '{"requested": true, "at": null, "reason": "asked for it"}');

/** Runs what the config asks for on a scripted model; `log` keeps what is told. */
async function work(change: Partial<RuntimeConfig>, options: { limitMs?: number; transcript?: [] } = {}) {
  const log = new CallLog({ journal: () => undefined, now: () => performance.now() });
  const outcome = await postCallWork({
    config: {
      bot_id: 'clinic',
      timezone: 'Asia/Kolkata',
      llm: { provider: 'scripted', rules: [ANALYSIS, QC, CALLBACK] },
      ...change,
    } as RuntimeConfig,
    transcript: options.transcript ?? TRANSCRIPT,
    ending: { disconnectedBy: 'customer', durationSeconds: 12 },
    log,
    logger: createLogger({ level: 'silent', role: 'test' }),
    context: plainContext,
    ...(options.limitMs === undefined ? {} : { limitMs: options.limitMs }),
  });
  return { ...outcome, usage: log.usage, events: log.events };
}

const EVERYTHING: Partial<RuntimeConfig> = {
  post_call_analysis_prompt: 'Analyse the call.',
  qc_prompt: 'Judge the bot.',
  callback_detection_enabled: true,
};

t.test(
  'R94 R108 analysis, quality check and callback each have their result and their usage entry',
  async (t) => {
    const done = await work(EVERYTHING);
    t.strictSame(done.analysis, { disposition: 'Paid', summary: 'Has paid.' });
    t.strictSame(done.qc, {
      score: 4.5,
      flags: ['polite'],
      result: { score: 4.5, flags: ['polite'], greeting: true },
    });
    t.match(done.callback, {
      requested: true,
      at: /^\d{4}-.*Z$/,
      timezone: 'Asia/Kolkata',
      job_id: null,
      reason: 'asked for it',
    });
    const inMinutes = (Date.parse(done.callback?.at ?? '') - Date.now()) / 60_000;
    t.ok(inMinutes > 55 && inMinutes <= 60, 'without a time the default delay counts');
    t.strictSame(done.usage.map(({ type, processor }) => [type, processor]).sort(), [
      ['post_call', 'callback_extraction'],
      ['post_call', 'post_call_analysis'],
      ['qc', 'qc_analysis'],
    ]);
    for (const entry of done.usage) {
      t.equal(entry.total_tokens, (entry.prompt_tokens ?? 0) + (entry.completion_tokens ?? 0));
      t.match(entry, { characters: null, ttfb_ms: null, cache: null });
    }
    t.strictSame(done.events, []);
  },
);

t.test('R94 the results payload carries them, and has its shape without them', async (t) => {
  const call = {
    v: 1,
    kind: 'call' as const,
    sessionId: 's',
    botId: 'clinic',
    streamId: '',
    callerId: '',
    fromNumber: null,
    direction: 'inbound' as const,
    transport: 'websocket' as const,
    webhookUrl: 'http://127.0.0.1/',
    recordingUrl: null,
    recordingKey: null,
    maxCallSeconds: 60,
    startedAt: '2026-03-02T06:30:00.000Z',
  };
  const { analysis, qc, callback } = await work(EVERYTHING);
  const outcome = {
    call,
    disconnectedBy: 'customer' as const,
    lengths: callDurations(12, ANSWERED_AT_ONCE, 1),
    transcript: TRANSCRIPT,
    events: [],
    usage: [],
    recorded: false,
    endDetail: {},
  };
  const full = assembleResults({ ...outcome, postCall: { analysis, qc, callback } });
  t.ok(Check(CallResults, full));
  t.match(full, {
    post_call_analysis: { disposition: 'Paid' },
    qc: { score: 4.5 },
    callback: { requested: true },
  });
  const bare = assembleResults(outcome);
  t.ok(Check(CallResults, bare));
  t.strictSame(bare.post_call_analysis, {});
  t.notOk('qc' in bare || 'callback' in bare);
});

t.test(
  'R64 what the bot does not ask for costs nothing, and neither does a call without words',
  async (t) => {
    const nothing = { analysis: null, qc: null, callback: null, usage: [], events: [] };
    t.strictSame(await work({ post_call_analysis_prompt: null, qc_prompt: '  ' }), nothing);
    t.strictSame(await work(EVERYTHING, { transcript: [] }), nothing);
    const one = await work({ qc_prompt: 'Judge the bot.' });
    t.ok(one.qc);
    t.equal(one.usage.length, 1);
  },
);

t.test('an answer that is no JSON object is given back once, with the reason', async (t) => {
  const twice = (replies: string[]) =>
    work({
      post_call_analysis_prompt: 'Analyse the call.',
      llm: { provider: 'scripted', rules: [rule('analysis', 'Analyse', replies)] },
    });
  const repaired = await twice(['The caller has paid.', '```json\n{"summary": "Has paid."}\n```']);
  t.strictSame(repaired.analysis, { summary: 'Has paid.' });
  t.equal(repaired.usage.length, 2, 'both answers cost');
  t.strictSame(repaired.events, []);
  const hopeless = await twice(['{"summary": ', 'No.', '{"summary": "too late"}']);
  t.equal(hopeless.analysis, null);
  t.match(hopeless.events, [
    { event: 'post_call_failed', stage: 'post_call_analysis', error: /cannot be used: there is no JSON/ },
  ]);
  t.equal(hopeless.usage.length, 2, 'and there is no third');
});

t.test('a part that fails or hangs takes the others with it neither in result nor in time', async (t) => {
  const startedAtMs = performance.now();
  const done = await work(
    {
      ...EVERYTHING,
      // The first answer of every client stalls, so all three hang; the limit frees them.
      llm: { provider: 'scripted', rules: [ANALYSIS, QC, CALLBACK], fail: { on_turn: 1, kind: 'stall' } },
    },
    { limitMs: 1_500 },
  );
  t.ok(performance.now() - startedAtMs < 8_000, 'all together within the limit, not one after another');
  t.match(done, { analysis: null, qc: null, callback: null });
  t.strictSame(
    done.events.map(({ event, stage, error }) => [event, stage, error]).sort(),
    ['callback_extraction', 'post_call_analysis', 'qc_analysis'].map((stage) => [
      'post_call_failed',
      stage,
      'no answer within 1.5 s',
    ]),
  );
  const partly = await work({
    ...EVERYTHING,
    llm: { provider: 'scripted', rules: [ANALYSIS, QC], fallback: { reply: 'No idea.' } },
  });
  t.ok(partly.analysis && partly.qc);
  t.equal(partly.callback, null);
  t.match(partly.events, [{ stage: 'callback_extraction' }]);
});

t.test(
  'a model of its own reads the call, its fallback where it fails, a passing failure is tried again',
  async (t) => {
    const prompt = { post_call_analysis_prompt: 'Analyse the call.' };
    const good = { provider: 'scripted', model: 'good', rules: [ANALYSIS] };
    const bad = {
      provider: 'scripted',
      model: 'bad',
      rules: [ANALYSIS],
      fail: { on_turn: 1, kind: 'error' },
    };
    const own = await work({ ...prompt, llm: bad, post_call_llm: good });
    t.equal(own.usage[0]?.model, 'good');
    const again = await work({ ...prompt, llm: bad });
    t.match(again, { analysis: { disposition: 'Paid' }, usage: [{ model: 'bad' }], events: [] });
    const broken = { provider: 'scripted', model: 'broken', rules: [rule('analysis', 'Analyse', 'No.')] };
    const second = await work({ ...prompt, llm: { ...broken, fallbacks: [good] } });
    t.strictSame(second.analysis, { disposition: 'Paid', summary: 'Has paid.' });
    t.strictSame(
      second.usage.map(({ model }) => model),
      ['broken', 'broken', 'good'],
    );
    const unknown = await work({ ...prompt, llm: { provider: 'nobody' } });
    t.match(unknown.events, [{ event: 'post_call_failed', error: /unknown/ }]);
  },
);

t.test(
  'callback times are read in the zone of the call, and nonsense becomes the default delay',
  async (t) => {
    const call = {
      nowMs: Date.parse('2026-03-02T06:30:00Z'),
      timezone: 'Asia/Kolkata',
      defaultDelayMinutes: 120,
    };
    const at = (text: string | null, timezone = call.timezone) => {
      const wish = readCallbackRequest({ requested: true, at: text }, { ...call, timezone });
      return typeof wish === 'string' ? wish : wish.at;
    };
    t.equal(at('2026-03-02T18:00'), '2026-03-02T12:30:00.000Z');
    t.equal(at('2026-03-03 09:15:00'), '2026-03-03T03:45:00.000Z');
    t.equal(at('2026-03-02T18:00Z'), '2026-03-02T18:00:00.000Z');
    t.equal(at('2026-03-02T18:00+01:00'), '2026-03-02T17:00:00.000Z');
    t.equal(at('2026-03-29T12:00', 'Europe/Berlin'), '2026-03-29T10:00:00.000Z', 'after the clocks changed');
    t.equal(at('2026-03-29T01:30', 'Europe/Berlin'), '2026-03-29T00:30:00.000Z', 'and before');
    const inTwoHours = '2026-03-02T08:30:00.000Z';
    t.equal(at(null), inTwoHours);
    t.equal(at('2026-03-02T11:00'), inTwoHours, 'half an hour ago');
    t.equal(at('2036-03-02T11:00'), inTwoHours, 'in ten years');
    t.match(at('soon'), /must be a text like/);
    t.match(readCallbackRequest({ requested: 'yes' }, call), /true or false/);
    t.match(readCallbackRequest({ requested: false, at: '2026-03-02T18:00' }, call), {
      requested: false,
      at: null,
    });
    t.equal(localMoment(call.nowMs, 'Asia/Kolkata'), 'Monday 2026-03-02 12:00 (Asia/Kolkata)');
    t.match(localMoment(call.nowMs, 'Nowhere/At_All'), /06:30 \(UTC\)/);
  },
);

t.test('JSON is found in whatever a model wraps it in', async (t) => {
  const read = (text: string) => readObject(text, (value) => value);
  t.strictSame(read('Here you are: {"a": {"b": [1]}} Anything else?'), { value: { a: { b: [1] } } });
  t.strictSame(read('```json\n{"a": 1}\n```'), { value: { a: 1 } });
  for (const text of ['', 'none', '}{', '[1]', '"{"', '{a: 1}']) t.match(read(text), { mistake: String });
  t.strictSame(
    readObject('{"a": 1}', () => '"b" is missing'),
    { mistake: '"b" is missing' },
  );
});
