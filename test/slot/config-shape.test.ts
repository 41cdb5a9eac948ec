import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import t from 'tap';
import type { TSchema } from 'typebox';
import { Compile } from 'typebox/schema';
import { DEFAULT_MAX_CALL_SECONDS } from '../../src/contracts/limits.ts';
import { projectPath } from '../../src/platform/project-paths.ts';
import { array, integer, literals, type Misfit, number, object, string } from '../../src/platform/shapes.ts';
import { readConfig } from '../../src/slot/call/fetch-config.ts';
import { runtimeConfigShape } from '../../src/slot/call/runtime-config-shape.ts';

interface Writer {
  configShapeSource(): string;
  readSchema(): TSchema;
}
const writer = (await import(pathToFileURL(projectPath('setup/config-shape.mjs')).href)) as Writer;

/** A config in which nearly every field that has a shape is there. */
const FULL = {
  session_id: 's-1',
  bot_id: 'clinic',
  webhook_url: 'http://127.0.0.1:1/results',
  system_prompt: 'Be kind.',
  prompt_parts: { mode: 'direct', cache_enabled: true, static_system_prompt: 'Be', cache_ttl_seconds: 60 },
  opening_message: 'Hello.',
  opening_message_fixed: true,
  filler_lines: ['One moment.'],
  vad: {
    start_probability: 0.6,
    stop_ms: 224,
    turn_model: 'off',
    backchannels: ['हाँ'],
    answer_rules: [{ pattern: 'pin', silence_ms: 500 }],
    question_aware: true,
  },
  min_words_interruption: 2,
  re_engagement: { enabled: true, after_seconds: 8, prompts: ['Hello?'] },
  ambient_sound: { sound: 'cafe' },
  pronunciations: [{ word: 'EMI', spoken: 'E M I' }],
  stt: { provider: 'scripted', model: 'a', fallbacks: [{ provider: 'pocketsphinx' }], script: ['hello'] },
  llm: { provider: 'scripted', rules: [] },
  tts: { provider: 'scripted', ms_per_char: 40 },
  tools: [{ name: 'end_call' }],
  outbound_allowed_networks: ['10.0.0.0/8'],
  call_context: { plan: 'gold' },
  knowledge: { enabled: false },
  voicemail_detection: { enabled: true, phrases: ['after the tone'] },
  max_call_duration_seconds: 120,
  billing_increment_seconds: 60,
  timezone: 'Asia/Kolkata',
};

