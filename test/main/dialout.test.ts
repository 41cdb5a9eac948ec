import t, { type Test } from 'tap';
import type { DialoutRequest } from '../../src/contracts/dialout.ts';
import { underPressure } from '../../src/contracts/fleet-refusals.ts';
import { openFleetIngress } from '../../src/main/ingress/fleet-ingress.ts';
import type { DialOut } from '../../src/main/ingress/room-routes.ts';
import { httpCall } from '../../src/platform/http-client.ts';
import { readSettings } from '../../src/platform/settings.ts';
import { tempFolder } from '../harness/temp-folder.ts';
import { until } from '../harness/wait.ts';
import { call, fleetHealth, quietLogger, rawCaller, startWorker } from '../harness/worker.ts';

const SECRET = 'a secret of the fleet';
const BODY = { bot_id: 'clinic', to_number: '+911140001234' };

// Real processes on a machine that may be busy with other things.
t.setTimeout(280_000);

interface Dialled {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  // biome-ignore lint/suspicious/noExplicitAny: tests look at whatever came back.
  json: any;
}

async function dial(
  port: number,
  body: unknown = BODY,
  headers: Record<string, string> = { 'x-core-secret': SECRET },
  method = 'POST',
): Promise<Dialled> {
  const answer = await httpCall(`http://127.0.0.1:${port}/rtc/dialout`, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    ...(method === 'GET'
      ? {}
      : { body: typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body) }),
    timeoutMs: 10_000,
    maxBytes: 100_000,
  });
  return { status: answer.status, headers: answer.headers, json: JSON.parse(answer.body) };
}

const worker = async () => startWorker(tempFolder(), { CORE_SECRET: SECRET, WS_AUTH: 'secret' });

t.test(
  'R162 R166 a real host refuses in order: who is asking, what they ask, and only then how it fares',
  async (t) => {
    const main = await worker();
    const port = main.fleetPort ?? 0;
    for (const headers of [{}, { 'x-core-secret': 'wrong' }, { 'x-core-secret': '' }]) {
      const answer = await dial(port, { nothing: 'that fits' }, headers as Record<string, string>);
      t.match(answer, { status: 403, json: { error: 'Unauthorized', code: 'forbidden' } });
    }
    t.match(await dial(port, {}), { status: 422, json: { code: 'validation_error' } });
    t.match(await dial(port), {
      status: 503,
      json: { error: 'Media-server SIP is not configured on this host', code: 'sip_not_configured' },
    });
    t.equal((await dial(port, BODY, { 'x-core-secret': SECRET }, 'GET')).status, 405);
    t.equal((await fleetHealth(port)).fleet_available, 2, 'no slot was touched');
    await main.stop();
  },
);

t.test('R162 a full host answers 429 at once, and the next call is not queued behind it', async (t) => {
  const main = await startWorker(tempFolder(), { SLOTS: '1' });
  const port = main.fleetPort ?? 0;
  const busy = await call(port, '/ws/echo');
  const answer = await dial(port, BODY, {});
  t.match(answer, { status: 429, json: { error: 'At capacity', code: 'at_capacity' } });
  t.ok(Number(answer.headers['retry-after']) > 0);
  t.match(await dial(port, {}, {}), { status: 422 }, 'a wrong body is told so even then');
  busy.socket.end();
  await until(async () => (await fleetHealth(port)).fleet_available === 1);
  t.equal((await dial(port, BODY, {})).status, 503, 'free again, and still without SIP');
  await main.stop();
});

interface Door {
  port: number;
  dialled: DialoutRequest[];
  state: { draining: boolean; disk: boolean; free: number };
}

/** The real ingress; behind it a list of what it was asked to dial, in place of the media server. */
async function ingress(t: Test, dialOut?: DialOut, env: Record<string, string> = {}): Promise<Door> {
  const dialled: DialoutRequest[] = [];
  const state = { draining: false, disk: false, free: 2 };
  const running = await openFleetIngress({
    settings: readSettings(
      { FLEET_LISTEN: '127.0.0.1:0', CORE_SECRET: SECRET, WS_AUTH: 'secret', ...env },
      '/folder',
      '/install',
    ),
    pool: { lease: () => null, release: () => undefined },
    isDraining: () => state.draining,
    pressure: () => (state.disk ? underPressure('disk_full', 'the disk is full') : null),
    health: () => ({
      status: 'ok',
      fleet_available: state.free,
      fleet_total: 2,
      fleet_busy: 0,
      fleet_reserved: 0,
      fleet_draining: 0,
      accepting: true,
      version: '',
      started_at: '',
      server_time: '',
      reasons: [],
    }),
    dialOut:
      dialOut ??
      (async (request) => {
        dialled.push(request);
        return { status: 'accepted', call_id: 'call-1', room_name: 'room-1' };
      }),
    logger: quietLogger(),
  });
  t.teardown(() => running.close());
  return { port: running.port, dialled, state };
}

