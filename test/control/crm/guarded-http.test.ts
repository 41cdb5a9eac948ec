import { readFileSync } from 'node:fs';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, createServer } from 'node:net';
import t from 'tap';
import { network } from '../../../src/platform/guarded-http/network.ts';
import { createGuardedHttp, OutboundFailure } from '../../../src/platform/guarded-http.ts';
import { projectPath } from '../../../src/platform/project-paths.ts';
import { CRM_ADDRESS, localHttp, startReceiver, status } from '../../harness/receiver.ts';

const CALL = { method: 'GET', timeoutMs: 5_000, maxBytes: 1_000 } as const;

async function failure(promise: Promise<unknown>): Promise<OutboundFailure> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof OutboundFailure) return error;
    throw error;
  }
  throw new Error('the request should have failed');
}

t.test('a URL that leads to this machine, its network or a metadata service sends nothing', async (t) => {
  const receiver = await startReceiver();
  t.teardown(receiver.close);
  const http = createGuardedHttp({
    allowedNetworks: () => [],
    resolve: async (name) => (name === 'inside.example.test' ? ['192.168.1.9'] : ['127.0.0.1']),
  });
  const urls = [
    `http://127.0.0.1:${receiver.port}/`,
    `http://localhost:${receiver.port}/`,
    `http://localhost.:${receiver.port}/`,
    `http://2130706433:${receiver.port}/`,
    `http://0x7f.1:${receiver.port}/`,
    `http://0177.0.0.1:${receiver.port}/`,
    `http://[::1]:${receiver.port}/`,
    `http://[::ffff:127.0.0.1]:${receiver.port}/`,
    `http://0.0.0.0:${receiver.port}/`,
    `http://rebound.example.test:${receiver.port}/`,
    'https://inside.example.test/',
    'http://169.254.169.254/latest/meta-data/',
    'https://8.8.8.8.nowhere@127.0.0.1/',
    'file:///etc/passwd',
    'gopher://127.0.0.1/',
    'http://93.184.216.34/plain',
    'nonsense',
  ];
  for (const url of urls) t.equal((await failure(http.send(url, CALL))).kind, 'refused', url);
  t.same(receiver.seen, [], 'nothing arrived anywhere');
});

t.test(
  'a name that changes its address between two looks is connected to the one that was judged',
  async (t) => {
    const receiver = await startReceiver();
    t.teardown(receiver.close);
    const answers = [[CRM_ADDRESS], ['127.0.0.1']];
    let asked = 0;
    const dialled: string[] = [];
    const http = createGuardedHttp({
      allowedNetworks: () => [network('10.20.0.0/16')],
      resolve: async () => answers[Math.min(asked++, 1)] ?? [],
      route: (address, port) => {
        dialled.push(address);
        return { address: '127.0.0.1', port };
      },
    });
    const url = `http://rebind.example.test:${receiver.port}/x`;
    t.equal((await http.send(url, CALL)).status, 200);
    t.equal(asked, 1, 'the name was resolved once');
    t.same(dialled, [CRM_ADDRESS]);
    t.equal(receiver.seen[0]?.headers.host, `rebind.example.test:${receiver.port}`);
    t.equal((await failure(http.send(url, CALL))).kind, 'refused', 'the second answer is judged anew');
    t.equal(receiver.seen.length, 1);
  },
);

t.test('one forbidden address among several condemns the name', async (t) => {
  const http = createGuardedHttp({
    allowedNetworks: () => [],
    resolve: async () => ['8.8.8.8', '127.0.0.1'],
  });
  t.equal((await failure(http.send('https://mixed.example.test/', CALL))).kind, 'refused');
});

t.test('a list that an admin changes counts from the next request on', async (t) => {
  const receiver = await startReceiver();
  t.teardown(receiver.close);
  let listed = [network('10.20.0.0/16')];
  const http = createGuardedHttp({
    allowedNetworks: () => listed,
    resolve: async () => [CRM_ADDRESS],
    route: (_address, port) => ({ address: '127.0.0.1', port }),
  });
  const url = `http://crm.example.test:${receiver.port}/`;
  t.equal((await http.send(url, CALL)).status, 200);
  listed = [];
  t.equal((await failure(http.send(url, CALL))).kind, 'refused');
});

