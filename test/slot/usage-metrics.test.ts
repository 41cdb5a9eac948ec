import t from 'tap';
import { Check } from 'typebox/value';
import { UsageMetric } from '../../src/contracts/call-results.ts';
import type { LlmCacheUse } from '../../src/providers/contract/language-model.ts';
import { CallReporter, type UserTurn } from '../../src/slot/call/call-reporter.ts';
import { CallLog } from '../../src/slot/record/call-log.ts';
import { SpeechLedger } from '../../src/slot/speak/speech-ledger.ts';
import { newAnswerRecord } from '../../src/slot/think/think-aloud.ts';

/** A reporter and the usage that it writes; `engines` may change their names, as a fail-over does. */
function reporting(cacheVersion: string | null = null) {
  const log = new CallLog({ journal: () => undefined, now: () => performance.now() });
  const engines = {
    stt: { name: 'deepgram', model: 'nova-3' },
    llm: { name: 'gemini', model: 'gemini-3.5-flash-lite' },
    tts: { name: 'cartesia', model: 'sonic-3.5' },
  };
  const reporter = new CallReporter({ log, ledger: new SpeechLedger(), ...engines, cacheVersion });
  const usage = (type?: string) => log.usage.filter((entry) => type === undefined || entry.type === type);
  return { reporter, engines, usage };
}

const TURN = {
  text: 'hello',
  confidence: null,
  fromSample: 0,
  toSample: 8_000,
  decidedBy: 'model',
  probability: 0.9,
  ruleReason: null,
  endpointMs: 300,
  transcribeMs: 120,
} as UserTurn;

const answer = (change: object = {}) => ({
  ...newAnswerRecord(),
  usage: { promptTokens: 100, completionTokens: 20, cacheReadTokens: 64, cacheCreationTokens: null },
  firstTokenMs: 412.4,
  ...change,
});

t.test(
  'R108 R109 R111 each step has its entry, with every field of the table and null where none applies',
  async (t) => {
    const { reporter, usage } = reporting();
    reporter.turn(TURN, 8_000);
    reporter.answered(answer());
    reporter.synthesized({ characters: 42, firstAudioMs: 180.2 });
    const none = {
      prompt_tokens: null,
      completion_tokens: null,
      total_tokens: null,
      cache_read_input_tokens: null,
      cache_creation_input_tokens: null,
      cache: null,
      characters: null,
      ttfb_ms: null,
    };
    const stt = { processor: 'deepgram', model: 'nova-3' };
    const llm = { processor: 'gemini', model: 'gemini-3.5-flash-lite' };
    const tts = { processor: 'cartesia', model: 'sonic-3.5' };
    t.strictSame(usage(), [
      { ...none, type: 'ttfb', ...stt, ttfb_ms: 420 },
      {
        ...none,
        type: 'llm',
        ...llm,
        prompt_tokens: 100,
        completion_tokens: 20,
        total_tokens: 120,
        cache_read_input_tokens: 64,
      },
      { ...none, type: 'ttfb', ...llm, ttfb_ms: 412 },
      { ...none, type: 'tts', ...tts, characters: 42 },
      { ...none, type: 'ttfb', ...tts, ttfb_ms: 180 },
    ]);
    for (const entry of usage()) t.ok(Check(UsageMetric, entry));
  },
);

t.test('R109 the entry names who really served, not who was asked first', async (t) => {
  const { reporter, engines, usage } = reporting();
  reporter.answered(answer({ servedBy: { provider: 'openai', model: 'gpt-6-luna' } }));
  t.match(usage('llm'), [{ processor: 'openai', model: 'gpt-6-luna' }]);
  t.match(usage('ttfb'), [{ processor: 'openai', model: 'gpt-6-luna' }]);
  reporter.synthesized({ characters: 5, firstAudioMs: null, servedBy: 'elevenlabs' });
  reporter.synthesized({ characters: 6, firstAudioMs: null, servedBy: 'cartesia' });
  t.match(usage('tts'), [
    { processor: 'elevenlabs', model: null },
    { processor: 'cartesia', model: 'sonic-3.5' },
  ]);
  Object.assign(engines.stt, { name: 'soniox', model: 'stt-rt-v5' });
  reporter.turn(TURN, 8_000);
  t.match(usage('ttfb').at(-1), { processor: 'soniox', model: 'stt-rt-v5' });
});

t.test('R111 what was cut before it sounded has characters and no first byte', async (t) => {
  const { reporter, usage } = reporting();
  reporter.synthesized({ characters: 30, firstAudioMs: null });
  t.match(usage(), [{ type: 'tts', characters: 30 }]);
  reporter.answered(answer({ usage: newAnswerRecord().usage, firstTokenMs: null }));
  t.equal(usage().length, 1, 'an answer that never began cost nothing that is known');
  reporter.answered(answer({ usage: newAnswerRecord().usage, firstTokenMs: 90 }));
  t.match(usage('llm'), [{ prompt_tokens: null, completion_tokens: null, total_tokens: null }]);
});

t.test(
  'R112 the first live entry tells the state of the cache, a later one only what became of it',
  async (t) => {
    const { reporter, usage } = reporting('v1');
    const told = (status: 'hit' | 'miss', reason: string | null): LlmCacheUse => ({
      enabled: true,
      status,
      version: 'v1',
      reason,
    });
    reporter.answered(answer({ cache: told('miss', 'created') }));
    reporter.answered(answer({ cache: told('hit', null) }));
    reporter.answered(answer({ cache: told('miss', 'expired') }));
    reporter.answered(answer({ cache: told('hit', null) }));
    const live = { enabled: true, namespace: 'live_prompt', version: 'v1' };
    t.strictSame(
      usage('llm').map(({ cache }) => cache),
      [
        { ...live, status: 'miss', reason: 'created' },
        null,
        { ...live, status: 'miss', reason: 'expired' },
        null,
      ],
    );
  },
);

t.test('R112 an answer that was cut before its cache was spoken of leaves the entry to the next', (t) => {
  const { reporter, usage } = reporting('v1');
  const cut = answer({ usage: newAnswerRecord().usage, isCut: true });
  reporter.answered(cut);
  reporter.answered(cut, true);
  const told: LlmCacheUse = { enabled: true, status: 'hit', version: 'v1', reason: null };
  reporter.answered(answer({ cache: told, isCut: true }));
  reporter.answered(answer({ cache: told }));
  t.strictSame(
    usage('llm').map(({ cache }) => cache),
    [null, null, { ...told, namespace: 'live_prompt' }, null],
  );
  t.end();
});

t.test(
  'R112 R113 nothing is estimated: a provider without a cache says so, a bot without one says nothing',
  async (t) => {
    const caching = reporting('v1');
    caching.reporter.answered(answer());
    t.strictSame(caching.usage('llm')[0]?.cache, {
      enabled: false,
      status: 'miss',
      namespace: 'live_prompt',
      version: 'v1',
      reason: 'not_supported',
    });
    const plain = reporting(null);
    plain.reporter.answered(answer({ cache: { enabled: true, status: 'hit', version: 'x', reason: null } }));
    t.equal(plain.usage('llm')[0]?.cache, null);
  },
);