t.test('R160 R161 the five fields are dialled, and the answer names call and room', async (t) => {
  const { port, dialled } = await ingress(t);
  const full = {
    ...BODY,
    from_number: '+911140000000',
    connected_event: { customer_name: 'Asha', nested: { due: 12 }, _campaign_session_id: 's-1' },
    config_url: 'https://orchestrator.example.org/config',
  };
  const answer = await dial(port, full);
  t.equal(answer.status, 200);
  t.same(answer.json, { status: 'accepted', call_id: 'call-1', room_name: 'room-1' });
  t.equal((await dial(port)).status, 200, 'two of them are enough');
  t.same(dialled, [full, BODY]);
});

t.test('R160 variables are refused with the name of the field that is taken', async (t) => {
  const { port, dialled } = await ingress(t);
  const answer = await dial(port, { ...BODY, variables: { name: 'Asha' } });
  t.match(answer, { status: 422, json: { errors: [{ pointer: '/variables', msg: /connected_event/ }] } });
  t.same(dialled, []);
});

t.test('what does not fit is refused with the place of the mistake, and nothing is dialled', async (t) => {
  const { port, dialled } = await ingress(t);
  const wrong: [unknown, number, string?][] = [
    ['', 400],
    ['{', 400],
    ['"text"', 422, ''],
    [{ bot_id: 'clinic' }, 422, '/to_number'],
    [{ to_number: '+91114000' }, 422, '/bot_id'],
    [{ ...BODY, bot_id: 'a/b' }, 422, '/bot_id'],
    [{ ...BODY, to_number: 'tel:+91' }, 422, '/to_number'],
    [{ ...BODY, connected_event: [] }, 422, '/connected_event'],
    [{ ...BODY, connected_event: { text: 'x'.repeat(17_000) } }, 422, '/connected_event'],
    [{ ...BODY, config_url: 'http://elsewhere.example.org' }, 422, '/config_url'],
    [{ ...BODY, config_url: 'https://user:word@elsewhere.example.org' }, 422, '/config_url'],
    [{ ...BODY, config_url: 'file:///etc/passwd' }, 422, '/config_url'],
    [{ ...BODY, connected_event: { text: 'x'.repeat(70_000) } }, 413],
    [
      `{"bot_id":"clinic","to_number":"1001","connected_event":{"a":${'['.repeat(30_000)}${']'.repeat(30_000)}}}`,
      400,
    ],
    [Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), 400],
  ];
  for (const [body, status, pointer] of wrong) {
    const answer = await dial(port, body);
    t.equal(answer.status, status, JSON.stringify(body).slice(0, 60));
    if (pointer !== undefined) t.equal(answer.json.errors[0].pointer, pointer);
  }
  const form = { 'x-core-secret': SECRET, 'content-type': 'text/plain' };
  t.equal((await dial(port, BODY, form)).status, 415);
  t.same(dialled, []);
  t.equal((await dial(port)).status, 200, 'the ingress still works');
});

t.test('a host that drains, is under pressure or has no slot says which', async (t) => {
  const { port, state, dialled } = await ingress(t);
  state.free = 0;
  t.match(await dial(port), { status: 429, json: { error: 'At capacity' } });
  state.disk = true;
  t.match(await dial(port), { status: 503, json: { code: 'disk_full' } });
  state.draining = true;
  t.match(await dial(port), { status: 503, json: { code: 'draining' } });
  t.same(dialled, []);
});

t.test(
  'a slot that goes between the look and the call is a full host, and a defect is no hang',
  async (t) => {
    const full = await ingress(t, async () => 'full');
    t.match(await dial(full.port), { status: 429, json: { code: 'at_capacity' } });
    const broken = await ingress(t, async () => {
      throw new Error('a secret detail');
    });
    const answer = await dial(broken.port);
    t.match(answer, { status: 500, json: { code: 'internal' } });
    t.notMatch(JSON.stringify(answer.json), 'secret detail');
  },
);

t.test('without a core secret only this machine dials, and no web page that it shows', async (t) => {
  const { port, dialled } = await ingress(t, undefined, { CORE_SECRET: '', WS_AUTH: 'off' });
  t.equal((await dial(port, BODY, {})).status, 200);
  const pages: Record<string, string>[] = [
    { origin: 'https://elsewhere.example.org' },
    { origin: 'null' },
    { host: 'rebound.example.org' },
    { 'x-forwarded-for': '203.0.113.7' },
  ];
  for (const headers of pages) {
    t.equal((await dial(port, BODY, headers)).status, 403, JSON.stringify(headers));
  }
  t.equal(dialled.length, 1);
});

t.test('a caller that goes away in the middle of its body leaves the ingress as it was', async (t) => {
  const { port, dialled } = await ingress(t);
  const head = [
    'POST /rtc/dialout HTTP/1.1',
    'host: ingress',
    `x-core-secret: ${SECRET}`,
    'content-type: application/json',
    'content-length: 500',
  ];
  const caller = rawCaller(port, `${head.join('\r\n')}\r\n\r\n{"bot_id":`);
  await new Promise((resolve) => setTimeout(resolve, 50));
  caller.socket.destroy();
  t.equal((await dial(port)).status, 200);
  t.equal(dialled.length, 1);
});

t.test('the refusal of a large body arrives although the body was not read', async (t) => {
  const { port } = await ingress(t);
  const answer = await dial(port, { ...BODY, connected_event: { text: 'x'.repeat(900_000) } });
  t.match(answer, { status: 413, json: { code: 'payload_too_large' } });
});
