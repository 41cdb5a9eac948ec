import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { CallResults } from '../../src/contracts/call-results.ts';
import { type FleetIngress, openFleetIngress } from '../../src/main/ingress/fleet-ingress.ts';
import { recordingLink } from '../../src/main/outbox/recording-links.ts';
import { signedLink } from '../../src/platform/recording-link.ts';
import { readSettings } from '../../src/platform/settings.ts';
import { wavHeader } from '../../src/platform/wav.ts';
import { startResultsReceiver } from '../harness/receiver.ts';
import { MEDIA_ENV, post, SECRET } from '../harness/room-orders.ts';
import { tempFolder } from '../harness/temp-folder.ts';
import { until } from '../harness/wait.ts';
import { quietLogger, startWorker } from '../harness/worker.ts';

// Real processes on a machine that may be busy with other things.
t.setTimeout(280_000);

const KEY = '2026/11/22/0b1c2d3e-0000-4000-8000-000000000001.wav';
const PATH = `/recordings/${KEY}`;
const LINK_KEY = 'the key of this host';
const WAV = Buffer.concat([wavHeader({ sampleRate: 8000, channels: 2 }, 400_000), Buffer.alloc(400_000, 7)]);

/** A fleet port with one recording and nothing else. */
async function recordingsPort(t: Test): Promise<{ ingress: FleetIngress; folder: string; origin: string }> {
  const folder = tempFolder();
  mkdirSync(join(folder, '2026/11/22'), { recursive: true });
  writeFileSync(join(folder, KEY), WAV);
  const ingress = await openFleetIngress({
    settings: readSettings(
      { FLEET_LISTEN: '127.0.0.1:0', CORE_SECRET: SECRET, WS_AUTH: 'secret' },
      '/folder',
      '/install',
    ),
    pool: { lease: () => null, release: () => undefined },
    isDraining: () => false,
    pressure: () => null,
    health: () => ({ fleet_available: 0 }) as never,
    recordings: { recordingsFolder: folder, linkKey: LINK_KEY },
    logger: quietLogger(),
  });
  t.teardown(() => ingress.close());
  return { ingress, folder, origin: `http://127.0.0.1:${ingress.port}` };
}

const signer = (baseUrl: string, lifeSeconds = 60) => ({ baseUrl, key: LINK_KEY, lifeSeconds });

t.test('R93 a signed link gives the recording out, whole or in parts', async (t) => {
  const { origin } = await recordingsPort(t);
  const link = recordingLink(signer(origin), KEY, Date.now()) ?? '';
  const whole = await fetch(link);
  t.equal(whole.status, 200);
  t.equal(whole.headers.get('content-type'), 'audio/wav');
  t.equal(whole.headers.get('cache-control'), 'private, no-store');
  t.equal(whole.headers.get('accept-ranges'), 'bytes');
  t.ok(WAV.equals(Buffer.from(await whole.arrayBuffer())));
  const ranges: [string, number, string | null, Buffer][] = [
    ['bytes=0-43', 206, `bytes 0-43/${WAV.length}`, WAV.subarray(0, 44)],
    ['bytes=399000-', 206, `bytes 399000-${WAV.length - 1}/${WAV.length}`, WAV.subarray(399_000)],
    ['bytes=-10', 206, `bytes ${WAV.length - 10}-${WAV.length - 1}/${WAV.length}`, WAV.subarray(-10)],
    ['bytes=5-2', 200, null, WAV],
    [`bytes=${WAV.length}-`, 416, `bytes */${WAV.length}`, Buffer.alloc(0)],
  ];
  for (const [range, status, contentRange, bytes] of ranges) {
    const answer = await fetch(link, { headers: { range } });
    t.equal(answer.status, status, range);
    t.equal(answer.headers.get('content-range'), contentRange);
    t.ok(bytes.equals(Buffer.from(await answer.arrayBuffer())), range);
  }
  const head = await fetch(link, { method: 'HEAD' });
  t.equal(head.headers.get('content-length'), String(WAV.length));
});