/** Numbers that are the same in every run. */
function seeded(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const ODD = [
  null,
  true,
  0,
  -1,
  1.5,
  31,
  999_999,
  '',
  'off',
  'x'.repeat(70),
  [],
  [null],
  [7],
  {},
  { provider: 5 },
];

/** One or two values somewhere in the config are others, gone, or new. */
function mutated(pick: (below: number) => number): Record<string, unknown> {
  const config = structuredClone(FULL) as Record<string, unknown>;
  for (let change = pick(2); change >= 0; change--) {
    let holder: Record<string, unknown> = config;
    let key = '';
    for (;;) {
      const keys = Object.keys(holder);
      key = keys[pick(keys.length)] ?? 'added';
      const inner = holder[key];
      if (typeof inner !== 'object' || inner === null || pick(3) === 0) break;
      holder = inner as Record<string, unknown>;
    }
    const odd = structuredClone(ODD[pick(ODD.length)]);
    if (pick(6) === 0 && !Array.isArray(holder)) delete holder[key];
    else if (pick(8) === 0 && !Array.isArray(holder)) holder[`unknown_${key}`] = odd;
    else holder[key] = odd;
  }
  return config;
}

/** Whether the path leads to a value, or to a field that its object lacks. */
function exists(value: unknown, path: string): boolean {
  let here = value;
  const steps = path.split(/\.|(?=\[)/).filter((step) => step !== '');
  for (const [index, step] of steps.entries()) {
    if (typeof here !== 'object' || here === null) return false;
    const key = step.replace(/^\[(\d+)\]$/, '$1');
    if (!(key in here)) return index === steps.length - 1;
    here = (here as Record<string, unknown>)[key];
  }
  return true;
}

t.test('the checks are those of the schema', async (t) => {
  t.equal(
    readFileSync(projectPath('src/slot/call/runtime-config-shape.ts'), 'utf8'),
    writer.configShapeSource(),
    'the file is current; if not, run "./trunkline node setup/config-shape.mjs"',
  );
});

t.test('the schema library and the slot agree on thousands of configs', async (t) => {
  const schema = Compile(writer.readSchema());
  const pick = seeded(20_26);
  let refused = 0;
  t.equal(runtimeConfigShape(FULL), null);
  for (let round = 0; round < 6_000; round++) {
    const config = mutated(pick);
    const misfit: Misfit | null = runtimeConfigShape(config);
    if (schema.Check(config) !== (misfit === null)) {
      t.fail(`the library ${misfit ? 'takes' : 'refuses'} what the slot does not`, { config, misfit });
      return;
    }
    if (!misfit) continue;
    refused += 1;
    if (!exists(config, misfit.path)) t.fail('the path leads nowhere', { config, misfit });
  }
  t.ok(refused > 1_000 && refused < 5_000, `${refused} of 6000 were refused`);
});

t.test('a misfit is named by its path, and the call is refused as for any unusable config', async (t) => {
  const reason = (change: object) => {
    const answer = readConfig(JSON.stringify({ ...FULL, ...change }), 'clinic');
    if ('config' in answer) return 'accepted';
    t.match(answer.refusal, { code: 4500, error: 'bad_config' });
    return answer.refusal.reason;
  };
  t.equal(reason({ vad: { stop_ms: '224' } }), 'vad.stop_ms must be a number from 32 to 5000');
  t.equal(reason({ tools: [{ name: 'end_call' }, 'x'] }), 'tools[1] must be an object');
  t.equal(reason({ vad: { turn_model: 'best' } }), 'vad.turn_model must be "smart_turn" or "off"');
  t.equal(
    reason({ vad: { answer_rules: [{ pattern: 'x' }] } }),
    'vad.answer_rules[0].silence_ms must be a number from 100 to 10000',
  );
  t.equal(reason({ stt: { provider: 'a', fallbacks: [{}] } }), 'stt.fallbacks[0].provider must be text');
  t.equal(reason({ min_words_interruption: 1.5 }), 'min_words_interruption must be a whole number from 0 on');
  t.equal(reason({ opening_message_fixed: 'no' }), 'opening_message_fixed must be true or false');
  t.equal(reason({ re_engagement: { prompts: 'Hello?' } }), 're_engagement.prompts must be a list');
  t.match(readConfig('[]', 'x'), { refusal: { reason: 'the config must be an object' } });
});

t.test('what is unknown passes, and null stands for absent', async (t) => {
  const read = (change: object) => {
    const answer = readConfig(JSON.stringify({ ...FULL, ...change }), 'clinic');
    if ('refusal' in answer) throw new Error(answer.refusal.reason);
    return answer.config;
  };
  const nulls = Object.fromEntries(
    Object.keys(FULL)
      .filter((name) => !['session_id', 'webhook_url', 'stt', 'llm', 'tts'].includes(name))
      .map((name) => [name, null]),
  );
  t.match(read({ ...nulls, later_version: [1], vad: { stop_ms: null, new_key: 1 } }), {
    bot_id: 'clinic',
    opening_message: '',
    vad: { new_key: 1 },
    re_engagement: {},
    tools: [],
    min_words_interruption: 0,
    timezone: 'UTC',
    max_call_duration_seconds: DEFAULT_MAX_CALL_SECONDS,
    later_version: [1],
  });
  t.same(read({ vad: { stop_ms: null } }).vad, {});
  t.equal(read({ max_call_duration_seconds: 90_000 }).max_call_duration_seconds, DEFAULT_MAX_CALL_SECONDS);
  t.match(read({ stt: { provider: 'a', language: null } }).stt, { provider: 'a' });
});

t.test('shapes say what they want', async (t) => {
  t.equal(string(1, 3)('अंत'), null);
  t.equal(string(0, 3)('e\u0301e\u0301e\u0301'), null, 'a character and its accent are one');
  t.same(string(0, 2)('abc'), { path: '', mustBe: 'text of at most 2 characters' });
  t.same(string(1)(''), { path: '', mustBe: 'text that is not empty' });
  t.same(array(integer(0, 5), 2)([1, 6]), { path: '[1]', mustBe: 'a whole number from 0 to 5' });
  t.same(array(number(), 2)([1, 2, 3]), { path: '', mustBe: 'a list of at most 2' });
  t.same(object({ a: array(object({ b: literals('c') }, {})) }, {})({ a: [{}] }), {
    path: 'a[0].b',
    mustBe: '"c"',
  });
});

t.test('a config is checked in less than a millisecond', async (t) => {
  const tools = Array.from({ length: 50 }, (_, at) => ({ name: `tool_${at}`, parameters: { a: 1 } }));
  const config = { ...FULL, tools, system_prompt: 'x'.repeat(200_000) };
  let bestMs = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 50; round++) {
    const startedAtMs = performance.now();
    runtimeConfigShape(config);
    bestMs = Math.min(bestMs, performance.now() - startedAtMs);
  }
  t.ok(bestMs < 1, `${bestMs.toFixed(3)} ms`);
});
