import { randomBytes } from 'node:crypto';
import { truncateSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { AppError } from '../../src/platform/app-error.ts';
import { createHttpServer, type HttpRequest, type HttpRoute } from '../../src/platform/http-server.ts';
import { tempFolder } from '../harness/temp-folder.ts';
import { until } from '../harness/wait.ts';

/** How long `/slow` takes; tests of what is under way change it. */
const SLOW_MS = 300;
let slowMs = SLOW_MS;
let slowRequests = 0;
const folder = tempFolder();
const bigFile = join(folder, 'big.bin');
const bigBytes = randomBytes(24_000_000);
writeFileSync(bigFile, bigBytes);

const failures: string[] = [];
const aborted: string[] = [];
const route = (
  method: HttpRoute['method'],
  path: string,
  handler: HttpRoute['handler'],
  maxBodyBytes = 1_000,
): HttpRoute => ({ method, path, handler, maxBodyBytes });

function describe(request: HttpRequest) {
  const { method, path, params, headers, remoteAddress, requestId } = request;
  return {
    method,
    path,
    params,
    query: [...request.query],
    headers,
    remoteAddress,
    requestId,
    length: request.body.length,
  };
}

const routes = [
  route('GET', '/echo', async (request) => ({ status: 200, json: describe(request) })),
  route('POST', '/echo', async (request) => ({ status: 200, json: describe(request) })),
  route('PUT', '/body', async (request) => ({ status: 200, body: request.body }), 300_000),
  route('PUT', '/upload', async (request) => ({ status: 200, json: request.body.length }), 10_000_000),
  route('GET', '/items/{id}', async (request) => ({ status: 200, json: describe(request) })),
  route('GET', '/items/{id}/parts/{part}', async (request) => ({ status: 200, json: describe(request) })),
  route('GET', '/empty', async () => ({ status: 204 })),
  route('GET', '/throws', () => {
    throw new Error('secret detail');
  }),
  route('GET', '/rejects', async () => {
    throw new Error('secret detail');
  }),
  route('GET', '/app-error', async () => {
    throw new AppError('at_capacity', 'all lines are busy', { details: { retryAfterSeconds: 7 } });
  }),
  route('GET', '/bad-header', async () => ({ status: 200, headers: { 'x-split': 'a\r\nx-evil: 1' } })),
  route('GET', '/slow', async (request) => {
    await new Promise<void>((resolve) => {
      slowRequests++;
      const timer = setTimeout(resolve, slowMs);
      request.signal.addEventListener('abort', () => {
        clearTimeout(timer);
        aborted.push(request.requestId);
        resolve();
      });
    });
    return { status: 200, body: 'slow' };
  }),
  route('GET', '/big', async () => ({ status: 200, file: { path: bigFile } })),
  route('GET', '/folder', async () => ({ status: 200, file: { path: folder } })),
];

function newServer(trustedProxies: string[] = []) {
  return createHttpServer({
    routes,
    trustedProxies,
    onError: (error) => failures.push(error instanceof Error ? error.message : String(error)),
  });
}

const server = newServer(['127.0.0.0/8']);
const { port } = await server.listen('127.0.0.1', 0);
const url = (path: string) => `http://127.0.0.1:${port}${path}`;
t.teardown(async () => {
  await server.close();
});

/** Sends bytes and returns all that came back until the server closed or `waitMs` passed. */
function raw(bytes: string | Buffer, waitMs = 150): Promise<{ text: string; closed: boolean }> {
  return new Promise((resolve) => {
    let text = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes));
    const done = (closed: boolean) => {
      clearTimeout(timer);
      socket.destroy();
      resolve({ text, closed });
    };
    const timer = setTimeout(() => done(false), waitMs);
    socket.on('data', (data) => {
      text += data.toString('latin1');
    });
    socket.on('error', () => done(true));
    socket.on('close', () => done(true));
  });
}

async function serves(t: Test, comment: string): Promise<void> {
  const answer = await fetch(url('/echo'));
  t.equal(answer.status, 200, comment);
  await answer.text();
}

