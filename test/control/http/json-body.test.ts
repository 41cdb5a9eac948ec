import fc from 'fast-check';
import t from 'tap';
import { readJson, requireJsonType } from '../../../src/platform/strict-json.ts';

const read = (text: string) => readJson(Buffer.from(text));

t.test('what JSON.parse reads is read the same way', async () => {
  await fc.assert(
    fc.asyncProperty(fc.json({ maxDepth: 6 }), fc.integer({ min: 0, max: 4 }), async (text, indent) => {
      const spaced = JSON.stringify(JSON.parse(text), null, indent);
      return JSON.stringify(read(spaced)) === JSON.stringify(JSON.parse(spaced));
    }),
    { seed: 3, numRuns: 500 },
  );
});

t.test('a key that stands twice is refused, at any depth and in any spelling', async (t) => {
  for (const text of [
    '{"a":1,"a":1}',
    '{"a":{"b":1},"c":[{"d":2,"d":3}]}',
    '{"a":1,"\\u0061":2}',
    '{"":1,"":2}',
    '{"__proto__":1,"__proto__":2}',
    '{"x\\\\":1,"x\\\\":2}',
  ]) {
    t.throws(() => read(text), { code: 'bad_request', message: /twice/ }, text);
  }
  for (const text of [
    '{"a":"b\\":c","d":":"}',
    '{"\\\\":"\\\\","a":1}',
    '[{"a":1},{"a":1}]',
    '":"',
    '{"__proto__":1}',
  ]) {
    t.same(JSON.stringify(read(text)), JSON.stringify(JSON.parse(text)), text);
  }
});

t.test('invalid UTF-8, broken and endless nesting are refused', async (t) => {
  t.throws(() => readJson(Buffer.from([0x22, 0xff, 0x22])), { code: 'bad_request', message: /UTF-8/ });
  t.throws(() => readJson(Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])), { code: 'bad_request' });
  for (const text of ['', '{', '{"a":}', 'NaN', "{'a':1}", '{"a":1}x', '[1,]']) {
    t.throws(() => read(text), { code: 'bad_request' }, text);
  }
  t.throws(() => read('['.repeat(65) + ']'.repeat(65)), { code: 'bad_request', message: /nested/ });
  t.throws(() => read(`${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`), { code: 'bad_request' });
  t.same(read('['.repeat(64) + ']'.repeat(64)), JSON.parse('['.repeat(64) + ']'.repeat(64)));
});

t.test('only JSON passes for JSON', async (t) => {
  for (const type of [
    undefined,
    'application/json',
    'Application/JSON; charset=utf-8',
    'application/vnd.a+json',
  ]) {
    t.doesNotThrow(() => requireJsonType(type), String(type));
  }
  for (const type of [
    '',
    'text/plain',
    'application/jsonx',
    'multipart/form-data',
    'application/x-www-form-urlencoded',
  ]) {
    t.throws(() => requireJsonType(type), { code: 'unsupported_media_type' }, type);
  }
});
