import fc from 'fast-check';
import t from 'tap';
import { readStamp } from '../../bench/read-stamp.ts';
import { openTts } from '../../src/providers/open-providers.ts';
import { stampedTone, stampFrame } from '../../src/providers/vendors/scripted/frame-stamp.ts';

const never = new AbortController().signal;
const tts = (settings: Record<string, unknown>) => openTts({ provider: 'scripted', ...settings });

async function collect(blocks: AsyncIterable<Int16Array>): Promise<Int16Array> {
  const all: number[] = [];
  for await (const block of blocks) all.push(...block);
  return Int16Array.from(all);
}

t.test('every 20 ms frame says which speech and which frame it is', async (t) => {
  const voice = await tts({ ms_per_char: 20 });
  t.equal(voice.sampleRate, 8_000);
  for (const speak of [1, 2]) {
    const audio = await collect(voice.speak('twelve chars', never));
    t.equal(audio.length, 12 * 160);
    for (let frame = 0; frame < 12; frame++) t.same(readStamp(audio, frame * 160), { speak, frame });
  }
});

t.test('a text of any length gives whole frames, and an endless one is cut', async (t) => {
  const voice = await tts({ ms_per_char: 33 });
  t.equal((await collect(voice.speak('', never))).length, 0);
  t.equal((await collect(voice.speak('a', never))).length, 320);
  t.equal((await collect(voice.speak('x'.repeat(100_000), never))).length, 120_000 * 8);
});

/** Where the next stamp begins at or after `from`, or -1. */
function findStamp(samples: Int16Array, from = 0): number {
  for (let at = from; at < samples.length; at++) if (readStamp(samples, at)) return at;
  return -1;
}

t.test('a stamp is read back exactly, and only where it stands undamaged', (t) => {
  const numbers = fc.integer({ min: 0, max: 32_767 });
  fc.assert(
    fc.property(numbers, numbers, fc.nat(300), fc.nat(3), (speak, frame, at, sample) => {
      const samples = new Int16Array(at + 200);
      stampFrame(samples, at, { speak, frame });
      const found = readStamp(samples, at);
      const whole = found?.speak === speak && found.frame === frame && findStamp(samples) === at;
      samples[at + sample] = (samples[at + sample] ?? 0) ^ 1;
      return whole && readStamp(samples, at) === null;
    }),
    { seed: 51, numRuns: 500 },
  );
  t.equal(findStamp(stampedTone(3, { speak: 1, frame: 0 }), 1), 160, 'the tone itself holds no stamp');
  t.equal(readStamp(new Int16Array(2)), null, 'too short');
  t.end();
});

t.test('rate paces the audio from the first block on, and first_audio_ms comes before it', async (t) => {
  const voice = await tts({ ms_per_char: 20, rate: 4, first_audio_ms: 50 });
  const startMs = performance.now();
  const atMs: number[] = [];
  for await (const block of voice.speak('x'.repeat(20), never)) {
    t.equal(block.length, 5 * 160);
    atMs.push(performance.now() - startMs);
  }
  t.equal(atMs.length, 4);
  for (const [block, ms] of atMs.entries()) t.ok(ms >= 48 + block * 25, `block ${block} is not early: ${ms}`);
});

t.test('an abort ends the speech with its own reason, and no block follows', async (t) => {
  const reason = new Error('interrupted');
  for (const settings of [{}, { rate: 0.01 }, { first_audio_ms: 60_000 }, { stall_on: [1] }]) {
    const leaving = new AbortController();
    const voice = await tts(settings);
    setTimeout(() => leaving.abort(reason), 10);
    const read = async () => {
      for await (const block of voice.speak('x'.repeat(500), leaving.signal)) {
        t.notOk(leaving.signal.aborted);
        t.ok(block.length > 0);
        if (Object.keys(settings).length === 0) leaving.abort(reason);
      }
    };
    await t.rejects(read(), reason);
  }
});

t.test('a speech of fail_on fails and the next one is spoken', async (t) => {
  const voice = await tts({ fail_on: [1] });
  await t.rejects(collect(voice.speak('hello', never)), { code: 'provider_failed' });
  t.same(readStamp(await collect(voice.speak('hello', never))), { speak: 2, frame: 0 });
});

t.test('a wrong setting is refused by its name', async (t) => {
  for (const key of ['ms_per_char', 'first_audio_ms', 'rate', 'fail_on', 'stall_on']) {
    await t.rejects(tts({ [key]: -1 }), {
      code: 'bad_provider_config',
      message: new RegExp(`^tts\\.${key} `),
    });
  }
});
