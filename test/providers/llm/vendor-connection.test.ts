import { createServer, type Server, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import { openVendorConnection, type VendorConnection } from '../../../src/providers/llm/vendor-connection.ts';
import { until } from '../../harness/wait.ts';

/** Longer than Node's own pool keeps an idle connection, shorter than a pause in a call. */
const PAUSE_MS = 5_500;

const REFUSAL = JSON.stringify({ error: { message: 'There is nothing here.' } });

/** A vendor's front door that, as the real ones, says nothing of how long it keeps a connection. */
async function door(
  t: Test,
): Promise<{ url: string; opened: Socket[]; requests: string[]; open: () => number }> {
  const opened: Socket[] = [];
  const requests: string[] = [];
  let open = 0;
  const server: Server = createServer((socket) => {
    opened.push(socket);
    open++;
    socket.on('error', () => undefined);
    socket.on('close', () => open--);
    socket.on('data', (data) => {
      requests.push(data.toString('latin1').split(' ')[0] ?? '');
      socket.write(`HTTP/1.1 404 Not Found\r\ncontent-length: ${REFUSAL.length}\r\n\r\n`);
      // The body comes a little later, as from a server that is far away.
      setTimeout(() => socket.write(REFUSAL), 20);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    for (const socket of opened) socket.destroy();
    server.close();
  });
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  return { url: `http://127.0.0.1:${port}`, opened, requests, open: () => open };
}

function connect(t: Test, url: string): VendorConnection {
  const connection = openVendorConnection(url);
  t.teardown(() => connection.close());
  return connection;
}

t.test('R8 a connection that was warmed still serves after a pause of the caller', async (t) => {
  const vendor = await door(t);
  const connection = connect(t, vendor.url);
  await connection.warm();
  await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  const response = await connection.fetch(vendor.url, { method: 'GET' });
  await response.text();
  t.same(vendor.requests, ['OPTIONS', 'GET']);
  t.equal(vendor.opened.length, 1, 'over one connection');
});

t.test('R8 closing leaves no connection open, also while one is being warmed', async (t) => {
  const vendor = await door(t);
  const connection = connect(t, vendor.url);
  await connection.warm();
  await connection.close();
  await connection.close();
  await until(() => vendor.open() === 0, 'the vendor sees it close');
  await t.rejects(connection.fetch(vendor.url), 'nothing is sent any more');
  await t.resolves(connection.warm());
});

t.test('R8 each client has connections of its own', async (t) => {
  const vendor = await door(t);
  const first = connect(t, vendor.url);
  const second = connect(t, vendor.url);
  await Promise.all([first.warm(), second.warm()]);
  await first.close();
  const response = await second.fetch(vendor.url, { method: 'GET' });
  t.equal(response.status, 404, 'closing one leaves the other alone');
  t.equal(vendor.opened.length, 2);
});
