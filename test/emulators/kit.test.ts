import { get, request } from 'node:http';
import t, { type Test } from 'tap';
import { type ClientOptions, WebSocket } from 'ws';
import { within } from '../../src/platform/clock.ts';
import { HandClock } from '../harness/hand-clock.ts';
import { type EmulatorOptions, startEmulator } from './kit/emulator.ts';
import { checkFields, checkQuery, type Fields } from './kit/field-rules.ts';
import { testAuthority } from './kit/test-authority.ts';

const SECRET = 'sk-very-secret-key';

/** A vendor that says back what it hears, and streams numbers over HTTP. */
function start(t: Test, options: Partial<EmulatorOptions> = {}) {
  return startEmulator({
    vendor: 'echo',
    secrets: [SECRET],
    sockets: [
      {
        path: '/listen',
        admit: (handshake) =>
          handshake.query.get('ok') === 'no' ? { status: 400, body: { err_code: 'Bad' } } : undefined,
        session(socket) {
          socket.onText((json) => socket.answer({ type: 'Echo', json }));
        },
      },
    ],
    http: [
      {
        method: 'POST',
        path: '/stream',
        async handle(exchange) {
          const sse = await exchange.sse({ lineEnd: '\r\n' });
          for (const word of ['नमस्ते', 'two', 'three']) if (!(await sse.event({ word }))) return;
          await sse.end();
        },
      },
    ],
    ...options,
  }).then((emulator) => {
    t.teardown(() => emulator.close());
    return emulator;
  });
}

interface Seen {
  opened: Promise<boolean>;
  messages: string[];
  closed: Promise<number>;
  refused: Promise<{ status: number; headers: Record<string, unknown>; body: string } | Error>;
  socket: WebSocket;
}

function connect(url: string, options: ClientOptions = {}): Seen {
  const socket = new WebSocket(url, { perMessageDeflate: false, ...options });
  const messages: string[] = [];
  socket.on('message', (data) => messages.push(String(data)));
  const opened = new Promise<boolean>((resolve) => {
    socket.once('open', () => resolve(true));
    socket.once('error', () => resolve(false));
  });
  const closed = new Promise<number>((resolve) => {
    socket.once('close', resolve);
  });
  const refused: Seen['refused'] = new Promise((resolve) => {
    socket.on('unexpected-response', (_, response) => {
      let body = '';
      response.on('data', (chunk) => {
        body += chunk;
      });
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body }),
      );
    });
    socket.on('error', resolve);
  });
  return { opened, messages, closed, refused, socket };
}

t.test('a client is let in, heard and answered, and its key stands nowhere in the log', async (t) => {
  const emulator = await start(t);
  const client = connect(`${emulator.wsUrl}/listen?model=x&sample_rate=8000`, {
    headers: { authorization: `Token ${SECRET}` },
  });
  await client.opened;
  client.socket.send(Buffer.alloc(320));
  client.socket.send(Buffer.alloc(320));
  client.socket.send(JSON.stringify({ type: 'Hello', id: 'a1' }));
  await emulator.log.waitFor((entry) => entry.direction === 'out' && entry.kind === 'text');
  client.socket.close(1000);
  await emulator.log.waitFor((entry) => entry.kind === 'close');
  t.same(emulator.log.normalise({ only: 'client' }), [
    '> GET /listen?model=x&sample_rate=8000',
    '> authorization: Token ***',
    '> audio',
    '> {"id":"*","type":"Hello"}',
    '> close 1000',
  ]);
  t.notMatch(JSON.stringify(emulator.log.entries), SECRET);
  t.match(emulator.counters(), { handshakes: 1, openSockets: 0 });
  t.ok(emulator.counters().bytesIn >= 640);
  t.same(emulator.violations.list, []);
});

