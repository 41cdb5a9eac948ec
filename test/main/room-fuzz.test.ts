import t from 'tap';
import { MEDIA_ENV, ordersIn, post, SECRET, signedWebhook } from '../harness/room-orders.ts';
import { seededRandom } from '../harness/seeded-random.ts';
import { tempFolder } from '../harness/temp-folder.ts';
import { until } from '../harness/wait.ts';
import { fleetHealth, startWorker } from '../harness/worker.ts';

// Real processes on a machine that may be busy with other things.
t.setTimeout(280_000);

const ROUNDS = 400;
const SEED = 20_261_120;

const next = seededRandom(SEED);
const pick = <T>(from: readonly T[]): T => from[Math.floor(next() * from.length)] as T;

/** Bots that end by themselves, so that no round keeps a slot. */
const GOOD: Record<string, Record<string, unknown>> = {
  '/rtc/dispatch': {
    did: '+911140005678',
    room_name: 'sip-in-1',
    participant_identity: 'sip_1',
    sip_headers: {},
  },
  '/rtc/widget': { bot_id: 'refuse', room_name: 'widget-1', participant_identity: 'w', visitor: {} },
  '/rtc/dialout': { bot_id: 'refuse', to_number: '+911150000001', connected_event: {} },
  '/attach': {
    room_name: 'call-1',
    bot_id: 'refuse',
    session_id: 's-1',
    to_number: '1001',
    customer_identity: 'c',
  },
  '/reservations/x/renew': {},
  '/calls/x/hangup': {},
};

const ODD: readonly unknown[] = [
  null,
  true,
  -1,
  1e308,
  '',
  'x'.repeat(3_000),
  '\u0000',
  '\ud800',
  '__proto__',
  [],
  [[]],
  {},
  { constructor: { prototype: 1 } },
  '../../etc/passwd',
  '%{x}',
  '🙂'.repeat(200),
];

/** One to three changes to a good body, or something that is no such body at all. */
function spoil(good: Record<string, unknown>): string {
  const body: Record<string, unknown> = { ...good };
  for (let changes = 1 + Math.floor(next() * 3); changes > 0; changes--) {
    const field = pick([
      ...Object.keys(good),
      '__proto__',
      'variables',
      'lease_id',
      'config_url',
      'toString',
    ]);
    if (next() < 0.2) delete body[field];
    else
      Object.defineProperty(body, field, {
        value: pick(ODD),
        enumerable: true,
        configurable: true,
        writable: true,
      });
  }
  const text = JSON.stringify(body);
  const cut = next();
  if (cut < 0.1) return text.slice(0, Math.floor(next() * text.length));
  if (cut < 0.15) return `[${text}]`;
  return text;
}

const STATUSES = new Set([200, 201, 400, 403, 404, 405, 409, 410, 413, 415, 422, 429, 502, 503]);

t.test('no body, however spoiled, ends main, keeps a slot or is answered without a reason', async (t) => {
  const dataDir = tempFolder();
  const main = await startWorker(dataDir, MEDIA_ENV, { joinWithinMs: 1_000 });
  t.teardown(() => main.stop());
  const port = main.fleetPort ?? 0;
  const seen = new Map<number, number>();
  for (let round = 0; round < ROUNDS; round++) {
    const path = pick(Object.keys(GOOD));
    const text = spoil(GOOD[path] ?? {});
    const answer = await post(port, path, text);
    seen.set(answer.status, (seen.get(answer.status) ?? 0) + 1);
    const told = answer.status < 300 || (typeof answer.json.error === 'string' && answer.json.code);
    if (!STATUSES.has(answer.status) || !told) t.fail(`${answer.status} for ${path} ${text.slice(0, 200)}`);
  }
  t.comment([...seen].map(([status, count]) => `${status}: ${count}`).join(', '));
  t.ok((seen.get(422) ?? 0) > ROUNDS / 4, 'most were read, and refused for what they say');
  for (const { callId } of ordersIn(dataDir)) await post(port, `/calls/${callId}/hangup`, {});
  await until(async () => (await fleetHealth(port)).fleet_available === 2);
});

t.test('no webhook that is rightly signed and strangely made ends main or starts a call', async (t) => {
  const dataDir = tempFolder();
  const main = await startWorker(dataDir, MEDIA_ENV);
  t.teardown(() => main.stop());
  const port = main.fleetPort ?? 0;
  for (const event of [...ODD, { event: 'participant_joined', createdAt: 'soon' }, { event: 7 }]) {
    const { body, headers } = await signedWebhook(event);
    const { status } = await post(port, '/rtc/dispatch', body, headers);
    t.ok(status === 403 || status === 200, `${status} for ${body.slice(0, 40)}`);
  }
  t.same(ordersIn(dataDir), []);
  t.equal((await fleetHealth(port, { 'x-core-secret': SECRET })).fleet_available, 2);
});
