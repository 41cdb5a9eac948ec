import fc from 'fast-check';
import t from 'tap';
import { wavHeader } from '../../src/platform/wav.ts';
import { WavStream } from '../../src/providers/vendors/espeak/wav-stream.ts';

const RATE = 22_050;
const samplesOf = fc.array(fc.integer({ min: -32_768, max: 32_767 }), { maxLength: 200 });

function push(pieces: Buffer[]): number[] {
  const stream = new WavStream();
  return pieces.flatMap((piece) => [...stream.push(piece, RATE)]);
}

function cut(file: Buffer, cuts: number[]): Buffer[] {
  const places = [0, ...cuts.map((place) => place % (file.length + 1)).sort((a, b) => a - b), file.length];
  return places.slice(1).map((end, index) => file.subarray(places[index], end));
}

t.test('the audio is the same however the file is cut into pieces', (t) => {
  fc.assert(
    fc.property(
      samplesOf,
      fc.array(fc.nat(600), { maxLength: 12 }),
      fc.nat(40),
      (samples, cuts, extraBytes) => {
        const audio = Buffer.from(Int16Array.from(samples).buffer);
        const header = wavHeader({ sampleRate: RATE, channels: 1 }, 0x7ffff000);
        const foreign = Buffer.alloc(8 + extraBytes + (extraBytes & 1));
        foreign.write('LIST', 0, 'latin1');
        foreign.writeUInt32LE(extraBytes, 4);
        const file = Buffer.concat([header.subarray(0, 36), foreign, header.subarray(36), audio]);
        return JSON.stringify(push(cut(file, cuts))) === JSON.stringify(samples);
      },
    ),
    { seed: 61, numRuns: 1_000 },
  );
  t.end();
});

t.test('what is no WAV of the voice is refused with a sentence, never read as audio', (t) => {
  const wrong = (change: (header: Buffer) => void) => {
    const header = wavHeader({ sampleRate: RATE, channels: 1 }, 0);
    change(header);
    return header;
  };
  const cases: [string, Buffer, RegExp][] = [
    ['an error text', Buffer.from('Error: no voice'), /did not write a WAV file/],
    ['another rate', wrong((header) => header.writeUInt32LE(8_000, 24)), /8000 Hz/],
    ['stereo', wrong((header) => header.writeUInt16LE(2, 22)), /2 channels/],
    ['another encoding', wrong((header) => header.writeUInt16LE(7, 20)), /expected/],
    ['audio before its format', Buffer.from('RIFF....WAVEdata....', 'latin1'), /before its format/],
    ['a format cut short', Buffer.from('RIFF....WAVEfmt \x02\x00\x00\x00\x01\x00', 'latin1'), /cut short/],
    ['an endless header', Buffer.from('RIFF....WAVEjunk\xff\xff\xff\x7f', 'latin1'), /overlong/],
  ];
  for (const [name, file, message] of cases) t.throws(() => push([file]), { message }, name);
  t.end();
});

t.test('random bytes either wait for more or are refused', (t) => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1, maxLength: 64 }), (bytes) => {
      try {
        return push([Buffer.concat([Buffer.from('RIFF....WAVE', 'latin1'), Buffer.from(bytes)])]).length >= 0;
      } catch (error) {
        return /^the speech program wrote /.test((error as Error).message);
      }
    }),
    { seed: 62, numRuns: 1_000 },
  );
  t.end();
});