t.test('a request reaches its handler decoded, with its parts named', async (t) => {
  const answer = await fetch(url('/items/a%20b%2Fc/parts/%E0%A4%85?q=1&q=2&bad=%ff&plus=a+b'), {
    headers: { 'X-Thing': 'one', 'x-request-id': 'request-0815' },
  });
  t.equal(answer.headers.get('x-request-id'), 'request-0815');
  t.match(await answer.json(), {
    method: 'GET',
    params: { id: 'a b/c', part: 'अ' },
    query: [
      ['q', '1'],
      ['q', '2'],
      ['bad', '\ufffd'],
      ['plus', 'a b'],
    ],
    headers: { 'x-thing': 'one' },
    remoteAddress: '127.0.0.1',
  });
});

t.test('every answer has a request id; one that could harm a log is replaced', async (t) => {
  for (const id of ['short', 'with space here', 'x'.repeat(129), '<script>alert</script>']) {
    const answer = await fetch(url('/nowhere'), { headers: { 'x-request-id': id } });
    t.match(answer.headers.get('x-request-id'), /^[0-9a-f-]{36}$/, id);
  }
});

t.test('unknown paths, methods and undecodable parts are told apart', async (t) => {
  const cases: [string, string, number, string][] = [
    ['GET', '/nowhere', 404, 'not_found'],
    ['GET', '/items/', 404, 'not_found'],
    ['GET', '/items/a/', 404, 'not_found'],
    ['GET', '//echo', 404, 'not_found'],
    ['DELETE', '/echo', 405, 'method_not_allowed'],
    ['POST', '/items/a', 405, 'method_not_allowed'],
    ['GET', '/items/%ff', 400, 'bad_request'],
  ];
  for (const [method, path, status, code] of cases) {
    const answer = await fetch(url(path), { method });
    t.equal(answer.status, status, `${method} ${path}`);
    t.equal(answer.headers.get('content-type'), 'application/problem+json');
    t.match(await answer.json(), { status, code, title: String, detail: String, request_id: String });
  }
  const wrong = await fetch(url('/echo'), { method: 'DELETE' });
  t.equal(wrong.headers.get('allow'), 'GET, HEAD, POST');
});

t.test('HEAD answers like GET without the body, and 204 has none', async (t) => {
  const head = await fetch(url('/echo'), { method: 'HEAD' });
  t.equal(head.status, 200);
  t.ok(Number(head.headers.get('content-length')) > 50);
  t.equal(await head.text(), '');
  const empty = await fetch(url('/empty'));
  t.equal(empty.status, 204);
  t.equal(await empty.text(), '');
});

t.test('a handler that throws costs one 500 that tells nothing, and the log gets the error', async (t) => {
  failures.length = 0;
  for (const path of ['/throws', '/rejects', '/bad-header']) {
    const answer = await fetch(url(path));
    t.equal(answer.status, 500, path);
    t.equal(answer.headers.get('x-evil'), null);
    const text = await answer.text();
    t.notMatch(text, /secret/);
    t.match(JSON.parse(text), { code: 'internal', request_id: answer.headers.get('x-request-id') });
  }
  t.strictSame(failures.slice(0, 2), ['secret detail', 'secret detail']);
  t.equal(failures.length, 3);
  const known = await fetch(url('/app-error'));
  t.equal(known.status, 429);
  t.equal(known.headers.get('retry-after'), '7');
  t.match(await known.json(), { code: 'at_capacity', detail: 'all lines are busy' });
});

t.test('bodies arrive whole up to the bound of their route, and beyond it answer 413', async (t) => {
  for (const size of [0, 1, 65_535, 65_536, 300_000]) {
    const body = randomBytes(size);
    const answer = await fetch(url('/body'), { method: 'PUT', body });
    t.equal(answer.status, 200, String(size));
    t.ok(Buffer.from(await answer.arrayBuffer()).equals(body));
  }
  t.equal((await fetch(url('/body'), { method: 'PUT', body: randomBytes(300_001) })).status, 413);
  const chunks = '7ffff\r\n'.concat('x'.repeat(0x7ffff), '\r\n0\r\n\r\n');
  const chunked = await raw(
    `PUT /body HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}`,
    2_000,
  );
  t.match(chunked.text, /^HTTP\/1\.1 413 /);
  t.equal(chunked.text.match(/HTTP\/1\.1 /g)?.length, 1, 'and says so once');
  await serves(t, 'still serving');
});

