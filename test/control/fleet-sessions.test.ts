import t from 'tap';
import { createCallRecordStore } from '../../src/control/calls/lmdb-call-store.ts';
import { createSessionFinder, FORGOTTEN_AFTER_MS } from '../../src/control/fleet/find-sessions.ts';
import { runControl } from '../harness/control.ts';
import { replyJson, serveLocally } from '../harness/local-server.ts';
import { tempFolder } from '../harness/temp-folder.ts';
import { until } from '../harness/wait.ts';

const sorted = (set: ReadonlySet<string> | undefined) => [...(set ?? [])].sort();

t.test('the sessions of all hosts are asked for with the secret, and put together', async (t) => {
  let secret: unknown;
  const host = await serveLocally((request, response) => {
    secret = request.headers['x-core-secret'];
    replyJson(response, 200, { live: ['a'], owed: ['a', 'b'] });
  });
  t.teardown(() => host.close());
  const finder = createSessionFinder({
    own: async () => ({ live: ['own'], owed: ['own'] }),
    urls: () => [host.url],
    coreSecret: 'the secret',
    nowMs: () => 0,
  });
  const known = await finder.ask();
  t.same(sorted(known?.live), ['a', 'own']);
  t.same(sorted(known?.owed), ['a', 'b', 'own']);
  t.equal(secret, 'the secret');
});

t.test('a host that does not say may have any call, until it has been silent for ten minutes', async (t) => {
  let nowMs = 5_000;
  let answer: { status: number; json: object } | null = null;
  const host = await serveLocally((request, response) => {
    if (answer) replyJson(response, answer.status, answer.json);
    else request.socket.destroy();
  });
  t.teardown(() => host.close());
  const finder = createSessionFinder({ urls: () => [host.url], coreSecret: '', nowMs: () => nowMs });
  t.equal(await finder.ask(), null, 'it breaks off');
  for (const [status, json] of [
    [404, {}],
    [403, { error: 'Unauthorized' }],
    [200, { live: 'all' }],
  ] as const) {
    answer = { status, json };
    t.equal(await finder.ask(), null, `${status} ${JSON.stringify(json)}`);
  }
  nowMs += FORGOTTEN_AFTER_MS;
  t.same(sorted((await finder.ask())?.live), [], 'it is gone, and its calls with it');
  answer = { status: 200, json: { live: ['a'], owed: [] } };
  t.same(sorted((await finder.ask())?.live), ['a'], 'and back');
  answer = null;
  t.equal(await finder.ask(), null, 'its silence is counted anew');
  const starting = createSessionFinder({
    own: async () => null,
    urls: () => [],
    coreSecret: '',
    nowMs: () => 0,
  });
  t.equal(await starting.ask(), null, 'own slots that are still starting say nothing');
});

t.test('D-48 a call that a slot still has stays active after its longest time', async (t) => {
  const folder = tempFolder();
  const start = await runControl({}, () => '2026-03-02T12:00:00.000Z', { folder });
  const config = async (session: string) => {
    const event = encodeURIComponent(JSON.stringify({ _campaign_session_id: session }));
    await (await fetch(start.url(`/api/v1/config/demo?connected_event=${event}`))).text();
  };
  await config('bridged');
  await config('gone');
  await start.stop();
  // The sweep of a start looks at once; two days later both are long overdue.
  const again = await runControl({}, () => '2026-03-04T12:00:00.000Z', {
    folder,
    ownSessions: async () => ({ live: ['bridged'], owed: ['bridged'] }),
  });
  t.teardown(async () => {
    await again.stop();
  });
  const calls = createCallRecordStore(again.store);
  await until(async () => (await calls.get('gone'))?.status === 'lost');
  t.match(await calls.get('bridged'), { status: 'active' });
});
