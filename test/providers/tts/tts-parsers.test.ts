import fc from 'fast-check';
import t from 'tap';
import { PcmSamples } from '../../../src/providers/tts/pcm-samples.ts';
import { textPieces, worthSaying } from '../../../src/providers/tts/spoken-text.ts';
import { CharacterWords } from '../../../src/providers/vendors/elevenlabs/character-words.ts';
import { hear, isToneOf, openFor, SOCKET_VENDORS, startVoice } from './vendors.ts';

t.test('samples are the same however their bytes were cut', async (t) => {
  const cuts = fc.array(fc.nat(40), { maxLength: 30 });
  fc.assert(
    fc.property(fc.int16Array({ maxLength: 200 }), cuts, (samples, lengths) => {
      const bytes = Buffer.alloc(samples.length * 2);
      for (const [index, sample] of samples.entries()) bytes.writeInt16LE(sample, index * 2);
      const pcm = new PcmSamples();
      const got: number[] = [];
      let at = 0;
      for (const length of [...lengths, bytes.length]) {
        // A copy at an odd address, as slices of a decoded message have it.
        const padded = Buffer.concat([Buffer.alloc(1), bytes.subarray(at, at + length)]);
        got.push(...pcm.push(padded.subarray(1)));
        at += length;
      }
      t.same(got, [...samples]);
    }),
    { seed: 81, numRuns: 300 },
  );
});

t.test('words are the same however their characters were cut into chunks', async (t) => {
  const word = fc.string({ minLength: 1, maxLength: 12, unit: fc.constantFrom(...'abcäश्ñ.,') });
  fc.assert(
    fc.property(
      fc.array(word, { maxLength: 12 }),
      fc.array(fc.nat(9), { maxLength: 20 }),
      (words, lengths) => {
        const chars = [...words.join(' ')];
        const collector = new CharacterWords();
        const got = [];
        let at = 0;
        for (const length of [...lengths, chars.length]) {
          const here = chars.slice(at, at + length);
          const times = {
            chars: here,
            startsMs: here.map((_, index) => index * 50),
            durationsMs: here.map(() => 50),
          };
          got.push(...collector.push(times, at * 50));
          at += here.length;
        }
        got.push(...collector.flush());
        t.same(
          got.map(({ text }) => text),
          words,
        );
        let from = 0;
        for (const timing of got) {
          const length = [...timing.text].length;
          t.same([timing.startMs, timing.endMs], [from * 50, (from + length) * 50]);
          from += length + 1;
        }
      },
    ),
    { seed: 82, numRuns: 200 },
  );
});

t.test('pieces of a text are its whole, none too long, no character torn', async (t) => {
  const text = fc.string({ maxLength: 400, unit: fc.constantFrom('a', ' ', 'ष', '😀', '.') });
  fc.assert(
    fc.property(text, fc.integer({ min: 2, max: 60 }), (whole, longest) => {
      const pieces = textPieces(whole, longest);
      t.equal(pieces.join(''), whole);
      for (const piece of pieces) {
        t.ok(piece.length <= longest && piece.length > 0);
        t.equal(piece.toWellFormed(), piece);
      }
    }),
    { seed: 83, numRuns: 300 },
  );
  for (const mute of ['', '  ', '…', '?!', '—', '\u200b']) t.notOk(worthSaying(mute), JSON.stringify(mute));
  for (const said of ['ok', '7', '₹', 'नमस्ते', '+']) t.ok(worthSaying(said), said);
});

/** Messages that look like the vendors' own, with anything at all where something else is due. */
const anything = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom<unknown>('c1', 'c2', null, true, 'AAAA', 'AAA=', '%%%', 429, {}, []),
);
const message = fc.record(
  {
    type: fc.oneof(
      fc.constantFrom('chunk', 'timestamps', 'done', 'error', 'audio', 'event', 'flush_done'),
      anything,
    ),
    data: fc.oneof(
      fc.record(
        {
          audio: anything,
          event_type: fc.constantFrom<unknown>('final', 7),
          message: anything,
          code: anything,
        },
        { requiredKeys: [] },
      ),
      anything,
    ),
    audio: anything,
    contextId: anything,
    context_id: anything,
    isFinal: anything,
    alignment: fc.oneof(
      fc.record(
        { chars: anything, charStartTimesMs: anything, charDurationsMs: anything },
        { requiredKeys: [] },
      ),
      anything,
    ),
    word_timestamps: fc.oneof(fc.record({ words: anything, start: anything, end: anything }), anything),
    error: anything,
    status_code: anything,
    message: anything,
  },
  { requiredKeys: [] },
);
const frame = fc.oneof(
  message.map((value) => JSON.stringify(value)),
  fc.string(),
  fc.json({ maxDepth: 3 }),
);

for (const name of SOCKET_VENDORS) {
  t.test(`R8 ${name}: no message that a vendor could send breaks the client`, async (t) => {
    const { emulator, tts, close } = await startVoice(name, {
      voice: { firstAudioMs: 0 },
      settings: { warm_spare: false },
    });
    const text = 'Say this.';
    await fc.assert(
      fc.asyncProperty(fc.array(frame, { minLength: 1, maxLength: 6 }), async (frames) => {
        await tts.warm?.();
        const socket = emulator.control.latest();
        const heard = hear(tts, text);
        for (const garbage of frames) socket.sendText(garbage);
        // Either the clause fails with a provider's error, or it is heard; nothing else may come of it.
        const { error } = await heard;
        if (error !== undefined) t.match((error as { code?: string }).code, /^provider_/);
      }),
      { seed: 84, numRuns: 120 },
    );
    // A garbled end may have left real audio in flight on the old socket, so the last word is a fresh client's.
    await tts.close();
    const fresh = await openFor(name, emulator);
    t.ok(isToneOf((await hear(fresh.tts, text)).samples, text, 8_000), 'and the vendor is still spoken with');
    await fresh.tts.close();
    await close();
  });
}
