import { connect } from 'node:net';
import t from 'tap';
import { createHttpServer, EventStream, type HttpReply } from '../../../src/platform/http-server.ts';
import { until } from '../../harness/wait.ts';

const failures: string[] = [];
const open: EventStream[] = [];
let produced = 0;
let endedStreams = 0;

async function* numbers(count: number, piece: string): AsyncGenerator<string> {
  try {
    for (let i = 0; i < count; i++) {
      produced++;
      yield piece;
    }
  } finally {
    endedStreams++;
  }
}

async function* breaksOff(): AsyncGenerator<string> {
  yield 'the beginning';
  throw new Error('the disk is gone');
}

const get = (path: string, handler: () => Promise<HttpReply>) => ({
  method: 'GET' as const,
  path,
  maxBodyBytes: 0,
  handler,
});
const server = createHttpServer({
  routes: [
    get('/numbers', async () => ({ status: 200, stream: numbers(2_000, 'x'.repeat(1_000)) })),
    get('/endless', async () => ({ status: 200, stream: numbers(1_000_000, 'y'.repeat(64_000)) })),
    get('/breaks', async () => ({ status: 200, stream: breaksOff() })),
    get('/events', async () => {
      const stream = new EventStream(() => {
        endedStreams++;
      });
      open.push(stream);
      return stream.reply;
    }),
  ],
  onError: (error) => failures.push(error instanceof Error ? error.message : String(error)),
});
const { port } = await server.listen('127.0.0.1', 0);
const url = (path: string) => `http://127.0.0.1:${port}${path}`;
t.teardown(() => server.close());

t.test('a stream arrives whole and in order', async (t) => {
  const text = await (await fetch(url('/numbers'))).text();
  t.equal(text.length, 2_000_000);
  const head = await fetch(url('/numbers'), { method: 'HEAD' });
  t.equal(head.status, 200);
  t.equal(await head.text(), '');
});

t.test('a reader that stops reading stops the producer, and its leaving ends it', async (t) => {
  produced = 0;
  endedStreams = 0;
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  socket.pause();
  socket.write('GET /endless HTTP/1.1\r\nHost: a\r\n\r\n');
  let last = -1;
  await until(() => {
    const still = produced > 0 && produced === last;
    last = produced;
    return still;
  });
  t.ok(produced < 1_000, `${produced} pieces of 64 KB were asked for, of a million`);
  socket.destroy();
  await until(() => endedStreams === 1);
  t.pass('the producer was told');
});

t.test('a producer that fails breaks its connection, so that nobody takes half for whole', async (t) => {
  failures.length = 0;
  await t.rejects(fetch(url('/breaks')).then((answer) => answer.text()));
  t.same(failures, ['the disk is gone']);
});

t.test('events arrive as they are sent, in the form that browsers read', async (t) => {
  open.length = 0;
  const answer = await fetch(url('/events'));
  t.equal(answer.headers.get('content-type'), 'text/event-stream; charset=utf-8');
  t.equal(answer.headers.get('x-accel-buffering'), 'no');
  const [stream] = open;
  t.ok(stream?.send({ id: 'boot-1', event: 'call.ended', data: { text: 'two\nlines' } }));
  stream?.close({ event: 'bye', data: { reason: 'auth' } });
  t.equal(
    await answer.text(),
    'retry: 3000\n\n' +
      'id: boot-1\nevent: call.ended\ndata: {"text":"two\\nlines"}\n\n' +
      'event: bye\ndata: {"reason":"auth"}\n\n',
  );
  t.equal(stream?.send({ event: 'late', data: null }), false);
});

t.test('a reader of events that takes nothing is let go with a reason', async (t) => {
  open.length = 0;
  endedStreams = 0;
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  socket.pause();
  socket.write('GET /events HTTP/1.1\r\nHost: a\r\n\r\n');
  await until(() => open.length === 1);
  const piece = { text: 'z'.repeat(100_000) };
  let sent = 0;
  // Sent in the turns of the loop, so that the socket has every chance to take what it can.
  while (sent < 2_000 && open[0]?.send({ event: 'e', data: piece })) {
    sent++;
    if (sent % 5 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  t.ok(sent < 2_000, `after ${sent} events of 100 KB the stream was closed`);
  let text = '';
  socket.on('data', (data) => {
    text = (text + data.toString('latin1')).slice(-200);
  });
  socket.resume();
  await until(() => text.includes('slow_consumer'));
  t.match(text, /event: bye\ndata: \{"reason":"slow_consumer"\}/);
  socket.destroy();
  await until(() => endedStreams === 1);
});

t.test('a server that closes ends its streams instead of waiting for them', async (t) => {
  open.length = 0;
  const closing = createHttpServer({
    routes: [get('/events', async () => new EventStream(() => undefined).reply)],
    onError: () => undefined,
  });
  const bound = await closing.listen('127.0.0.1', 0);
  const answer = await fetch(`http://127.0.0.1:${bound.port}/events`);
  const text = answer.text();
  await closing.close();
  t.match(await text, /^retry: 3000/);
});
