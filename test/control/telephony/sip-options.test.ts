import { createSocket } from 'node:dgram';
import { createServer } from 'node:net';
import t, { type Test } from 'tap';
import { sendOptions } from '../../../src/control/telephony/sip-options.ts';

/** Answers each request with the lines of `reply`, its own headers in between as RFC 3261 section 8.2.6 wants. */
function answer(request: string, status: string): string {
  const copied = request.split('\r\n').filter((line) => /^(Via|From|To|Call-ID|CSeq):/.test(line));
  return [`SIP/2.0 ${status}`, ...copied, 'Content-Length: 0', '\r\n'].join('\r\n');
}

async function udpPeer(
  t: Test,
  statuses: (nth: number) => string[],
): Promise<{ address: string; requests: string[] }> {
  const socket = createSocket('udp4');
  const requests: string[] = [];
  socket.on('message', (data, from) => {
    requests.push(data.toString());
    for (const status of statuses(requests.length)) {
      socket.send(answer(data.toString(), status), from.port, from.address);
    }
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  t.teardown(() => socket.close());
  return { address: `127.0.0.1:${socket.address().port}`, requests };
}

t.test('a peer that answers OPTIONS is there, whatever it says', async (t) => {
  const peer = await udpPeer(t, () => ['100 Trying', '405 Method Not Allowed']);
  t.match(await sendOptions(peer.address, 'auto'), {
    outcome: 'answers',
    status: 405,
    reason: 'Method Not Allowed',
  });
  const [request = ''] = peer.requests;
  t.match(request, new RegExp(`^OPTIONS sip:${peer.address} SIP/2.0\r\n`));
  for (const header of [
    'Via: SIP/2.0/UDP ',
    'Max-Forwards: 70',
    'From: ',
    'To: ',
    'Call-ID: ',
    'CSeq: 1 OPTIONS',
  ]) {
    t.match(request, header);
  }
});

t.test('a request that is lost on the way is sent again', async (t) => {
  const peer = await udpPeer(t, (nth) => (nth < 2 ? [] : ['200 OK']));
  t.match(await sendOptions(peer.address, 'udp'), { outcome: 'answers', status: 200 });
  t.equal(peer.requests.length, 2);
  t.equal(new Set(peer.requests).size, 1, 'the same request, so that the peer sees a repeat');
});

t.test(
  'a peer that says nothing, one that is not there and one that speaks no SIP are told apart',
  async (t) => {
    const silent = await udpPeer(t, () => []);
    t.match(await sendOptions(silent.address, 'udp'), { outcome: 'silent' });
    t.match(await sendOptions('127.0.0.1:9', 'udp'), { outcome: 'failed', detail: /refused/i });
    t.match(await sendOptions('127.0.0.1:9', 'tcp'), { outcome: 'failed', detail: /refused/i });
    t.match(await sendOptions('no-such-name.invalid', 'udp'), { outcome: 'failed' });
    const web = createServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve));
    t.teardown(() => web.close());
    const address = `127.0.0.1:${(web.address() as { port: number }).port}`;
    t.match(await sendOptions(address, 'tcp'), { outcome: 'failed', detail: /not in SIP/ });
  },
);

t.test('over TCP the answer may come in pieces', async (t) => {
  const peer = createServer((socket) => {
    socket.on('data', (data) => {
      const text = answer(data.toString(), '200 OK');
      socket.write(text.slice(0, 20));
      setTimeout(() => socket.write(text.slice(20)), 50);
    });
  });
  await new Promise<void>((resolve) => peer.listen(0, '127.0.0.1', resolve));
  t.teardown(() => peer.close());
  const address = `127.0.0.1:${(peer.address() as { port: number }).port}`;
  t.match(await sendOptions(address, 'tcp'), { outcome: 'answers', status: 200 });
});