t.test('a redirect is an answer and is not followed', async (t) => {
  const elsewhere = await startReceiver();
  const receiver = await startReceiver(status(302, { location: `http://127.0.0.1:${elsewhere.port}/` }));
  t.teardown(async () => {
    await receiver.close();
    await elsewhere.close();
  });
  const answer = await localHttp().send(`http://crm.example.test:${receiver.port}/`, CALL);
  t.equal(answer.status, 302);
  t.same(elsewhere.seen, []);
});

t.test('a large answer is refused at the cap, wherever its length stands', async (t) => {
  const receiver = await startReceiver((_request, response) => {
    response.write('x'.repeat(600));
    response.end('x'.repeat(600));
  });
  t.teardown(receiver.close);
  const url = `http://crm.example.test:${receiver.port}/`;
  t.equal((await failure(localHttp().send(url, CALL))).kind, 'too_large');
  t.equal((await localHttp().send(url, { ...CALL, maxBytes: 1_200 })).body.length, 1_200);
});

t.test(
  'a receiver that keeps silent, a resolver that hangs and a caller who leaves end the wait',
  async (t) => {
    const silent = createServer(() => undefined);
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    t.teardown(() => silent.close());
    const url = `http://crm.example.test:${(silent.address() as AddressInfo).port}/`;
    t.equal((await failure(localHttp().send(url, { ...CALL, timeoutMs: 100 }))).kind, 'timeout');
    const hanging = createGuardedHttp({
      allowedNetworks: () => [],
      resolve: () => new Promise(() => undefined),
    });
    t.equal(
      (await failure(hanging.send('https://slow.example.test/', { ...CALL, timeoutMs: 100 }))).kind,
      'timeout',
    );
    const leaving = new AbortController();
    setTimeout(() => leaving.abort(), 50);
    t.equal((await failure(localHttp().send(url, { ...CALL, signal: leaving.signal }))).kind, 'aborted');
  },
);

t.test('an address that refuses is followed by the next one of the name', async (t) => {
  const receiver = await startReceiver();
  const closed = createServer();
  await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve));
  const deadPort = (closed.address() as AddressInfo).port;
  await new Promise((resolve) => closed.close(resolve));
  t.teardown(receiver.close);
  const http = createGuardedHttp({
    allowedNetworks: () => [network('10.20.0.0/16')],
    resolve: async () => ['10.20.0.1', '10.20.0.2'],
    route: (address, port) => ({ address: '127.0.0.1', port: address === '10.20.0.1' ? deadPort : port }),
  });
  t.equal((await http.send(`http://crm.example.test:${receiver.port}/`, CALL)).status, 200);
});

t.test('line breaks cannot be smuggled into a header', async (t) => {
  const receiver = await startReceiver();
  t.teardown(receiver.close);
  const error = await failure(
    localHttp().send(`http://crm.example.test:${receiver.port}/`, {
      ...CALL,
      headers: { 'x-a': 'b\r\nx-c: d' },
    }),
  );
  t.match(error.message, /HTTP does not allow/);
  t.same(receiver.seen, []);
});

t.test('TLS is checked against the name of the URL although the connection goes to an address', async (t) => {
  const read = (name: string) => readFileSync(projectPath(`test/control/crm/fixtures/${name}`), 'utf8');
  const cert = read('crm-example-test.cert.pem');
  const names: (string | false)[] = [];
  const server = createTlsServer({ cert, key: read('crm-example-test.key.pem') }, (request, response) => {
    names.push((request.socket as unknown as { servername: string | false }).servername);
    response.end('secure');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  const http = (ca?: string) =>
    createGuardedHttp({
      allowedNetworks: () => [],
      resolve: async () => ['93.184.216.34'],
      route: () => ({ address: '127.0.0.1', port }),
      ...(ca === undefined ? {} : { ca }),
    });
  t.equal((await http(cert).send('https://crm.example.test/', CALL)).body, 'secure');
  t.same(names, ['crm.example.test'], 'the handshake carried the name');
  t.match((await failure(http(cert).send('https://other.example.test/', CALL))).message, /TLS/);
  t.match((await failure(http().send('https://crm.example.test/', CALL))).message, /TLS/);
});
