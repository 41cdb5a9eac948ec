import t from 'tap';
import { providerError } from '../../../src/providers/contract/provider-error.ts';
import type { TextToSpeech, WordTiming } from '../../../src/providers/contract/text-to-speech.ts';
import { RATE_LIMIT_PATIENCE_MS } from '../../../src/providers/resilient/rate-limit-wait.ts';
import {
  createResilientTts,
  FIRST_BYTE_MS,
  LAST_FIRST_BYTE_MS,
  NEXT_BYTE_MS,
} from '../../../src/providers/resilient/resilient-tts.ts';
import { restOfText } from '../../../src/providers/resilient/rest-of-text.ts';
import { seededRandom } from '../../harness/seeded-random.ts';
import { chainOf, configInputs } from './bench-call.ts';

t.setTimeout(280_000);

const RATE_HZ = 8_000;
const MS_PER_CHARACTER = 70;
const BLOCK_MS = 100;
const NEVER = new AbortController().signal;

type Around = ReturnType<typeof configInputs>;

/** What becomes of one clause: it breaks or stalls after so much audio, begins late, is refused, or has no sound. */
interface Fate {
  breaksAfterMs?: number;
  stallsAfterMs?: number;
  firstMs?: number;
  refused?: Error;
  isMute?: boolean;
}

interface FakeVoice extends TextToSpeech {
  texts: string[];
  ended: number;
  closed: number;
}

/** A voice of 70 ms per character that delivers faster than it speaks. */
function voice(
  name: string,
  { clock }: Around,
  fates: Fate[] = [],
  more: { sampleRate?: number; timed?: boolean; error?: Error } = {},
): FakeVoice {
  const sampleRate = more.sampleRate ?? RATE_HZ;
  const fake: FakeVoice = {
    name,
    model: null,
    sampleRate,
    texts: [],
    ended: 0,
    closed: 0,
    async *speak(text, signal, hooks) {
      const fate = fates.shift() ?? {};
      fake.texts.push(text);
      signal.addEventListener('abort', () => {
        fake.ended += 1;
      });
      await clock.sleep(fate.firstMs ?? 80, signal);
      if (more.error) throw more.error;
      if (fate.refused) throw fate.refused;
      if (fate.isMute) return;
      if (more.timed) hooks?.onWords?.(timings(text));
      for (let givenMs = 0; givenMs < text.length * MS_PER_CHARACTER; givenMs += BLOCK_MS) {
        if (fate.breaksAfterMs !== undefined && givenMs >= fate.breaksAfterMs) throw failure(name);
        if (fate.stallsAfterMs !== undefined && givenMs >= fate.stallsAfterMs) await clock.sleep(1e9, signal);
        const leftMs = Math.min(BLOCK_MS, text.length * MS_PER_CHARACTER - givenMs);
        yield new Int16Array(Math.round((leftMs * sampleRate) / 1000)).fill(1_000);
        await clock.sleep(20, signal);
      }
    },
    async close() {
      fake.closed += 1;
    },
  };
  return fake;
}

function timings(text: string): WordTiming[] {
  return [...text.matchAll(/\S+/g)].map((match) => ({
    text: match[0],
    startMs: match.index * MS_PER_CHARACTER,
    endMs: (match.index + match[0].length) * MS_PER_CHARACTER,
  }));
}

function failure(provider: string): Error {
  return providerError(
    { provider, family: 'tts', class: 'transient', status: 1011 },
    `${provider} broke the connection`,
  );
}

async function speak(tts: TextToSpeech, text: string, { clock }: Around, signal = NEVER) {
  const startedMs = clock.nowMs();
  const servedBy: string[] = [];
  const words: WordTiming[] = [];
  let samples = 0;
  let longestGapMs = 0;
  let lastMs = startedMs;
  let error: unknown = null;
  let over = false;
  void (async () => {
    try {
      const hooks = {
        onServedBy: (provider: string) => void servedBy.push(provider),
        onWords: (more: readonly WordTiming[]) => void words.push(...more),
      };
      for await (const block of tts.speak(text, signal, hooks)) {
        samples += block.length;
        longestGapMs = Math.max(longestGapMs, clock.nowMs() - lastMs);
        lastMs = clock.nowMs();
      }
    } catch (caught) {
      error = caught;
    }
    over = true;
  })();
  for (let round = 0; !over && round < 3_000; round += 1) await clock.advance(10, 10);
  return { samples, audioMs: (samples * 1000) / tts.sampleRate, servedBy, words, longestGapMs, error };
}

function build(around: Around, voices: FakeVoice[]): TextToSpeech {
  return createResilientTts(chainOf<TextToSpeech>('tts', voices, around), voices[0] as FakeVoice);
}

const CLAUSE = 'The parcel comes on Friday between nine and eleven in the morning.';

