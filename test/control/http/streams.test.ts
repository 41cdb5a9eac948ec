import { connect } from 'node:net';
import t from 'tap';
import { createHttpServer, type HttpReply } from '../../../src/platform/http-server.ts';
import { until } from '../../harness/wait.ts';

const failures: string[] = [];
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

/** A stream with nothing more to say for now; it ends when nobody reads it any more. */
async function* oneThenNothing(): AsyncGenerator<string> {
  yield 'the beginning';
  await new Promise(() => undefined);
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

t.test('a server that closes ends its streams instead of waiting for them', async (t) => {
  const closing = createHttpServer({
    routes: [get('/news', async () => ({ status: 200, stream: oneThenNothing() }))],
    onError: () => undefined,
  });
  const bound = await closing.listen('127.0.0.1', 0);
  const answer = await fetch(`http://127.0.0.1:${bound.port}/news`);
  const text = answer.text();
  await closing.close();
  t.equal(await text, 'the beginning');
});
