import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { CallRefused } from '../../src/cli/call-refused.ts';
import { samplesToBytes } from '../../src/cli/caller-audio.ts';
import { placeCall } from '../../src/cli/dialler-client.ts';
import { sleepMs } from '../../src/platform/clock.ts';
import { until } from '../harness/wait.ts';
import { startFarEnd, toneFrame } from './far-end.ts';

const ready = { event: 'ready', session_id: 'session-1' };
const media = (samples: Int16Array) =>
  JSON.stringify({ event: 'media', media: { payload: samplesToBytes(samples).toString('base64') } });
const mark = (name: string) => JSON.stringify({ event: 'mark', mark: { name } });

t.test('the first message is connected with the wish for a framing and the custom fields', async (t) => {
  const far = await startFarEnd((socket, message) => {
    if (message.event === 'connected') socket.send(JSON.stringify(ready));
  });
  t.teardown(() => far.close());
  const call = await placeCall({
    url: far.url,
    framing: 'binary',
    connected: { from_number: '+15550100', plan: 'gold' },
  });
  t.match(far.messages[0], {
    event: 'connected',
    from_number: '+15550100',
    plan: 'gold',
    media: { encoding: 'linear16', sample_rate: 8000, framing: 'binary' },
  });
  t.equal(call.sessionId, 'session-1');
  call.drop();
});

t.test('the line never stops: silence flows between clips, at the pace of real time', async (t) => {
  const far = await startFarEnd((socket, message) => {
    if (message.event === 'connected') socket.send(JSON.stringify(ready));
  });
  t.teardown(() => far.close());
  const call = await placeCall({ url: far.url });
  const first = await call.say(toneFrame(10), 'first');
  await sleepMs(200);
  const second = await call.say(toneFrame(5), 'second');
  call.drop();
  await call.closed;
  const frames = call.framesSent + call.framesSkipped;
  const elapsedFrames = (second.endedAtMs - (call.events[0]?.atMs ?? 0)) / 20;
  t.ok(Math.abs(frames - elapsedFrames) <= 3, `${frames} frames in the time of ${elapsedFrames.toFixed(1)}`);
  t.equal(call.spoken.samples.length, call.framesSent * 160 + call.framesSkipped * 0);
  t.ok(first.complete && second.complete);
  t.ok(second.startedAtMs - first.endedAtMs >= 150, 'the pause between the clips was kept');
  const payloads = far.messages.filter((message) => message.event === 'media');
  t.ok(payloads.length > 15);
  for (const payload of payloads) {
    const bytes = Buffer.from((payload.media as { payload: string }).payload, 'base64');
    if (bytes.length !== 320) t.fail(`a frame had ${bytes.length} bytes`);
  }
});

t.test('a mark is answered when the audio before it has been played, not when it arrives', async (t) => {
  const far = await startFarEnd((socket, message) => {
    if (message.event !== 'connected') return;
    socket.send(JSON.stringify(ready));
    socket.send(media(toneFrame(20)));
    socket.send(mark('m1'));
    socket.send(media(toneFrame(10)));
    socket.send(mark('m2'));
  });
  t.teardown(() => far.close());
  const call = await placeCall({ url: far.url });
  await call.until(() => far.messages.filter((message) => message.event === 'mark').length === 2, 60_000);
  const played = call.events.filter((event) => event.type === 'mark_played');
  t.same(
    played.map((event) => event.type === 'mark_played' && event.name),
    ['m1', 'm2'],
  );
  const readyAtMs = call.events.find((event) => event.type === 'ready')?.atMs ?? 0;
  t.ok((played[0]?.atMs ?? 0) - readyAtMs >= 360, '400 ms of audio stand before the first mark');
  t.ok((played[1]?.atMs ?? 0) - (played[0]?.atMs ?? 0) >= 160, '200 ms stand between the two');
  call.drop();
});