t.test('a clause that goes well passes through, and nobody else is asked', async (t) => {
  const around = configInputs();
  const first = voice('elevenlabs', around);
  const second = voice('cartesia', around);
  const { audioMs, servedBy, error } = await speak(build(around, [first, second]), CLAUSE, around);
  t.equal(error, null);
  t.equal(audioMs, CLAUSE.length * MS_PER_CHARACTER);
  t.same(servedBy, ['elevenlabs']);
  t.same(second.texts, []);
  t.same(around.troubles, []);
});

t.test('RT-47 a voice that does not begin within 1.5 s is replaced', async (t) => {
  const around = configInputs();
  const first = voice('elevenlabs', around, [{ firstMs: 60_000 }]);
  const second = voice('cartesia', around);
  const said = await speak(build(around, [first, second]), CLAUSE, around);
  t.equal(said.error, null);
  t.same(said.servedBy, ['elevenlabs', 'cartesia']);
  t.same(second.texts, [CLAUSE]);
  t.ok(said.longestGapMs >= FIRST_BYTE_MS && said.longestGapMs < 2_000, `${said.longestGapMs} ms of silence`);
  t.equal(first.ended, 1, 'what it still does is stopped');
  t.match(around.named('provider_switched'), [{ family: 'tts', from: 'elevenlabs', provider: 'cartesia' }]);
});

t.test(
  'RT-47 a voice that stalls in mid-clause is replaced after 1 s, and only the rest is spoken',
  async (t) => {
    for (const timed of [true, false]) {
      const around = configInputs();
      const first = voice('elevenlabs', around, [{}, { stallsAfterMs: 2_000 }], { timed });
      const second = voice('cartesia', around);
      const tts = build(around, [first, second]);
      // The pace of the voice is learnt from a clause before.
      await speak(tts, CLAUSE, around);
      const said = await speak(tts, CLAUSE, around);
      t.equal(said.error, null);
      // 2000 ms at 70 ms a character are 28 characters: all of "Friday", 25 characters, and a part of "between".
      t.same(second.texts, ['between nine and eleven in the morning.'], timed ? 'by timings' : 'by pace');
      t.ok(
        said.longestGapMs >= NEXT_BYTE_MS && said.longestGapMs < 1_400,
        `${said.longestGapMs} ms of silence`,
      );
    }
  },
);

t.test('a voice that breaks at its end leaves nothing to say', async (t) => {
  const around = configInputs();
  const first = voice('elevenlabs', around, [{ breaksAfterMs: 4_600 }], { timed: true });
  const second = voice('cartesia', around);
  const said = await speak(build(around, [first, second]), CLAUSE, around);
  t.equal(said.error, null);
  t.same(second.texts, ['morning.']);
  const late = configInputs();
  const ready = voice('elevenlabs', late, [{ stallsAfterMs: CLAUSE.length * MS_PER_CHARACTER - 20 }]);
  const other = voice('cartesia', late);
  t.equal((await speak(build(late, [ready, other]), CLAUSE, late)).error, null);
  t.same(
    other.texts.filter((text) => text === ''),
    [],
    'an empty rest is not sent to anybody',
  );
});

t.test('the voice that took over speaks the next clauses too, and the bot’s own returns later', async (t) => {
  const around = configInputs();
  const first = voice('elevenlabs', around, [{ breaksAfterMs: 0 }]);
  const second = voice('cartesia', around);
  const tts = build(around, [first, second]);
  await speak(tts, 'One.', around);
  t.same((await speak(tts, 'Two.', around)).servedBy, ['cartesia']);
  await around.clock.advance(31_000, 1_000);
  t.same((await speak(tts, 'Three.', around)).servedBy, ['elevenlabs']);
});

t.test(
  'a fallback of another rate is heard at the rate of the first, and its timings at their place',
  async (t) => {
    const around = configInputs();
    const first = voice('elevenlabs', around, [{ breaksAfterMs: 2_000 }], { timed: true });
    const second = voice('openai', around, [], { sampleRate: 24_000, timed: true });
    const tts = build(around, [first, second]);
    t.equal(tts.sampleRate, RATE_HZ);
    const said = await speak(tts, CLAUSE, around);
    const rest = second.texts[0] ?? '';
    const expectedMs = 2_000 + rest.length * MS_PER_CHARACTER;
    t.ok(Math.abs(said.audioMs - expectedMs) < 10, `${said.audioMs} ms of audio for ${expectedMs}`);
    t.equal(said.words.at(-1)?.endMs, expectedMs, 'timings count from the first sample of the clause');
  },
);

t.test('RT-47 a voice without a fallback has the last patience at once', async (t) => {
  const around = configInputs();
  const slow = voice('elevenlabs', around, [{ firstMs: FIRST_BYTE_MS + 500 }]);
  const said = await speak(build(around, [slow]), CLAUSE, around);
  t.equal(said.error, null);
  t.same(slow.texts, [CLAUSE], 'the text is sent once, and paid for once');
  t.same(around.troubles, []);
  t.ok(said.longestGapMs < LAST_FIRST_BYTE_MS, `${said.longestGapMs} ms of silence`);
});