t.test(
  'handshakes are refused with status, headers and body, reset, or left without an answer',
  async (t) => {
    const emulator = await start(t);
    t.match(await connect(`${emulator.wsUrl}/listen?ok=no`).refused, {
      status: 400,
      body: '{"err_code":"Bad"}',
    });
    emulator.control.next({ status: 429, headers: { 'retry-after': '7' }, body: 'slow down' });
    t.match(await connect(`${emulator.wsUrl}/listen`).refused, {
      status: 429,
      headers: { 'retry-after': '7' },
      body: 'slow down',
    });
    emulator.control.next({ reset: true });
    t.match(await connect(`${emulator.wsUrl}/listen`).refused, { code: 'ECONNRESET' });
    emulator.control.next({ never: true });
    t.match(await connect(`${emulator.wsUrl}/listen`, { handshakeTimeout: 300 }).refused, /timed out/);
    emulator.control.next({ slowMs: 50 });
    const late = connect(`${emulator.wsUrl}/listen`);
    t.equal(await late.opened, true);
    late.socket.terminate();
    await connect(`${emulator.wsUrl}/nowhere`).refused;
    t.same(emulator.violations.take(), ['echo: no socket at /nowhere']);
    t.match(emulator.counters(), { refused: 3 });
  },
);

t.test('a live connection breaks in every way that is ordered', async (t) => {
  const emulator = await start(t);
  const open = async () => {
    const client = connect(`${emulator.wsUrl}/listen`);
    await client.opened;
    const socket = await emulator.control.opened(emulator.counters().handshakes);
    return { client, socket };
  };

  const closed = await open();
  closed.socket.close(1011, 'NET-0001');
  t.equal(await closed.client.closed, 1011);
  const cut = await open();
  cut.socket.cut();
  t.equal(await cut.client.closed, 1006);
  const inFrame = await open();
  inFrame.socket.cutInFrame();
  t.equal(await inFrame.client.closed, 1006);

  const odd = await open();
  odd.socket.send({ type: 'Results', text: 'one' });
  odd.socket.duplicateLast();
  odd.socket.sendHalfJson();
  odd.socket.sendUnknown();
  odd.socket.delayAllMs = 60;
  odd.socket.close(1000);
  t.equal(await odd.client.closed, 1000);
  t.equal(odd.client.messages.length, 4);
  t.equal(odd.client.messages[0], odd.client.messages[1]);
  t.throws(() => JSON.parse(odd.client.messages[2] ?? ''));
  t.match(JSON.parse(odd.client.messages[3] ?? ''), { type: 'SomethingNew' });

  const silent = await open();
  const pong = new Promise((resolve) => silent.client.socket.once('pong', () => resolve('pong')));
  silent.socket.goSilent();
  silent.client.socket.ping();
  silent.client.socket.send('{}');
  silent.socket.send({ type: 'Lost' });
  t.equal(await within(pong, 300, 'nothing'), 'nothing', 'a half-open connection does not even pong');
  silent.socket.wake();
  t.equal(await pong, 'pong');
  silent.client.socket.terminate();
});

t.test('a script waits for frames and speaks; a frame that does not come is a violation', async (t) => {
  const clock = new HandClock(1_000);
  const emulator = await start(t, { clock });
  emulator.control.script([
    { expectAudioBytes: 640 },
    { emit: { type: 'Interim', text: 'hel' } },
    { expect: { type: 'Finalize' } },
    { emit: { type: 'Final', text: 'hello' } },
    { expect: { type: 'CloseStream' }, withinMs: 5_000 },
    { close: 1000 },
  ]);
  const client = connect(`${emulator.wsUrl}/listen`);
  await client.opened;
  client.socket.send(Buffer.alloc(640));
  client.socket.send(JSON.stringify({ type: 'KeepAlive' }));
  client.socket.send(JSON.stringify({ type: 'Finalize' }));
  await emulator.log.waitFor((entry) => (entry.json as { type?: string } | undefined)?.type === 'Final');
  t.same(emulator.violations.list, []);
  await clock.advance(5_001);
  t.equal(await client.closed, 1006);
  t.match(emulator.violations.take(), [/script step 4: .*CloseStream.* did not come in time/]);
  t.notMatch(client.messages.join(), 'Echo', 'the vendor is quiet while its script speaks');
});

