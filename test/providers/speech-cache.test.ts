import { readdirSync, readFileSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { SpeechCache, speechKey } from '../../src/providers/spoken-lines/speech-cache.ts';
import { tempFolder } from '../harness/temp-folder.ts';

const VOICE = { provider: 'cartesia', model: 'sonic-3.5', voice: 'v1', language: 'en' };

const folderFor = () => join(tempFolder(), 'speech-cache');

const ramp = (length: number) => Int16Array.from({ length }, (_, i) => (i * 7) % 30_000);

t.test('a line comes back as it was kept, also to another process of the host', async (t) => {
  const folder = folderFor();
  const key = speechKey(VOICE, 'Good morning.', 8_000);
  const cache = new SpeechCache(folder);
  t.equal(await cache.get(key), null, 'nothing is there at first, not even the folder');
  await cache.put(key, { sampleRate: 8_000, samples: ramp(12_345) });
  t.same(await new SpeechCache(folder).get(key), { sampleRate: 8_000, samples: ramp(12_345) });
  t.equal(readdirSync(folder).length, 1, 'and no temporary file is left');
});

t.test('the key of a line is its text and how it sounds, not whose account pays', async (t) => {
  const key = speechKey(VOICE, 'Good morning.', 8_000);
  const { provider, voice, ...rest } = VOICE;
  t.equal(speechKey({ ...rest, voice, provider }, ' Good morning. ', 8_000), key, 'order does not matter');
  t.equal(
    speechKey({ ...VOICE, api_key: 'secret', fallbacks: [{ provider: 'espeak' }] }, 'Good morning.', 8_000),
    key,
  );
  t.not(speechKey({ ...VOICE, voice: 'v2' }, 'Good morning.', 8_000), key);
  t.not(speechKey({ ...VOICE, speed: 1.1 }, 'Good morning.', 8_000), key);
  t.not(speechKey(VOICE, 'Good evening.', 8_000), key);
  t.not(speechKey(VOICE, 'Good morning.', 16_000), key);
  t.notMatch(key, /secret/);
  t.match(key, /^[0-9a-f]{40}$/);
});

t.test('half a file, a changed byte and a foreign file count as nothing', async (t) => {
  const folder = folderFor();
  const cache = new SpeechCache(folder);
  const key = speechKey(VOICE, 'Hello.', 8_000);
  const path = join(folder, `${key}.speech`);
  const put = () => cache.put(key, { sampleRate: 8_000, samples: ramp(4_000) });
  await put();
  for (const bytes of [0, 3, 19, 20, 21, 4_000]) {
    truncateSync(path, bytes);
    t.equal(await cache.get(key), null, `${bytes} bytes of it`);
    await put();
  }
  const whole = readFileSync(path);
  for (const at of [0, 4, 8, 12, 16, 20, whole.length - 1]) {
    const damaged = Buffer.from(whole);
    damaged.writeUInt8((damaged[at] ?? 0) ^ 0x40, at);
    writeFileSync(path, damaged);
    t.equal(await cache.get(key), null, `byte ${at} is another`);
  }
  await put();
  t.ok(await cache.get(key), 'and the next put heals it');
});

t.test('the folder stays within its bound, and what was not used for the longest time goes', async (t) => {
  const folder = folderFor();
  const cache = new SpeechCache(folder, 100_000);
  const keys = Array.from({ length: 12 }, (_, i) => speechKey(VOICE, `line ${i}`, 8_000));
  for (const [index, key] of keys.entries()) {
    await cache.put(key, { sampleRate: 8_000, samples: ramp(5_000) });
    // Each was used an hour after the one before it, so that no two files have the same time.
    const used = new Date(Date.now() - (20 - index) * 3_600_000);
    const path = join(folder, `${key}.speech`);
    if (readdirSync(folder).includes(`${key}.speech`)) utimesSync(path, used, used);
    if (index === 5) t.ok(await cache.get(keys[0] ?? ''), 'the oldest is used again');
  }
  const left = await Promise.all(keys.map(async (key) => (await cache.get(key)) !== null));
  t.equal(left[0], true, 'what was used lately stays');
  t.equal(left[1], false, 'what was not, went');
  t.equal(left.at(-1), true, 'and the newest is there');
  t.ok(left.filter(Boolean).length * 10_020 <= 100_000);
});

t.test('a line of minutes is not kept, nor an empty one', async (t) => {
  const cache = new SpeechCache(folderFor());
  const key = speechKey(VOICE, 'long', 8_000);
  await cache.put(key, { sampleRate: 8_000, samples: new Int16Array(8_000 * 200) });
  t.equal(await cache.get(key), null);
  await cache.put(key, { sampleRate: 8_000, samples: new Int16Array(0) });
  t.equal(await cache.get(key), null);
});

t.test('many processes may put the same line at the same time', async (t) => {
  const folder = folderFor();
  const key = speechKey(VOICE, 'race', 8_000);
  const caches = Array.from({ length: 16 }, () => new SpeechCache(folder));
  await Promise.all(caches.map((cache) => cache.put(key, { sampleRate: 8_000, samples: ramp(20_000) })));
  t.same((await caches[0]?.get(key))?.samples, ramp(20_000));
  t.equal(readdirSync(folder).length, 1);
});
