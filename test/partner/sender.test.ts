import fc from 'fast-check';
import t from 'tap';
import { frameBytesFor, MAX_PARTNER_AUDIO_BYTES } from '../../src/slot/transport/partner-frames.ts';
import { PartnerSender } from '../../src/slot/transport/partner-sender.ts';
import { HandClock } from '../harness/hand-clock.ts';

interface Sent {
  atMs: number;
  event: string;
  stream_sid: string;
  sequence_number: number;
  media?: { chunk: number; timestamp: string; payload: string };
  mark?: { name: string };
}

/** A sender on a clock that the test moves, and what left it. */
function senderFor(options: { rateHz?: number; frameBytes?: number | null } = {}) {
  const clock = new HandClock();
  const sent: Sent[] = [];
  const sender = new PartnerSender({
    streamSid: 'stream "1"',
    rateHz: options.rateHz ?? 8000,
    frameBytes: options.frameBytes ?? null,
    clock,
    send: (text) => sent.push({ ...(JSON.parse(text) as Sent), atMs: clock.nowMs() }),
  });
  return { clock, sender, sent, media: () => sent.filter((message) => message.event === 'media') };
}

const bytesOf = (message: Sent) => Buffer.from(message.media?.payload ?? '', 'base64');

/** Frames of 20 ms as the pacer gives them: `leadMs` ahead of the ear, each numbered by its samples. */
function speak(parts: ReturnType<typeof senderFor>, frames: number, leadMs = 280): void {
  const startMs = parts.clock.nowMs();
  for (let frame = 0; frame < frames; frame++) {
    parts.clock.moveTo(Math.max(startMs, startMs + frame * 20 - leadMs));
    parts.sender.audio(new Int16Array(160).fill(frame + 1));
  }
}

t.test(
  'RT-79 frames are 1600 bytes at 8 kHz and 100 ms at every rate, unless a proper size is asked for',
  async (t) => {
    t.equal(frameBytesFor(8000, null), 1600);
    t.equal(frameBytesFor(16_000, null), 3200);
    t.equal(frameBytesFor(24_000, null), 4800);
    for (const bytes of [320, 640, 1600, 3200]) t.equal(frameBytesFor(8000, bytes), bytes);
    for (const bytes of [0, -320, 100, 321, 1601, 3520, MAX_PARTNER_AUDIO_BYTES + 320, Number.NaN, 1600.5]) {
      t.equal(frameBytesFor(8000, bytes), 1600, `${bytes} is no size`);
    }
  },
);

t.test(
  'RT-79 every frame is whole, numbered and stamped, and the last one is made up with silence',
  async (t) => {
    const parts = senderFor();
    speak(parts, 23);
    parts.sender.mark('unit-1');
    parts.clock.move(2000);
    const media = parts.media();
    t.equal(media.length, 5, '460 ms are five frames of 100 ms');
    t.ok(media.every((message) => bytesOf(message).length === 1600));
    t.same(
      media.map((message) => message.media?.timestamp),
      ['0', '100', '200', '300', '400'],
    );
    t.same(
      media.map((message) => message.media?.chunk),
      [1, 2, 3, 4, 5],
    );
    t.same(
      parts.sent.map((message) => message.sequence_number),
      [1, 2, 3, 4, 5, 6],
    );
    t.ok(parts.sent.every((message) => message.stream_sid === 'stream "1"'));
    const audio = Buffer.concat(media.map(bytesOf));
    const samples = new Int16Array(audio.buffer, audio.byteOffset, audio.length / 2);
    for (let i = 0; i < samples.length; i++) {
      const expected = i < 23 * 160 ? Math.floor(i / 160) + 1 : 0;
      if (samples[i] !== expected) t.fail(`sample ${i} is ${samples[i]}, not ${expected}`);
    }
    t.match(parts.sent.at(-1), { event: 'mark', mark: { name: 'unit-1' } }, 'the mark follows its audio');
  },
);

t.test('RT-79 the lead is built without a burst and stays between 200 and 300 ms', async (t) => {
  const parts = senderFor();
  speak(parts, 250);
  parts.clock.move(1000);
  const media = parts.media();
  t.equal(media.length, 50);
  t.equal(media[0]?.atMs, 0, 'the first frame leaves at once');
  for (const [index, message] of media.entries()) {
    const gapMs = message.atMs - (media[index - 1]?.atMs ?? Number.NEGATIVE_INFINITY);
    if (gapMs < 49) t.fail(`frame ${index} followed after ${gapMs} ms`);
    // What the far end still has to play when this frame has come: it began with the first one.
    const aheadMs = (index + 1) * 100 - message.atMs;
    if (aheadMs > 301) t.fail(`${aheadMs} ms ahead at frame ${index}`);
    if (index >= 4 && aheadMs < 299) t.fail(`only ${aheadMs} ms ahead at frame ${index}`);
  }
  t.ok(media.every((message, index) => index < 4 || index * 100 - message.atMs >= 199));
});