t.test('chunked bodies and Expect work', async (t) => {
  const chunked = await raw(
    'POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n3\r\nyou\r\n0\r\n\r\n',
  );
  t.match(chunked.text, /^HTTP\/1\.1 200 [\s\S]*"length":8/);
  const expects = await raw(
    'POST /echo HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\nhello',
  );
  t.match(expects.text, /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 [\s\S]*"length":5/);
});

t.test('framing that two parsers could read differently is refused and the connection ends', async (t) => {
  const post = 'POST /echo HTTP/1.1\r\nHost: a\r\n';
  const smuggled = 'GET /items/smuggled HTTP/1.1\r\nHost: a\r\n\r\n';
  for (const head of [
    'Content-Length: 5\r\nContent-Length: 3\r\n',
    'Content-Length: 5\r\nContent-Length: 5\r\n',
    'Content-Length: 5\r\nTransfer-Encoding: chunked\r\n',
    'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n',
    'Transfer-Encoding: gzip\r\n',
    'Transfer-Encoding: gzip, chunked\r\n',
    'Content-Length: 5, 5\r\n',
    'Content-Length: +5\r\n',
    'Content-Length: 0x5\r\n',
    'Host: b\r\nContent-Length: 5\r\n',
  ]) {
    const answer = await raw(`${post}${head}\r\nhello${smuggled}`, 400);
    t.match(answer.text, /^(HTTP\/1\.1 400 |$)/, head);
    t.notMatch(answer.text, /smuggled/, head);
    t.ok(answer.closed, head);
  }
  await serves(t, 'still serving');
});

t.test('an X-Forwarded-For counts as far as trusted proxies wrote it', async (t) => {
  const seenAs = async (forwarded: string) =>
    (
      (await (await fetch(url('/echo'), { headers: { 'x-forwarded-for': forwarded } })).json()) as {
        remoteAddress: string;
      }
    ).remoteAddress;
  t.equal(await seenAs('203.0.113.9'), '203.0.113.9');
  t.equal(await seenAs('6.6.6.6, 203.0.113.9, 127.0.0.7'), '203.0.113.9');
  t.equal(await seenAs('nonsense'), '127.0.0.1');
  const plain = newServer();
  const bound = await plain.listen('127.0.0.1', 0);
  const answer = await fetch(`http://127.0.0.1:${bound.port}/echo`, {
    headers: { 'x-forwarded-for': '203.0.113.9' },
  });
  t.match(await answer.json(), { remoteAddress: '127.0.0.1' });
  await plain.close();
  t.throws(() => newServer(['10.0.0.0/99']), { code: 'bad_setting' });
});

t.test('a client that leaves aborts its request, and the handler may go on without harm', async (t) => {
  aborted.length = 0;
  slowRequests = 0;
  slowMs = 60_000;
  t.teardown(() => {
    slowMs = SLOW_MS;
  });
  const sockets: Socket[] = [];
  for (let i = 0; i < 20; i++) {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write(`GET /slow HTTP/1.1\r\nHost: a\r\nx-request-id: leaver-${i}-00000\r\n\r\n`);
    sockets.push(socket);
  }
  await until(() => slowRequests === 20, 'all are under way');
  for (const socket of sockets) socket.destroy();
  await until(() => aborted.length === 20, 'all are aborted');
  await serves(t, 'still serving');
});

t.test('a download goes at the speed of its reader and ends when the reader leaves', async (t) => {
  const before = process.memoryUsage().rss;
  const body = await new Promise<Buffer>((resolve, reject) => {
    request(url('/big'), (response) => {
      const parts: Buffer[] = [];
      let pauses = 0;
      response.on('data', (part: Buffer) => {
        parts.push(part);
        if (pauses++ % 40 !== 0) return;
        response.pause();
        setTimeout(() => response.resume(), 5);
      });
      response.on('end', () => resolve(Buffer.concat(parts)));
      response.on('error', reject);
    })
      .on('error', reject)
      .end();
  });
  t.ok(body.equals(bigBytes), 'every byte in its place');

  const leavers = Array.from({ length: 10 }, () => {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.pause();
    socket.write('GET /big HTTP/1.1\r\nHost: a\r\n\r\n');
    return socket;
  });
  await new Promise((resolve) => setTimeout(resolve, 200));
  const grown = process.memoryUsage().rss - before;
  t.ok(
    grown < 160_000_000,
    `ten stalled readers of 24 MB hold no ten copies (${Math.round(grown / 1e6)} MB)`,
  );
  for (const socket of leavers) socket.destroy();
  await serves(t, 'still serving');
});