t.test('without a fallback the same voice is tried once more', async (t) => {
  const around = configInputs();
  const only = voice('elevenlabs', around, [{ firstMs: 60_000 }, { firstMs: 2_000 }]);
  const said = await speak(build(around, [only]), CLAUSE, around);
  t.equal(said.error, null);
  t.same(only.texts, [CLAUSE, CLAUSE]);
  t.equal(only.closed, 1, 'over a new connection: the old one may be half dead');
  t.ok(said.longestGapMs <= LAST_FIRST_BYTE_MS + 2_100, `${said.longestGapMs} ms of silence`);
  t.match(around.named('provider_retried'), [{ provider: 'elevenlabs', family: 'tts' }]);

  const dead = voice('cartesia', around, [{ firstMs: 60_000 }, { firstMs: 60_000 }]);
  const startedMs = around.clock.nowMs();
  t.match((await speak(build(around, [dead]), CLAUSE, around)).error, { code: 'provider_timeout' });
  t.ok(around.clock.nowMs() - startedMs <= 2 * LAST_FIRST_BYTE_MS + 100);
});

t.test(
  'RT-47 a clause that ends without a sound is asked for once more, then by the next voice',
  async (t) => {
    const around = configInputs();
    const first = voice('elevenlabs', around, [{ isMute: true }]);
    const second = voice('cartesia', around);
    const said = await speak(build(around, [first, second]), CLAUSE, around);
    t.same([said.error, said.servedBy], [null, ['elevenlabs', 'elevenlabs']]);
    t.equal(said.audioMs, CLAUSE.length * MS_PER_CHARACTER);
    t.match(around.named('provider_failed'), [
      { class: 'transient', error: /without any audio/, given_ms: 0 },
    ]);
    t.match(around.named('provider_retried'), [{ provider: 'elevenlabs', family: 'tts' }]);

    const other = configInputs();
    const mute = voice('elevenlabs', other, [{ isMute: true }, { isMute: true }]);
    const next = voice('cartesia', other);
    const saved = await speak(build(other, [mute, next]), CLAUSE, other);
    t.same([saved.error, saved.servedBy], [null, ['elevenlabs', 'elevenlabs', 'cartesia']]);
    t.same(next.texts, [CLAUSE]);
    t.match(other.named('provider_switched'), [{ from: 'elevenlabs', provider: 'cartesia' }]);
  },
);

t.test(
  'RT-47 a clause without a sound fails where there is nobody else, and one without words does not',
  async (t) => {
    const around = configInputs();
    const mute = voice('elevenlabs', around, [{ isMute: true }, { isMute: true }]);
    const tts = build(around, [mute]);
    t.match((await speak(tts, CLAUSE, around)).error, {
      code: 'provider_failed',
      details: { class: 'transient' },
    });
    t.equal(mute.texts.length, 2);
    const still = configInputs();
    const quiet = voice('elevenlabs', still, [{ isMute: true }]);
    t.equal((await speak(build(still, [quiet]), '...', still)).error, null);
    t.same(still.troubles, []);
  },
);

t.test('RT-58 a voice without a fallback that names a wait is asked again when it is over', async (t) => {
  const busy = (retryAfterMs?: number) => ({
    refused: providerError(
      {
        provider: 'elevenlabs',
        family: 'tts',
        class: 'rate_limit',
        status: 429,
        ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
      },
      'elevenlabs: 429',
    ),
  });
  const around = configInputs();
  const only = voice('elevenlabs', around, [busy(4_000), busy()]);
  const said = await speak(build(around, [only]), CLAUSE, around);
  t.same([said.error, said.audioMs], [null, CLAUSE.length * MS_PER_CHARACTER]);
  t.ok(said.longestGapMs >= 5_000 && said.longestGapMs <= 6_200, `${said.longestGapMs} ms of waiting`);
  t.match(around.named('provider_retried'), [
    { class: 'rate_limit', family: 'tts' },
    { class: 'rate_limit' },
  ]);

  const long = configInputs();
  const closed = voice('elevenlabs', long, [busy(RATE_LIMIT_PATIENCE_MS + 1)]);
  t.match((await speak(build(long, [closed]), CLAUSE, long)).error, { details: { class: 'rate_limit' } });
  t.equal(closed.texts.length, 1, 'nobody is kept waiting for longer');

  const always = configInputs();
  const full = voice(
    'elevenlabs',
    always,
    Array.from({ length: 99 }, () => busy(0)),
  );
  const startedMs = always.clock.nowMs();
  t.match((await speak(build(always, [full]), CLAUSE, always)).error, { details: { class: 'rate_limit' } });
  t.ok(always.clock.nowMs() - startedMs <= RATE_LIMIT_PATIENCE_MS * 1.2);
  t.ok(full.texts.length <= 8, `${full.texts.length} requests`);
});