t.test('RT-79 a host that slept catches up frame by frame, never in one piece', async (t) => {
  const parts = senderFor();
  speak(parts, 50);
  const before = parts.media().length;
  const wokeAtMs = parts.clock.nowMs() + 900;
  parts.clock.jump(900);
  for (let frame = 0; frame < 20; frame++) parts.sender.audio(new Int16Array(160).fill(9));
  parts.clock.move(2000);
  const later = parts.media().slice(before);
  t.ok(later.length >= 4);
  for (const [index, message] of later.entries()) {
    if (index > 0) t.ok(message.atMs - (later[index - 1]?.atMs ?? 0) >= 49, 'half a frame apart at least');
  }
  t.ok((later.at(0)?.atMs ?? 0) >= wokeAtMs);
});

t.test(
  'a mark in the middle of a frame waits for the frame and lets speech that follows fill it',
  async (t) => {
    const parts = senderFor();
    speak(parts, 7);
    parts.sender.mark('unit-1');
    for (let frame = 0; frame < 8; frame++) parts.sender.audio(new Int16Array(160).fill(50));
    parts.sender.mark('unit-2');
    parts.clock.move(2000);
    t.same(
      parts.sent.map((message) => message.mark?.name ?? message.event),
      ['media', 'media', 'unit-1', 'media', 'unit-2'],
    );
    const samples = Buffer.concat(parts.media().map(bytesOf));
    t.equal(samples.length, 15 * 320, 'no silence stands between the two units');
    t.notOk(samples.includes(Buffer.alloc(8)), 'nor inside them');
  },
);

t.test('clear drops what waits, frames and marks, and goes out at once; what follows is new', async (t) => {
  const parts = senderFor();
  for (let frame = 0; frame < 40; frame++) parts.sender.audio(new Int16Array(160).fill(1));
  parts.sender.mark('never');
  parts.clock.move(120);
  const left = parts.media().length;
  t.ok(parts.sender.unplayedMs > 400);
  parts.sender.clear();
  t.match(parts.sent.at(-1), { event: 'clear', atMs: 120 });
  t.equal(parts.sender.unplayedMs, 0);
  parts.clock.move(2000);
  t.equal(parts.media().length, left, 'nothing of the reply leaves after clear');
  t.notOk(parts.sent.some((message) => message.event === 'mark'));
  parts.sender.audio(new Int16Array(800).fill(2));
  parts.clock.move(200);
  const fresh = parts.media().slice(left);
  t.equal(fresh.length, 1);
  t.ok(bytesOf(fresh[0] as Sent).every((byte, index) => byte === (index % 2 === 0 ? 2 : 0)));
  t.same(
    parts.sent.map((message) => message.sequence_number),
    parts.sent.map((_, index) => index + 1),
    'the numbers have no gap',
  );
});

t.test('a rate found to be wrong changes the frames that follow', async (t) => {
  const parts = senderFor();
  speak(parts, 10);
  parts.clock.move(500);
  parts.sender.changeRate(16_000);
  t.equal(parts.sender.chunkMs, 100);
  speak(parts, 10);
  parts.clock.move(500);
  t.same(
    parts.media().map((message) => bytesOf(message).length),
    [1600, 1600, 3200, 3200],
  );
});

t.test(
  'RT-79 whatever the speech and its pauses: whole frames, no burst, all samples in order, all marks',
  async () => {
    const turns = fc.array(
      fc.record({ frames: fc.integer({ min: 1, max: 60 }), pauseMs: fc.integer({ min: 0, max: 900 }) }),
      { minLength: 1, maxLength: 8 },
    );
    fc.assert(
      fc.property(turns, fc.constantFrom(null, 320, 1600, 3200), (units, frameBytes) => {
        const parts = senderFor({ frameBytes });
        let value = 0;
        const spoken: number[] = [];
        for (const [index, unit] of units.entries()) {
          const startMs = parts.clock.nowMs();
          for (let frame = 0; frame < unit.frames; frame++) {
            parts.clock.moveTo(Math.max(startMs, startMs + frame * 20 - 280));
            value = (value % 30_000) + 1;
            spoken.push(value);
            parts.sender.audio(new Int16Array(160).fill(value));
          }
          parts.sender.mark(`unit-${index}`);
          parts.clock.move(unit.pauseMs);
        }
        parts.clock.move(30_000);
        const size = frameBytes ?? 1600;
        const media = parts.media();
        const audio = Buffer.concat(media.map(bytesOf));
        const samples = new Int16Array(audio.buffer, audio.byteOffset, audio.length / 2);
        const heard: number[] = [];
        for (let i = 0; i < samples.length; i += 160) if (samples[i] !== 0) heard.push(samples[i] as number);
        const gapMs = (size / 16) * 0.5 - 1.5;
        const calm = media.every((m, i) => i === 0 || m.atMs - (media[i - 1]?.atMs ?? 0) >= gapMs);
        const marks = parts.sent.flatMap((message) => message.mark?.name ?? []);
        return (
          media.every((message) => bytesOf(message).length === size) &&
          calm &&
          heard.join() === spoken.join() &&
          marks.join() === units.map((_, index) => `unit-${index}`).join()
        );
      }),
      { seed: 79, numRuns: 150 },
    );
  },
);