t.test(
  'clear silences the bot at once, and the marks of audio that never sounded are not echoed',
  async (t) => {
    const far = await startFarEnd((socket, message) => {
      if (message.event !== 'connected') return;
      socket.send(JSON.stringify(ready));
      socket.send(media(toneFrame(100)));
      socket.send(mark('never'));
    });
    t.teardown(() => far.close());
    const call = await placeCall({ url: far.url });
    await call.event('bot_started', 60_000);
    await sleepMs(200);
    far.socket().send(JSON.stringify({ event: 'clear' }));
    const clear = await call.event('clear', 60_000);
    const heardAtClear = call.heard.samples.length;
    await call.until(() => call.heard.samples.length >= heardAtClear + 160 * 8, 60_000);
    t.ok((clear?.droppedMs ?? 0) > 1000, `${clear?.droppedMs} ms were dropped`);
    t.same(clear?.droppedMarks, ['never']);
    const after = call.heard.samples.subarray(heardAtClear);
    t.ok(
      after.length >= 160 * 8 && after.every((sample) => sample === 0),
      'nothing but silence is played after clear',
    );
    t.notOk(far.messages.some((message) => message.event === 'mark'));
    t.equal(call.botIsSpeaking, false);
    call.drop();
  },
);

t.test('binary framing carries raw samples both ways', async (t) => {
  const far = await startFarEnd((socket, message) => {
    if (message.event !== 'connected') return;
    socket.send(JSON.stringify(ready));
    socket.send(samplesToBytes(toneFrame(5)));
  });
  t.teardown(() => far.close());
  const call = await placeCall({ url: far.url, framing: 'binary' });
  await call.say(toneFrame(3));
  await call.event('bot_started', 60_000);
  const loud = () => far.binary.filter((frame) => frame.some((byte) => byte !== 0));
  await until(() => loud().length >= 3, 'the frames of the clip');
  t.ok(far.binary.every((frame) => frame.length === 320));
  t.same(Buffer.concat(loud()), samplesToBytes(toneFrame(3)));
  t.equal(call.arrivals[0]?.samples, 800);
  call.drop();
});

t.test('hanging up sends stop and reports the code and reason of the close', async (t) => {
  const far = await startFarEnd((socket, message) => {
    if (message.event === 'connected') socket.send(JSON.stringify(ready));
    if (message.event === 'stop') socket.close(1000, 'bye');
  });
  t.teardown(() => far.close());
  const call = await placeCall({ url: far.url });
  const closed = await call.hangUp('done talking');
  t.match(closed, { code: 1000, reason: 'bye' });
  t.ok(far.messages.some((message) => message.event === 'stop' && message.reason === 'done talking'));
  t.equal((await call.say(toneFrame())).complete, false, 'nothing more can be said');
});

t.test('a refused call tells the status of the fleet port or the close code of the slot', async (t) => {
  const busy = createServer().on('upgrade', (_request, socket) => {
    socket.end('HTTP/1.1 429 Too Many Requests\r\ncontent-length: 23\r\n\r\n{"error":"At capacity"}');
  });
  busy.listen(0, '127.0.0.1');
  await new Promise((resolve) => busy.once('listening', resolve));
  t.teardown(() => busy.close());
  const { port } = busy.address() as AddressInfo;
  const full = await placeCall({ url: `ws://127.0.0.1:${port}/ws/demo` }).catch((error: unknown) => error);
  t.match(full, { status: 429, body: '{"error":"At capacity"}' });

  const far = await startFarEnd((socket) => socket.close(4404, 'no such bot'));
  t.teardown(() => far.close());
  const refused = await placeCall({ url: far.url }).catch((error: unknown) => error);
  t.ok(refused instanceof CallRefused);
  t.match(refused, { status: 4404, body: 'no such bot' });

  const nobody = await placeCall({ url: 'ws://127.0.0.1:1/ws/demo' }).catch((error: unknown) => error);
  t.match(nobody, { status: 0 });
});

t.test(
  'audio that arrives late or in a burst is levelled, and a dry queue in mid-word is counted',
  async (t) => {
    const far = await startFarEnd((socket, message) => {
      if (message.event !== 'connected') return;
      socket.send(JSON.stringify(ready));
      socket.send(media(toneFrame(2)));
      setTimeout(() => socket.send(media(toneFrame(2))), 40);
      setTimeout(() => socket.send(media(toneFrame(2))), 1500);
      setTimeout(() => socket.send(mark('end')), 1510);
    });
    t.teardown(() => far.close());
    const call = await placeCall({ url: far.url, prebufferMs: 500 });
    await call.event('mark_played', 5000);
    t.equal(call.playout.underruns, 1, 'the burst within the buffer was no underrun, the long gap was');
    call.drop();
  },
);
