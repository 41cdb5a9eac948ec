import t from 'tap';
import type { HostSessions } from '../../src/contracts/fleet-sessions.ts';
import type { Main } from '../../src/main/main.ts';
import { startResultsReceiver } from '../harness/receiver.ts';
import { MEDIA_ENV, post, SECRET } from '../harness/room-orders.ts';
import { tempFolder } from '../harness/temp-folder.ts';
import { until } from '../harness/wait.ts';
import { startWorker } from '../harness/worker.ts';

// Real processes on a machine that may be busy with other things.
t.setTimeout(280_000);

const ENV = {
  ...MEDIA_ENV,
  ROLE: 'all',
  CONFIG_URL: '',
  CONTROL_LISTEN: '127.0.0.1:0',
  SLOTS: '3',
  LIVEKIT_API_SECRET: 'a-secret-of-the-media-server-long-enough',
};
const BODY = { bot_id: 'demo', to_number: '+911140001234' };
const SESSION = 'campaign-7.call-1';

const dataDir = tempFolder();
const receiver = await startResultsReceiver();
let main: Main = await startWorker(dataDir, ENV);
t.teardown(async () => {
  await main.stop();
  await receiver.close();
});

const dial = (session: unknown, more: object = {}) =>
  post(main.fleetPort ?? 0, '/rtc/dialout', {
    ...BODY,
    connected_event: { webhook: receiver.url, _campaign_session_id: session },
    ...more,
  });

async function sessions(): Promise<HostSessions> {
  const { json } = await post(main.fleetPort ?? 0, '/sessions', undefined, undefined, 'GET');
  return json as HostSessions;
}

/** As a slot of the room call `callId` asks for the config of the session. */
async function config(callId: string) {
  const event = { _campaign_session_id: SESSION, call_id: callId, room_name: 'r', transport: 'rtc_sip' };
  const query = new URLSearchParams({ connected_event: JSON.stringify(event) });
  const answer = await fetch(`http://127.0.0.1:${main.controlPort}/api/v1/config/demo?${query}`, {
    headers: { 'x-core-secret': SECRET },
  });
  return { status: answer.status, json: (await answer.json()) as object };
}

const inUse = { status: 409, json: { error: 'Session in use', code: 'session_in_use' } };

t.test('R85 of two dialouts at once with one session, one is refused before anything rings', async (t) => {
  const answers = await Promise.all([dial(SESSION), dial(SESSION)]);
  t.same(answers.map(({ status }) => status).sort(), [200, 409]);
  t.match(
    answers.find(({ status }) => status === 409),
    inUse,
  );
  const strangers = await post(main.fleetPort ?? 0, '/sessions', undefined, {}, 'GET');
  t.match(strangers, { status: 403, json: { error: 'Unauthorized' } });
  t.match(await sessions(), { live: [SESSION] });
});

t.test('R85 the control plane asks its host before it gives the session away', async (t) => {
  t.match(await config('one'), { status: 200, json: { session_id: SESSION } });
  t.match(await config('two'), { status: 409, json: { code: 'session_in_use', detail: /is live/ } });
});

t.test('R85 an id that can be no session is refused where it is ordered', async (t) => {
  const answer = await dial('call 1/2');
  t.match(answer, {
    status: 422,
    json: { code: 'validation_error', detail: /"call 1\/2" is no session id/ },
  });
  t.match(answer.json.errors, [{ pointer: '/connected_event/_campaign_session_id' }]);
  const attach = {
    bot_id: 'demo',
    room_name: 'r',
    customer_identity: 'c',
    to_number: '1',
    session_id: 'a b',
  };
  t.match(await post(main.fleetPort ?? 0, '/attach', attach), {
    status: 422,
    json: { errors: [{ pointer: '/session_id' }] },
  });
  t.equal(
    (await dial('call 1/2', { config_url: 'https://other.example.org/' })).status,
    200,
    'theirs to judge',
  );
});

t.test('R85 after a restart of main the live call keeps its session, and frees it at its end', async (t) => {
  await main.stop({ leaveCalls: true });
  main = await startWorker(dataDir, ENV);
  t.match(await dial(SESSION), inUse);
  const { live, owed } = await sessions();
  t.ok(live.includes(SESSION) && owed.includes(SESSION));
  const workers = main.health()?.workers ?? [];
  for (const { call_id: callId } of workers) {
    if (callId !== null) await post(main.fleetPort ?? 0, `/calls/${callId}/hangup`, {});
  }
  await until(async () => (await sessions()).owed.length === 0);
  t.ok(receiver.got.some(({ body }) => (body as { session_id: string }).session_id === SESSION));
  t.match(await config('three'), { status: 200, json: { session_id: SESSION } }, 'nobody has it any more');
});