t.test('R93 a link that has ended, was changed or is of another host says what to do', async (t) => {
  const { origin } = await recordingsPort(t);
  const link = recordingLink(signer(origin), KEY, Date.now()) ?? '';
  const refused = async (url: string, headers: Record<string, string> = {}) => {
    const answer = await fetch(url, { headers });
    return { status: answer.status, json: (await answer.json()) as object };
  };
  t.match(await refused(recordingLink(signer(origin, -1), KEY, Date.now()) ?? ''), {
    status: 410,
    json: { code: 'link_expired', detail: /core secret/ },
  });
  const altered = { status: 403, json: { code: 'forbidden', detail: /recording_url .* unchanged/ } };
  const later = link.replace(/expires=\d+/, `expires=${Math.floor(Date.now() / 1_000) + 999_999}`);
  const foreign = { ...signer(origin), key: 'another key' };
  for (const url of [
    `${origin}${PATH}`,
    later,
    link.replace('000000000001', '000000000002'),
    link.replace(/signature=.*/, 'signature='),
    link.slice(0, -1),
    signedLink(foreign, PATH, Date.now()),
    `${origin}${PATH}?expires=&signature=`,
  ]) {
    t.match(await refused(url), altered, url);
  }
  t.match(await refused(`${origin}${PATH}`, { 'x-core-secret': 'wrong' }), altered);
  t.equal((await fetch(`${origin}${PATH}`, { headers: { 'x-core-secret': SECRET } })).status, 200);
  for (const path of [
    '/recordings/2026/11/22/..',
    '/recordings/2026/11/22/%2e%2e%2fx.wav',
    '/recordings/1',
  ]) {
    t.equal((await fetch(`${origin}${path}`, { headers: { 'x-core-secret': SECRET } })).status, 404, path);
  }
});

t.test('R93 a recording that was deleted is 404, by its link too', async (t) => {
  const { origin, folder } = await recordingsPort(t);
  const link = recordingLink(signer(origin), KEY, Date.now()) ?? '';
  rmSync(join(folder, KEY));
  const answer = await fetch(link);
  t.match(
    { status: answer.status, json: await answer.json() },
    { status: 404, json: { code: 'not_found', detail: /no longer/ } },
  );
});

t.test('a reader that leaves in the middle leaves nothing behind', async (t) => {
  const { ingress, origin } = await recordingsPort(t);
  const { pathname, search } = new URL(recordingLink(signer(origin), KEY, Date.now()) ?? '');
  // More than may read at once, one after another: a place that was not given back would be missing at the end.
  for (let reader = 0; reader < 40; reader++) {
    await new Promise<void>((resolve) => {
      const socket = connect(ingress.port, '127.0.0.1', () => {
        socket.write(`GET ${pathname}${search} HTTP/1.1\r\nhost: x\r\n\r\n`);
      });
      socket.once('data', () => socket.destroy());
      socket.once('close', () => resolve());
      socket.on('error', () => undefined);
    });
  }
  await until(async () => (await fetch(`${origin}${pathname}${search}`)).status === 200);
});

t.test('R93 the result of a worker names a link of its host, for as long as the settings say', async (t) => {
  const receiver = await startResultsReceiver();
  const settings = { RECORDING_BASE_URL: 'https://calls.example.org/host-1/', RECORDING_LINK_HOURS: '2' };
  const main = await startWorker(tempFolder(), { ...MEDIA_ENV, ...settings });
  t.teardown(async () => {
    await main.stop();
    await receiver.close();
  });
  const port = main.fleetPort ?? 0;
  const order = { bot_id: 'clinic', to_number: '+911140001234', connected_event: { webhook: receiver.url } };
  const { json } = await post(port, '/rtc/dialout', order);
  await post(port, `/calls/${json.call_id}/hangup`, {});
  await until(() => receiver.got.length === 1);
  const result = receiver.got[0]?.body as CallResults;
  t.equal(result.recording_key, `2026/11/22/${json.call_id}.wav`);
  const link = new URL(result.recording_url ?? '');
  t.equal(
    `${link.origin}${link.pathname}`,
    `https://calls.example.org/host-1/recordings/${result.recording_key}`,
  );
  const lifeSeconds = Number(link.searchParams.get('expires')) - Date.now() / 1_000;
  t.ok(lifeSeconds > 7_000 && lifeSeconds <= 7_200, `${lifeSeconds} s`);
  const own = `http://127.0.0.1:${port}/recordings/${result.recording_key}${link.search}`;
  t.equal((await fetch(own)).status, 200, 'the proxy in front takes its own part of the path away');
});
