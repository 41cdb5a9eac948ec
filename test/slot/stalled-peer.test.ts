import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import t from 'tap';
import { MAX_UNSENT_BYTES } from '../../src/contracts/limits.ts';
import { acceptSocket } from '../../src/slot/transport/accept-socket.ts';
import type { LineLoss } from '../../src/slot/transport/call-transport.ts';
import { TelephonyTransport } from '../../src/slot/transport/telephony-transport.ts';
import { until } from '../harness/wait.ts';

const UPGRADE = [
  'GET /ws/demo HTTP/1.1',
  'Host: x',
  'Upgrade: websocket',
  'Connection: Upgrade',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  '',
  '',
].join('\r\n');

/** A transport over a real socket, and the peer's end of it. */
async function connected(losses: LineLoss[], framing: 'json' | 'binary' = 'json') {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const peer = connect((server.address() as AddressInfo).port, '127.0.0.1');
  peer.on('error', () => undefined);
  const [request, line] = await new Promise<[{ headers: object }, Socket]>((resolve) => {
    server.on('upgrade', (request, line) => resolve([request, line as Socket]));
    peer.write(UPGRADE);
  });
  const headers = request.headers as Record<string, string>;
  const socket = await acceptSocket(
    { request: { method: 'GET', url: '/ws/demo', headers, rawHeaders: [] }, head: '' },
    line,
  );
  if (!socket) throw new Error('the handshake failed');
  const transport = new TelephonyTransport(socket, line, { event: 'connected', media: { framing } });
  transport.attach({
    onAudio: () => undefined,
    onMark: () => undefined,
    onDtmf: () => undefined,
    onStop: () => undefined,
    onGone: (loss) => losses.push(loss),
  });
  transport.ready('session');
  t.teardown(() => {
    peer.destroy();
    line.destroy();
    server.close();
  });
  return { transport, peer, line };
}

t.test('RT-90 a peer that does not read costs bounded memory and loses the call', async (t) => {
  const losses: LineLoss[] = [];
  const { transport, peer, line } = await connected(losses);
  peer.pause();
  const frame = new Int16Array(160);
  let largest = 0;
  // Faster than real time, because the kernel's own buffers hold minutes of audio on a loopback line.
  for (let i = 0; i < 100_000 && losses.length === 0; i++) {
    transport.sendAudio(frame);
    if (i % 50 === 49) {
      await wait(1);
      largest = Math.max(largest, line.writableLength);
      transport.tick();
    }
  }
  t.match(losses, [{ kind: 'stalled', reason: /does not read/ }]);
  t.ok(largest < MAX_UNSENT_BYTES + 50 * 500, `never more than ${largest} bytes waited`);
  t.ok(line.destroyed, 'and the line is cut: a close frame would wait behind the audio');
});

t.test('a peer that reads is never taken for stalled', async (t) => {
  const losses: LineLoss[] = [];
  const { transport, peer } = await connected(losses);
  peer.resume();
  for (let i = 0; i < 40; i++) {
    transport.sendAudio(new Int16Array(160));
    transport.tick();
    await wait(5);
  }
  t.same(losses, []);
});

t.test('RT-91 a frame that waits in the queue does not change when its memory is used again', async (t) => {
  for (const framing of ['json', 'binary'] as const) {
    const { transport, peer } = await connected([], framing);
    peer.pause();
    const received: Buffer[] = [];
    const frame = new Int16Array(160);
    for (let value = 1; value <= 2_000; value++) transport.sendAudio(frame.fill(value));
    frame.fill(-1);
    peer.on('data', (data: Buffer) => received.push(data));
    peer.resume();
    const wanted = (value: number) => {
      const expected = Buffer.from(new Int16Array(160).fill(value).buffer);
      return framing === 'binary' ? expected : Buffer.from(expected.toString('base64'));
    };
    await until(() => Buffer.concat(received).includes(wanted(2_000)), 'the last frame');
    const all = Buffer.concat(received);
    for (const value of [1, 1_000, 2_000]) {
      t.ok(all.includes(wanted(value)), `${framing} frame ${value} arrived as it was when it was sent`);
    }
    t.notOk(all.includes(Buffer.from(frame.buffer)), 'and what was written later did not');
  }
});