t.test('TLS: the test authority is trusted, and the handshake can be spoilt', async (t) => {
  const emulator = await start(t, { tls: true });
  const { ca } = testAuthority();
  const client = connect(`${emulator.wsUrl}/listen`, { ca });
  t.equal(await client.opened, true);
  client.socket.terminate();
  t.match(await connect(`${emulator.wsUrl}/listen`).refused, /certificate/);
  emulator.control.next({ tlsFailure: true });
  t.match(await connect(`${emulator.wsUrl}/listen`, { ca }).refused, { code: /SSL|EPROTO/ });
});

/** The answer's pieces as they were read, and whether its end was the proper one. */
function post(url: string): Promise<{ pieces: Buffer[]; complete: boolean; status: number }> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { method: 'POST', agent: false }, (response) => {
      const pieces: Buffer[] = [];
      const done = (complete: boolean) => resolve({ pieces, complete, status: response.statusCode ?? 0 });
      response.on('data', (piece) => pieces.push(piece));
      response.on('end', () => done(true));
      response.on('error', () => done(false));
    });
    asked.on('error', reject);
    asked.end('{"stream":true}');
  });
}

t.test('a stream of events is split inside a character, cut, stalled and refused as ordered', async (t) => {
  const emulator = await start(t);
  const url = `${emulator.httpUrl}/stream`;
  const whole = await post(url);
  const text = Buffer.concat(whole.pieces).toString();
  t.equal(text, 'data: {"word":"नमस्ते"}\r\n\r\ndata: {"word":"two"}\r\n\r\ndata: {"word":"three"}\r\n\r\n');

  emulator.control.next({ stream: { splitAt: [17, 19], betweenMs: 5 } });
  const split = await post(url);
  t.equal(Buffer.concat(split.pieces).toString(), text);
  t.ok(split.pieces.length > 3, `${split.pieces.length} reads`);

  emulator.control.next({ stream: { cutAfterChunks: 2 } });
  const cut = await post(url);
  t.equal(cut.complete, false);
  t.match(Buffer.concat(cut.pieces).toString(), /two"\}\r\n\r\n$/);

  emulator.control.next({ stream: { stallAfterChunks: 1 } });
  const stalled = request(url, { method: 'POST', agent: false });
  stalled.on('error', () => undefined);
  stalled.end();
  await emulator.log.waitFor((entry) => entry.fault === 'stall');
  stalled.destroy();

  emulator.control.next({ status: 503, body: { error: 'busy' } });
  t.equal((await post(url)).status, 503);
  t.equal(emulator.log.of('in', 'request').length, 5);
  t.same(emulator.violations.list, []);
});

t.test('an address that the vendor does not have is a violation', async (t) => {
  const emulator = await start(t);
  const status = await new Promise((resolve) => {
    get(`${emulator.httpUrl}/other`, (response) => resolve(response.resume().statusCode));
  });
  t.equal(status, 404);
  t.same(emulator.violations.list, ['echo: GET /other does not exist']);
});

t.test('unknown keys, wrong types, ranges and repetitions are found', async (t) => {
  const fields: Fields = {
    model: { type: 'string', required: true },
    rate: { type: 'integer', oneOf: [8000, 16_000] },
    level: { type: 'number', min: 0, max: 1 },
    term: { type: 'string', repeatable: true },
    list: { type: 'array', items: { type: 'object', fields: { key: { type: 'string' } } } },
  };
  t.same(checkQuery(new URLSearchParams('model=a&rate=8000&level=0.5&term=a&term=b'), fields), []);
  t.same(
    checkQuery(new URLSearchParams('rate=8k&level=2&level=0&extra=1'), fields),
    [
      'query.rate is not of type integer',
      'query.level is above 1',
      'query: level stands 2 times',
      'query: unknown key extra',
      'query: key model is missing',
    ].sort((a, b) => order(a) - order(b)),
  );
  t.same(checkFields({ model: 'a', list: [{ key: 1 }, { other: '' }] }, fields, 'body'), [
    'body.list[0].key is not of type string',
    'body.list[1]: unknown key other',
  ]);
  t.same(checkFields('text', fields, 'body'), ['body is not an object']);
});

/** The order in which the check above meets the keys. */
function order(text: string): number {
  return ['query.rate', 'query: level', 'query.level', 'query: unknown', 'query: key'].findIndex((start) =>
    text.startsWith(start),
  );
}
