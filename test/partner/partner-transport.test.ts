import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import t, { type Test } from 'tap';
import WebSocket, { WebSocketServer } from 'ws';
import { CLOSE } from '../../src/contracts/wire.ts';
import type { LineLoss, TransportHandlers } from '../../src/slot/transport/call-transport.ts';
import { awaitStart } from '../../src/slot/transport/partner-start.ts';
import { PartnerTransport } from '../../src/slot/transport/partner-transport.ts';
import { until } from '../harness/wait.ts';

/** A carrier and the transport that answers it, over a real socket; both sides keep what they were told. */
async function line(t: Test, path = '/partner/demo', listens = true) {
  const http = createServer();
  const server = new WebSocketServer({ server: http, perMessageDeflate: false });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  const { port } = http.address() as AddressInfo;
  const accepted = once(server, 'connection') as Promise<[WebSocket, { socket: Socket; url?: string }]>;
  const carrier = new WebSocket(`ws://127.0.0.1:${port}${path}`, { perMessageDeflate: false });
  const received: Record<string, unknown>[] = [];
  carrier.on('message', (data) => received.push(JSON.parse(String(data)) as Record<string, unknown>));
  const closed = once(carrier, 'close') as Promise<[number, Buffer]>;
  const [socket, request] = await accepted;
  if (carrier.readyState !== carrier.OPEN) await once(carrier, 'open');
  const opening = awaitStart(socket, request.url ?? '');
  carrier.send('{"event":"connected"}');
  carrier.send('{"event":"start","start":{"stream_sid":"s-1","call_sid":"c-1"}}');
  const opened = await opening;
  if (!opened) throw new Error('the stream did not open');
  const told: unknown[] = [];
  const remarks: unknown[] = [];
  let samples = 0;
  let lost: LineLoss | undefined;
  const transport = new PartnerTransport(socket, request.socket, opened, (event, detail) =>
    remarks.push({ event, ...detail }),
  );
  const handlers: TransportHandlers = {
    onAudio: (audio) => {
      samples += audio.length;
    },
    onMark: (name) => told.push({ mark: name }),
    onDtmf: (digit) => told.push({ digit }),
    onStop: (reason) => told.push({ stop: reason }),
    onCleared: () => told.push('cleared'),
    onGone: (loss) => {
      lost = loss;
    },
  };
  const listen = () => {
    transport.attach(handlers);
    socket.resume();
  };
  if (listens) listen();
  t.teardown(() => {
    carrier.terminate();
    server.close();
    http.close();
  });
  return {
    carrier,
    transport,
    received,
    told,
    remarks,
    closed,
    samples: () => samples,
    lost: () => lost,
    socket,
    listen,
  };
}

function audioOf(message: Record<string, unknown>): Buffer {
  return Buffer.from((message.media as { payload: string } | undefined)?.payload ?? '', 'base64');
}

t.test('R18 RT-17 what the carrier says reaches the call in its order', async (t) => {
  const { carrier, told, transport, lost } = await line(t);
  transport.ready();
  carrier.send('{"event":"mark","mark":{"name":"unit-1"}}');
  carrier.send('{"event":"dtmf","dtmf":{"digit":"#","duration":"120"}}');
  carrier.send('{"event":"clear","stream_sid":"s-1"}');
  carrier.send('{"event":"stop","stop":{"reason":"callended"}}');
  t.ok(await until(() => told.length === 4));
  t.strictSame(told, [{ mark: 'unit-1' }, { digit: '#' }, 'cleared', { stop: 'callended' }]);
  carrier.close(1000, 'done');
  t.ok(await until(() => lost() !== undefined));
  t.match(lost(), { kind: 'closed', reason: /carrier with 1000: done/ });
});

t.test('R18 the bot speaks, is cut and closes in words that the carrier knows', async (t) => {
  const { transport, received, closed } = await line(t);
  t.equal(transport.chunkMs, 100);
  t.ok(transport.leadMs >= 200 && transport.leadMs <= 300);
  transport.ready();
  for (let frame = 0; frame < 12; frame++) transport.sendAudio(new Int16Array(160).fill(1000));
  t.ok(transport.unplayedMs > 100);
  transport.sendMark('unit-1');
  t.ok(await until(() => received.some((message) => message.event === 'mark')));
  transport.sendClear();
  t.equal(transport.unplayedMs, 0);
  t.ok(await until(() => received.at(-1)?.event === 'clear'));
  t.same(
    received.map((message) => message.event),
    ['media', 'media', 'media', 'mark', 'clear'],
  );
  await transport.hangUp('the bot ended the call');
  const [code, reason] = await closed;
  t.equal(code, 1000);
  t.equal(String(reason), 'the bot ended the call');
  t.equal(received.length, 5, 'there is no hang-up message');
});

t.test('R18 a transfer is a close of the stream and nothing else', async (t) => {
  const { transport, received, closed } = await line(t);
  transport.ready();
  t.equal(transport.sendTransfer(), 'by_close');
  await transport.close(CLOSE.transferred, 'transferred');
  const [code] = await closed;
  t.equal(code, 1000);
  t.same(received, [], 'nothing was said about it');
});

t.test('RT-91 audio that is queued does not change when the pacer uses its frame again', async (t) => {
  const { transport, received } = await line(t);
  transport.ready();
  const frame = new Int16Array(160);
  for (let value = 1; value <= 10; value++) transport.sendAudio(frame.fill(value));
  frame.fill(99);
  t.ok(await until(() => received.length === 2));
  const audio = Buffer.concat(received.map(audioOf));
  for (let value = 1; value <= 10; value++) t.equal(audio.readInt16LE((value - 1) * 320), value);
});

t.test('RT-80 audio is resampled both ways and a flood ends the call', async (t) => {
  const { carrier, transport, samples, received, lost, closed } = await line(
    t,
    '/partner/demo?sample-rate=24000&frame-bytes=333',
  );
  t.same(transport.noise(), { bad_frame_bytes: 1 });
  transport.ready();
  const second = Buffer.alloc(48_000).toString('base64');
  carrier.send(`{"event":"media","media":{"payload":"${second}"}}`);
  t.ok(await until(() => samples() > 0));
  t.equal(samples(), 8000, 'a second is a second');
  for (let frame = 0; frame < 5; frame++) transport.sendAudio(new Int16Array(160).fill(5));
  t.ok(await until(() => received.length === 1));
  t.equal(audioOf(received[0] ?? {}).length, 4800);
  for (let i = 0; i < 60; i++) carrier.send(`{"event":"media","media":{"payload":"${second}"}}`);
  t.match(await closed, [1008]);
  t.match(lost(), { kind: 'protocol', reason: /faster than real time/ });
  t.ok(samples() < 20 * 8000, 'most of the flood was dropped');
});

t.test('a carrier that left while the config loaded is found when the call begins', async (t) => {
  const { carrier, socket, transport, listen, lost } = await line(t, '/partner/demo', false);
  carrier.terminate();
  socket.resume();
  t.ok(await until(() => socket.readyState === socket.CLOSED));
  listen();
  t.ok(await until(() => lost() !== undefined));
  t.match(lost(), { kind: 'closed', reason: /left while the config loaded/ });
  transport.sendAudio(new Int16Array(1600));
  transport.sendMark('late');
  transport.sendClear();
  transport.tick();
  t.equal(transport.unplayedMs, 0, 'nothing is kept for a line that is gone');
});
