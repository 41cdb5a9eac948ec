import type { IncomingHttpHeaders } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { KEYED_PROVIDERS } from '../../../src/contracts/setting-names.ts';
import { PROBE_NAMES } from '../../../src/control/settings/probes.ts';
import { serveLocally } from '../../harness/local-server.ts';
import { startPlane } from '../../harness/settings-harness.ts';
import { readProjectFile } from '../../harness/source-files.ts';

const PATH = '/api/v1/settings';

/** A storage on loopback behind an address that may be called, as in the tests of the guard itself. */
async function storage(answer: number): Promise<{
  port: number;
  seen: { url: string; headers: IncomingHttpHeaders }[];
  close: () => Promise<void>;
}> {
  const seen: { url: string; headers: IncomingHttpHeaders }[] = [];
  const { port, close } = await serveLocally((request, response) => {
    seen.push({ url: request.url ?? '', headers: request.headers });
    response.writeHead(answer, answer === 302 ? { location: 'http://127.0.0.1/elsewhere' } : {});
    response.end('<Error/>');
  });
  return { port, seen, close };
}

const seeds = {
  s3_endpoint: 'http://storage.example.org',
  s3_bucket: 'recordings',
  outbound_allowed_networks: '10.9.0.0/16',
  s3_secret_access_key: 'storage-secret-0123',
};
const resolve = async () => ['10.9.8.7'];

for (const [status, outcome] of [
  [200, 'ok'],
  [403, 'ok'],
  [404, 'not_found'],
  [302, 'ok'],
  [503, 'unexpected'],
] as const) {
  t.test(
    `a storage that answers ${status} is reported as ${outcome}, and no key was sent to it`,
    async (t) => {
      const far = await storage(status);
      t.teardown(() => far.close());
      const plane = await startPlane({
        seeds,
        http: { resolve, route: () => ({ address: '127.0.0.1', port: far.port }) },
      });
      t.teardown(() => plane.stop());
      const answer = await plane.call('POST', `${PATH}/probe/storage`, { headers: plane.as('admin') });
      t.equal(answer.status, 200);
      t.match(answer.json, { what: 'storage', outcome, http_status: status });
      t.same(
        far.seen.map(({ url }) => url),
        ['/recordings'],
      );
      t.notMatch(JSON.stringify(far.seen), 'storage-secret-0123');
    },
  );
}

t.test('a storage that is not there, or that the guard does not allow, is unreachable', async (t) => {
  const far = await storage(200);
  await far.close();
  const plane = await startPlane({
    seeds,
    http: { resolve, route: () => ({ address: '127.0.0.1', port: far.port }) },
  });
  t.teardown(() => plane.stop());
  const admin = plane.as('admin');
  const away = await plane.call('POST', `${PATH}/probe/storage`, { headers: admin });
  t.match(away.json, { outcome: 'unreachable', http_status: null });
  await plane.call('PATCH', PATH, { headers: admin, body: { values: { outbound_allowed_networks: [] } } });
  const forbidden = await plane.call('POST', `${PATH}/probe/storage`, { headers: admin });
  t.match(forbidden.json, { outcome: 'unreachable', detail: /private address/ });
});

t.test('what is not set up is named, and an unknown probe does not exist', async (t) => {
  const plane = await startPlane();
  t.teardown(() => plane.stop());
  const admin = plane.as('admin');
  for (const [what, missing] of [
    ['storage', /s3_endpoint/],
    ['media_server', /livekit_url/],
    ['deepgram', /deepgram_api_key/],
    ['openai', /openai_api_key/],
  ] as const) {
    const { status, json } = await plane.call('POST', `${PATH}/probe/${what}`, { headers: admin });
    t.equal(status, 200);
    t.match(json, { what, outcome: 'not_configured', detail: missing });
  }
  t.equal((await plane.call('POST', `${PATH}/probe/elsewhere`, { headers: admin })).status, 404);
});

/** Where each provider looks for the key; its address answers 200 to the right one only. */
const KEY = 'live-0123456789abcdef';
const PROVIDERS: Record<string, { host: string; header: string; value: string }> = {
  openai: { host: 'api.openai.com', header: 'authorization', value: `Bearer ${KEY}` },
  soniox: { host: 'api.soniox.com', header: 'authorization', value: `Bearer ${KEY}` },
  deepgram: { host: 'api.deepgram.com', header: 'authorization', value: `Token ${KEY}` },
  anthropic: { host: 'api.anthropic.com', header: 'x-api-key', value: KEY },
  cartesia: { host: 'api.cartesia.ai', header: 'x-api-key', value: KEY },
  elevenlabs: { host: 'api.elevenlabs.io', header: 'xi-api-key', value: KEY },
  gemini: { host: 'generativelanguage.googleapis.com', header: 'x-goog-api-key', value: KEY },
  google: { host: 'generativelanguage.googleapis.com', header: 'x-goog-api-key', value: KEY },
};

t.test('every account has a probe', async (t) => {
  // Sarvam documents no address that a key could be tried at.
  t.same(Object.keys(PROVIDERS).concat('sarvam').sort(), [...KEYED_PROVIDERS].sort());
  for (const name of KEYED_PROVIDERS) t.ok(PROBE_NAMES.includes(name), name);
});

t.test('a provider key is tried at its own provider, and no answer of ours shows it', async (t) => {
  const cert = readProjectFile('test/control/settings/fixtures/providers-test.cert.pem');
  const key = readProjectFile('test/control/settings/fixtures/providers-test.key.pem');
  const server = createTlsServer({ cert, key }, (request, response) => {
    const { header, value } =
      Object.values(PROVIDERS).find(({ host }) => host === request.headers.host) ?? {};
    response.writeHead(header !== undefined && request.headers[header] === value ? 200 : 401);
    response.end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => new Promise((resolve) => server.close(resolve)));
  const { port } = server.address() as AddressInfo;
  const plane = await startPlane({
    seeds: {
      outbound_allowed_networks: '10.9.0.0/16',
      ...Object.fromEntries(Object.keys(PROVIDERS).map((name) => [`${name}_api_key`, KEY])),
    },
    http: { resolve, ca: cert, route: () => ({ address: '127.0.0.1', port }) },
  });
  t.teardown(() => plane.stop());
  const headers = plane.as('admin');
  for (const what of Object.keys(PROVIDERS)) {
    const answer = await plane.call('POST', `${PATH}/probe/${what}`, { headers });
    t.match(answer.json, { what, outcome: 'ok', http_status: 200 }, what);
    t.notMatch(answer.text, KEY);
  }
  const body = { secrets: { deepgram_api_key: 'revoked-0123456789' } };
  await plane.call('PATCH', PATH, { headers, body });
  const refused = await plane.call('POST', `${PATH}/probe/deepgram`, { headers });
  t.match(refused.json, { outcome: 'refused', http_status: 401 });
  t.notMatch(refused.text, 'revoked');
});