t.test('a file that shrinks under a download breaks that download only', async (t) => {
  const path = join(folder, 'shrinking.bin');
  writeFileSync(path, bigBytes);
  const shrinking = createHttpServer({
    routes: [route('GET', '/shrinking', async () => ({ status: 200, file: { path } }))],
    onError: () => undefined,
  });
  const bound = await shrinking.listen('127.0.0.1', 0);
  const socket = connect(bound.port, '127.0.0.1');
  let received = 0;
  const ended = new Promise<void>((resolve) => socket.on('close', () => resolve()));
  socket.on('error', () => undefined);
  socket.write('GET /shrinking HTTP/1.1\r\nHost: a\r\n\r\n');
  socket.once('data', () => {
    socket.pause();
    truncateSync(path, 1_000);
    socket.resume();
  });
  socket.on('data', (data) => {
    received += data.length;
  });
  await ended;
  t.ok(received < bigBytes.length, 'the client can tell that it is incomplete');
  await shrinking.close();
  const missing = await fetch(url('/folder'));
  t.equal(missing.status, 404, 'a folder is no file');
});

t.test('requests beyond the bound are told to come back, and those inside it are served', async (t) => {
  const statuses = await Promise.all(
    Array.from({ length: 1_100 }, async (_, i) => {
      const { text } = await raw(
        `GET /slow HTTP/1.1\r\nHost: a\r\nConnection: close\r\nx-request-id: crowd-${i}-000000\r\n\r\n`,
        3_000,
      );
      return text.slice(9, 12);
    }),
  );
  const served = statuses.filter((status) => status === '200').length;
  const refused = statuses.filter((status) => status === '429').length;
  t.equal(served + refused, 1_100);
  t.ok(served >= 1_024, 'the bound is 1024');
  await serves(t, 'still serving');
});

t.test('bodies beyond the memory bound are refused, and the memory comes back', async () => {
  const size = 8_000_000;
  const uploads = Array.from({ length: 20 }, () => {
    const socket = connect(port, '127.0.0.1');
    let answer = '';
    socket.on('error', () => undefined);
    socket.on('data', (data) => {
      answer += data.toString('latin1');
    });
    socket.write(`PUT /upload HTTP/1.1\r\nHost: a\r\nContent-Length: ${size}\r\n\r\n`);
    socket.write(Buffer.alloc(size - 1));
    return { socket, answer: () => answer };
  });
  const refused = () => uploads.filter((upload) => upload.answer().startsWith('HTTP/1.1 429 ')).length;
  await until(() => refused() >= 3, 'of 20 uploads of 8 MB against a bound of 128 MB three are refused');
  for (const { socket } of uploads) socket.destroy();
  const whole = () => fetch(url('/upload'), { method: 'PUT', body: Buffer.alloc(size) }).catch(() => null);
  await until(async () => (await whole())?.status === 200, 'another upload is taken');
});

t.test('closing lets open requests finish and takes no new ones', async (t) => {
  const closing = newServer();
  const bound = await closing.listen('127.0.0.1', 0);
  slowRequests = 0;
  slowMs = 1_000;
  const slow = fetch(`http://127.0.0.1:${bound.port}/slow`);
  await until(() => slowRequests === 1, 'the request is under way');
  const closed = closing.close();
  t.equal(closing.close(), closed, 'twice is once');
  const answer = await slow;
  t.equal(await answer.text(), 'slow');
  await closed;
  await t.rejects(fetch(`http://127.0.0.1:${bound.port}/echo`));
});

t.test('a taken port is refused with a sentence', async (t) => {
  const second = newServer();
  await t.rejects(second.listen('127.0.0.1', port), { code: 'bad_setting', message: new RegExp(`${port}`) });
  await second.close();
});