t.test('a voice whose key is refused is not asked twice', async (t) => {
  const around = configInputs();
  const refused = providerError(
    { provider: 'sarvam', family: 'tts', class: 'auth', status: 401 },
    'sarvam: 401',
  );
  const locked = voice('sarvam', around, [], { error: refused });
  t.match((await speak(build(around, [locked]), CLAUSE, around)).error, { details: { class: 'auth' } });
  t.equal(locked.texts.length, 1);
  const second = voice('cartesia', around);
  const tts = build(around, [locked, second]);
  await speak(tts, 'One.', around);
  await around.clock.advance(60_000, 10_000);
  t.same((await speak(tts, 'Two.', around)).servedBy, ['cartesia'], 'in this call never again');
});

t.test('when every voice fails the first failure is told, with what was given', async (t) => {
  const around = configInputs();
  const first = voice('elevenlabs', around, [{ breaksAfterMs: 500 }]);
  const second = voice('cartesia', around, [{ breaksAfterMs: 0 }]);
  const said = await speak(build(around, [first, second]), CLAUSE, around);
  t.match(said.error, { details: { provider: 'elevenlabs' } });
  t.equal(said.audioMs, 500);
  t.match(around.named('provider_failed'), [{ given_ms: 500 }, { given_ms: 500 }]);
});

t.test('a caller who interrupts gets its own reason, and no voice is blamed', async (t) => {
  const around = configInputs();
  const first = voice('elevenlabs', around);
  const abort = new AbortController();
  around.clock.after(250, () => abort.abort(new Error('barge-in')));
  const said = await speak(build(around, [first, voice('cartesia', around)]), CLAUSE, around, abort.signal);
  t.match(said.error, { message: 'barge-in' });
  t.ok(said.samples > 0);
  t.equal(first.ended, 1);
  t.same(around.troubles, []);
  t.equal(around.clock.pendingTimers, 0);
});

t.test('a consumer that takes its time is no stall', async (t) => {
  const around = configInputs();
  const tts = build(around, [voice('elevenlabs', around), voice('cartesia', around)]);
  const stream = tts.speak(CLAUSE, NEVER)[Symbol.asyncIterator]();
  let blocks = 0;
  for (;;) {
    const next = stream.next();
    await around.clock.advance(200, 20);
    if ((await next).done) break;
    blocks += 1;
    await around.clock.advance(3_000, 1_000);
  }
  t.ok(blocks > 40);
  t.same(around.troubles, []);
});

t.test('the rest of a clause begins with the first word that was not given whole', async (t) => {
  const text = 'Your code is 4 2 7, again: 4 2 7.';
  const by = (givenMs: number) => restOfText(text, givenMs, timings(text), 1_000);
  t.equal(by(0), text);
  t.equal(by(MS_PER_CHARACTER * 4), 'code is 4 2 7, again: 4 2 7.');
  t.equal(by(MS_PER_CHARACTER * 8), 'code is 4 2 7, again: 4 2 7.', 'half a word is said again');
  t.equal(by(MS_PER_CHARACTER * 19), 'again: 4 2 7.', 'the figures that come twice are told apart');
  t.equal(by(MS_PER_CHARACTER * text.length), '');
  t.equal(
    restOfText('It is ₹1,200 in all', 1_000, [{ text: 'rupees', startMs: 0, endMs: 900 }], 100),
    '₹1,200 in all',
  );
  t.equal(restOfText('नमस्ते आप कैसे हैं', 600, [{ text: 'नमस्ते', startMs: 0, endMs: 550 }], 100), 'आप कैसे हैं');
  t.equal(restOfText('one two', 5_000, [], 70), '');
});

t.test(
  'RT-47 wherever a voice breaks, the words given and the words said again make the clause',
  async (t) => {
    const random = seededRandom(47);
    for (let round = 0; round < 300; round += 1) {
      const words = Array.from({ length: 1 + Math.floor(random() * 12) }, () =>
        'abcdefghij'.slice(0, 1 + Math.floor(random() * 9)),
      );
      const text = words.join(' ');
      const givenMs = random() * text.length * MS_PER_CHARACTER * 1.1;
      const rest = restOfText(text, givenMs, random() < 0.5 ? timings(text) : [], MS_PER_CHARACTER);
      const given = timings(text).filter((word) => word.endMs <= givenMs);
      const expected = words.slice(given.length).join(' ');
      if (rest !== expected) {
        t.equal(rest, expected, `round ${round}: "${text}" after ${givenMs} ms`);
        return;
      }
    }
    t.pass('300 clauses');
  },
);
