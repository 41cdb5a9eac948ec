import t from 'tap';
import { LineTime } from '../../../src/slot/measure/line-time.ts';
import { seededRandom } from '../../harness/seeded-random.ts';

t.test('RT-10 on a smooth line a sample was spoken when its packet ended, and arrived with it', async (t) => {
  const line = new LineTime();
  for (let packet = 1; packet <= 100; packet++) line.received(160, 5_000 + packet * 20);
  t.equal(line.spokenMs(8_000, 7_000), 6_000);
  t.equal(line.arrivedMs(8_000, 7_000), 6_000);
  // In the middle of a packet: spoken 10 ms before the packet was complete.
  t.equal(line.spokenMs(8_080, 7_000), 6_010);
  t.equal(line.arrivedMs(8_080, 7_000), 6_020);
  t.match(line.figures, { packets: 100, latePackets: 0, jitterMs: 0, latenessP95Ms: 0, receivedMs: 2_000 });
});

t.test('RT-10 packets of 100 ms shift no position; the waiting in them is the carrier’s', async (t) => {
  const line = new LineTime();
  for (let packet = 1; packet <= 50; packet++) line.received(800, packet * 100);
  t.equal(line.spokenMs(8_080, 5_000), 1_010);
  t.equal(line.arrivedMs(8_080, 5_000), 1_100, 'known only with the whole packet');
});

t.test('RT-10 late packets move arrivals and not what was spoken', async (t) => {
  const line = new LineTime();
  const random = seededRandom(10);
  let atMs = 0;
  const delays: number[] = [];
  for (let packet = 1; packet <= 2_000; packet++) {
    // One in ten is late by up to 90 ms; order is kept, as on a socket.
    const delayMs = random() < 0.1 ? random() * 90 : 0;
    atMs = Math.max(atMs, packet * 20 + delayMs);
    delays.push(atMs - packet * 20);
    line.received(160, atMs);
  }
  for (let packet = 1_000; packet <= 1_990; packet += 37) {
    const sample = packet * 160;
    const delay = delays[packet - 1] ?? 0;
    const spokenMs = line.spokenMs(sample, atMs);
    const arrivedMs = line.arrivedMs(sample, atMs);
    if (Math.abs(spokenMs - packet * 20) > 1e-6) t.equal(spokenMs, packet * 20, `packet ${packet}`);
    if (Math.abs(arrivedMs - packet * 20 - delay) > 1e-6) t.equal(arrivedMs, packet * 20 + delay);
  }
  const { latePackets, latenessP95Ms } = line.figures;
  t.equal(latePackets, delays.filter((delay) => delay > 60).length);
  const p95 = [...delays].sort((a, b) => a - b)[1_899] ?? 0;
  t.ok(Math.abs((latenessP95Ms ?? -1) - p95) <= 5, `${latenessP95Ms} ms for ${p95}`);
});

t.test('clocks that drift apart by 200 ppm do not look like a late line', async (t) => {
  const line = new LineTime();
  let atMs = 0;
  for (let packet = 1; packet <= 90_000; packet++) {
    atMs = packet * 20 * 1.0002;
    line.received(160, atMs);
  }
  const { latePackets, latenessP95Ms } = line.figures;
  t.equal(latePackets, 0);
  t.ok((latenessP95Ms ?? 99) <= 5);
  const sample = 89_000 * 160;
  t.ok(Math.abs(line.spokenMs(sample, atMs) - 89_000 * 20 * 1.0002) < 10);
});

t.test('filled-in silence moves the line clock and is counted as missing', async (t) => {
  const line = new LineTime();
  for (let packet = 1; packet <= 50; packet++) line.received(160, packet * 20);
  line.filledIn(8_000, 2_000);
  for (let packet = 1; packet <= 50; packet++) line.received(160, 2_000 + packet * 20);
  t.match(line.figures, { missingMs: 1_000, receivedMs: 2_000, packets: 100, latePackets: 0, jitterMs: 0 });
  t.equal(line.spokenMs(8_000 + 8_000 + 1_600, 3_000), 2_200);
});

t.test('a gap in the audio is missing audio and no jitter', async (t) => {
  const line = new LineTime();
  for (let packet = 1; packet <= 50; packet++) line.received(160, packet * 20);
  line.filledIn(8_000, 2_000);
  // The carrier goes on 300 ms behind its former pace.
  for (let packet = 1; packet <= 50; packet++) line.received(160, 2_300 + packet * 20);
  t.equal(line.figures.jitterMs, 0);
  t.equal(line.figures.latePackets, 50);
});

t.test('what is not here yet arrives now, and nothing was spoken after its arrival', async (t) => {
  const line = new LineTime();
  t.equal(line.arrivedMs(1_000, 77), 77);
  t.equal(line.spokenMs(1_000, 77), 77);
  line.received(160, 100);
  t.equal(line.arrivedMs(161, 120), 120);
  t.ok(line.spokenMs(4_000, 120) <= 120);
});
