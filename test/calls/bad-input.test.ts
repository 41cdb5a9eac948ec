import { setTimeout as wait } from 'node:timers/promises';
import t from 'tap';
import WebSocket from 'ws';
import { Appliance } from '../harness/appliance.ts';
import { BareLoop } from '../harness/bare-loop.ts';
import { ForeignPlane } from '../harness/foreign-plane.ts';
import { placeWhenFree } from '../harness/place-call.ts';

t.setTimeout(280_000);
/** Processes and timers that a call passes from the handshake to its first message. */
const WAITS_OF_A_HANDSHAKE = 20;
const idle = new BareLoop(t);
const plane = await ForeignPlane.start();
const appliance = await Appliance.start({ ...plane.env, SLOTS: '2' });
t.teardown(async () => {
  await appliance.destroy();
  await plane.close();
});
t.beforeEach(() => {
  plane.config = () => ({ status: 200, body: plane.scriptedBot({}) });
});
t.afterEach(async () => {
  await appliance.until((health) => health.fleet_available === 2);
  if (appliance.spooled.length > 0) throw new Error(`left in the spool: ${appliance.spooled}`);
});

const url = () => `${appliance.callUrl}scripted`;

/** Sends one first message on a bare socket; resolves to how the slot closed. */
function firstMessage(message: string | Buffer): Promise<{ code: number; reason: string }> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url(), { perMessageDeflate: false });
    socket.on('error', reject);
    socket.on('open', () => socket.send(message));
    socket.on('close', (code, reason) => resolve({ code, reason: reason.toString() }));
  });
}

t.test('a first message that is not "connected" closes with 1008 and says why', async (t) => {
  const results = plane.results.length;
  for (const [message, reason] of [
    ['{', /malformed JSON/],
    ['[1]', /malformed JSON/],
    ['{"event":"media","media":{"payload":"AAAA"}}', /first message must be "connected"/],
    ['{"event":"something"}', /first message must be "connected"/],
    ['{"event":"connected","media":{"sample_rate":16000}}', /sample_rate must be 8000/],
    ['{"event":"connected","media":{"framing":"opus"}}', /framing must be/],
    [Buffer.alloc(320), /as JSON text/],
  ] as const) {
    const closed = await firstMessage(message);
    t.equal(closed.code, 1008, String(message).slice(0, 40));
    t.match(closed.reason, reason);
  }
  for (const length of [17_000, 300_000]) {
    t.equal((await firstMessage(JSON.stringify({ event: 'connected', x: 'a'.repeat(length) }))).code, 1009);
  }
  t.equal(plane.results.length, results, 'no session, so no result');
});

t.test('a dialler that connects and says nothing is let go after 5 s', async (t) => {
  const socket = new WebSocket(url(), { perMessageDeflate: false });
  const startedAtMs = performance.now();
  const [code, reason] = await new Promise<[number, string]>((resolve) =>
    socket.on('close', (code, reason) => resolve([code, reason.toString()])),
  );
  t.equal(code, 1008);
  t.match(reason, /no "connected" within 5 s/);
  const tookMs = performance.now() - startedAtMs;
  const machineMs = idle.shareMs(WAITS_OF_A_HANDSHAKE, startedAtMs);
  t.ok(
    tookMs > 4_900 && tookMs < 6_500 + machineMs,
    `${tookMs} ms, of which the machine may add ${machineMs}`,
  );
});

t.test('RT-61 strict out, tolerant in: noise inside a call is counted and ignored', async (t) => {
  const before = plane.results.length;
  const call = await placeWhenFree({ url: url() });
  call.send({ event: 'unheard_of', x: 1 });
  call.send({ event: 'media', media: { payload: 'AAA' } });
  call.send({ event: 'media', media: { payload: '????' } });
  call.send({ event: 'media', media: { payload: Buffer.alloc(5).toString('base64') } });
  call.send({ event: 'media' });
  call.send({ event: 'dtmf', dtmf: { digit: 'seven' } });
  call.send({ event: 'dtmf', dtmf: { digit: '7' } });
  call.send({ event: 'mark', mark: { name: 'nobody-set-this' } });
  call.send(Buffer.alloc(320));
  await wait(300);
  t.notOk(call.isClosed, 'the call goes on');
  await call.hangUp();
  const result = (await plane.until(before + 1)).at(-1);
  t.match(result?.events.find((event) => event.event === 'protocol_noise')?.counts, {
    unknown_event: 1,
    bad_media: 4,
    bad_field: 1,
    unexpected_binary: 1,
  });
  t.match(
    result?.events.find((event) => event.event === 'dtmf'),
    { digit: '7' },
  );
});

t.test(
  'malformed JSON in a call, or a message far too large, closes it with a reason and an error result',
  async (t) => {
    for (const [message, code] of [
      ['{"event":', 1008],
      [`"${'x'.repeat(300_000)}"`, 1009],
    ] as const) {
      const before = plane.results.length;
      const call = await placeWhenFree({ url: url() });
      call.send(message);
      t.equal((await call.closed).code, code);
      const result = (await plane.until(before + 1)).at(-1);
      t.equal(result?.disconnected_by, 'error');
      t.equal(result?.session_id, call.sessionId);
    }
  },
);

t.test('a flood faster than real time costs bounded work and ends in 1008', async (t) => {
  const before = plane.results.length;
  const call = await placeWhenFree({ url: url(), keepAudioMs: 0 });
  const second = JSON.stringify({
    event: 'media',
    media: { payload: Buffer.alloc(16_000).toString('base64') },
  });
  for (let i = 0; i < 60 && !call.isClosed; i++) call.send(second);
  const closed = await call.closed;
  t.equal(closed.code, 1008);
  t.match(closed.reason, /faster than real time/);
  const result = (await plane.until(before + 1)).at(-1);
  t.equal(result?.disconnected_by, 'error');
  const counts = result?.events.find((event) => event.event === 'protocol_noise')?.counts;
  t.match(counts, { dropped_audio_ms: Number });
});

t.test(
  'RT-03 a peer that vanishes without a close is noticed, and the call ends as the customer left',
  async (t) => {
    const before = plane.results.length;
    const call = await placeWhenFree({ url: url() });
    await wait(300);
    call.lineHeld = true;
    const result = (await plane.until(before + 1)).at(-1);
    t.equal(result?.disconnected_by, 'customer');
    t.match(result?.end_detail, { reason: /nothing came from the dialler for 1[56] s/ });
    t.ok(result?.events.some((event) => event.event === 'audio_gap'));
    t.ok((result?.end_detail?.filled_seconds as number) > 10, 'the recording went on in silence');
  },
);
