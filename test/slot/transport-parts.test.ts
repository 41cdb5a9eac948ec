import fc from 'fast-check';
import t from 'tap';
import { ArrivalBudget } from '../../src/slot/transport/arrival-budget.ts';
import { AudioPayload } from '../../src/slot/transport/audio-payload.ts';
import { readInbound } from '../../src/slot/transport/inbound-message.ts';

t.test('base64 audio is read exactly, and dirt is refused', async (t) => {
  const payload = new AudioPayload(4096);
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: -32768, max: 32767 }), { minLength: 1, maxLength: 400 }),
      (values) => {
        const samples = Int16Array.from(values);
        const text = Buffer.from(samples.buffer).toString('base64');
        const read = payload.fromBase64(text);
        return (
          read !== null && read.length === values.length && read.every((value, i) => value === values[i])
        );
      },
    ),
    { seed: 5, numRuns: 200 },
  );
  t.equal(payload.fromBase64(''), null, 'nothing');
  t.same([...(payload.fromBase64('AQA=') ?? [])], [1], 'two bytes are a sample');
  t.equal(payload.fromBase64('AAAA'), null, 'three bytes: half a sample is left over');
  t.equal(payload.fromBase64('!!!!AAA='), null, 'not base64');
  t.equal(payload.fromBase64('AAAAA'), null, 'not a whole number of groups');
  t.equal(payload.fromBase64('A'.repeat(8000)), null, 'longer than a message may be');
});

t.test('a binary frame of odd length, of none and of too much is refused', async (t) => {
  const payload = new AudioPayload(64);
  t.equal(payload.fromBinary(Buffer.alloc(3)), null);
  t.equal(payload.fromBinary(Buffer.alloc(0)), null);
  t.equal(payload.fromBinary(Buffer.alloc(66)), null);
  t.same([...(payload.fromBinary(Buffer.from([1, 0, 255, 255])) ?? [])], [1, -1]);
});

t.test('whatever a dialler sends is read as something, never thrown at', async (t) => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.json(),
        fc.jsonValue().map((value) => JSON.stringify(value)),
      ),
      (text) => {
        const inbound = readInbound(text);
        return ['message', 'audio', 'bad', 'unknown_event', 'malformed'].includes(inbound.kind);
      },
    ),
    { seed: 8, numRuns: 1000 },
  );
  const events = ['connected', 'media', 'dtmf', 'mark', 'stop', 'transfer_result', 'something'];
  fc.assert(
    fc.property(fc.constantFrom(...events), fc.dictionary(fc.string(), fc.jsonValue()), (event, rest) => {
      readInbound(JSON.stringify({ ...rest, event }));
      return true;
    }),
    { seed: 9, numRuns: 1000 },
  );
  t.equal(readInbound('{"event":"dtmf","dtmf":{"digit":"12"}}').kind, 'bad');
  t.equal(readInbound('{"event":"dtmf","dtmf":{"digit":"#"}}').kind, 'message');
  t.equal(readInbound('[]').kind, 'malformed');
});

t.test('audio ahead of real time passes up to the burst and is counted beyond it', async (t) => {
  let nowMs = 0;
  const budget = new ArrivalBudget({ burstMs: 1000, now: () => nowMs });
  let admitted = 0;
  for (let i = 0; i < 100; i++) if (budget.admit(160)) admitted++;
  t.equal(admitted, 50, 'one second of burst');
  t.equal(budget.droppedMs, 1000);
  nowMs = 500;
  admitted = 0;
  for (let i = 0; i < 100; i++) if (budget.admit(160)) admitted++;
  t.equal(admitted, 25, 'then as much as time has passed');
});
