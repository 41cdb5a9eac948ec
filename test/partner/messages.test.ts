import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import t from 'tap';
import { projectPath } from '../../src/platform/project-paths.ts';
import { readPartner } from '../../src/slot/transport/partner-messages.ts';
import { RateCheck } from '../../src/slot/transport/partner-rate.ts';
import { openingOf } from '../../src/slot/transport/partner-start.ts';

interface Corpus {
  about: string;
  frames: { name: string; frame: unknown; expected: unknown }[];
}

const folder = projectPath('test/partner/corpus');
for (const file of readdirSync(folder).filter((name) => name.endsWith('.json'))) {
  const corpus = JSON.parse(readFileSync(`${folder}/${file}`, 'utf8')) as Corpus;
  t.test(`RT-80 R18 the corpus "${file}" reads as it must`, async (t) => {
    t.ok(corpus.frames.length >= 8);
    for (const { name, frame, expected } of corpus.frames) {
      t.strictSame(readPartner(JSON.stringify(frame)), expected, name);
    }
  });
}

const KINDS = [
  'connected',
  'start',
  'audio',
  'dtmf',
  'mark',
  'clear',
  'stop',
  'bad',
  'unknown_event',
  'malformed',
];

t.test('RT-80 no text, JSON or not, makes the reader throw', async () => {
  const spellings = ['start', 'Start', 'media', 'MEDIA', 'dtmf', 'mark', 'stop', 'clear', 'connected'];
  const names = [
    ...spellings,
    'stream_sid',
    'callSid',
    'custom_parameters',
    'media_format',
    'payload',
    'digit',
    '__proto__',
  ];
  const message = fc
    .tuple(
      fc.constantFrom('event', 'Event', 'EVENT'),
      fc.constantFrom(...spellings, 'x'),
      fc.dictionary(
        fc.constantFrom(...names),
        fc.oneof(fc.jsonValue(), fc.dictionary(fc.constantFrom(...names), fc.jsonValue())),
      ),
    )
    .map(([key, event, rest]) => JSON.stringify({ ...rest, [key]: event }));
  fc.assert(
    fc.property(fc.oneof(message, fc.json(), fc.string()), (text) => {
      return KINDS.includes(readPartner(text).kind);
    }),
    { seed: 18, numRuns: 3000 },
  );
});

t.test(
  'RT-80 a custom parameter can neither reach a prototype nor take the place of the caller',
  async (t) => {
    const text =
      '{"event":"start","stream_sid":"s","start":{"call_sid":"c","from":"+1","to":"+2","custom_parameters":{"__proto__":{"admin":true},"caller_id":"+9","event":"stop","plan":"gold"}}}';
    const read = readPartner(text);
    if (read.kind !== 'start') return t.fail('it is a start');
    const { connected } = openingOf(read.start, '/partner/demo');
    t.strictSame(connected, {
      plan: 'gold',
      caller_id: '+1',
      event: 'connected',
      stream_id: 's',
      stream_sid: 's',
      call_sid: 'c',
      account_sid: '',
      from: '+1',
      to: '+2',
      from_number: '+2',
      call_direction: 'inbound',
    });
    t.equal(({} as Record<string, unknown>).admin, undefined);
  },
);

t.test('RT-80 the rate of start goes before the one of the query, and no rate is 8000', async (t) => {
  const startWith = (rate: string) => {
    const read = readPartner(
      `{"event":"start","start":{"call_sid":"c","media_format":{"sample_rate":${rate}}}}`,
    );
    if (read.kind !== 'start') throw new Error('it is a start');
    return read.start;
  };
  t.equal(openingOf(startWith('"16000"'), '/partner/demo?sample-rate=24000').rateHz, 16_000);
  t.equal(openingOf(startWith('null'), '/partner/demo?sample-rate=24000').rateHz, 24_000);
  t.equal(openingOf(startWith('null'), '/partner/demo?sample_rate=16000').rateHz, 16_000);
  t.equal(openingOf(startWith('null'), '/partner/demo').rateHz, 8000);
  const odd = openingOf(startWith('44100'), '/partner/demo');
  t.equal(odd.rateHz, 8000);
  t.match(odd.counts, { bad_sample_rate: 1 });
  t.equal(openingOf(startWith('null'), '/partner/demo?frame-bytes=3200').frameBytes, 3200);
});

/** Sends `ms` of audio in pieces as a carrier does and returns what the check found. */
function measured(
  announcedHz: number,
  trueHz: number,
  options: { loseChunk?: number; pieceMs?: number } = {},
) {
  const check = new RateCheck(announcedHz);
  const pieceMs = options.pieceMs ?? 100;
  for (let chunk = 1; chunk <= 4000 / pieceMs; chunk++) {
    if (chunk === options.loseChunk) continue;
    const verdict = check.take((trueHz * 2 * pieceMs) / 1000, chunk, (chunk - 1) * pieceMs);
    if (verdict) return { ...verdict, afterMs: chunk * pieceMs };
  }
  return null;
}

t.test('RT-80 a rate that is not the announced one is found within the first second', async (t) => {
  for (const rate of [8000, 16_000, 24_000]) t.equal(measured(rate, rate), null, `${rate} is right`);
  t.match(measured(8000, 16_000), { announcedHz: 8000, measuredHz: 16_000, rateHz: 16_000, afterMs: 1100 });
  t.match(measured(16_000, 8000, { pieceMs: 20 }), { rateHz: 8000, afterMs: 1020 });
  t.match(
    measured(8000, 11_025),
    { measuredHz: 11_025, rateHz: 8000 },
    'no rate of the line: named, not used',
  );
  t.equal(measured(8000, 8300), null, 'within 5 %');
  t.match(measured(8000, 8500), { measuredHz: 8500, rateHz: 8000 }, 'beyond 5 %');
  t.equal(measured(8000, 8000, { loseChunk: 5 }), null, 'a lost message is no wrong rate');
  t.match(measured(8000, 16_000, { loseChunk: 5 }), { rateHz: 16_000 }, 'and does not hide one');
});
