import { Webhook } from 'standardwebhooks';
import t from 'tap';
import { MAX_LOGGED_ATTEMPTS, MESSAGE_RETRIES } from '../../../src/control/webhooks/delivery-store.ts';
import { editEndpoint, withNewSecret } from '../../../src/control/webhooks/endpoint-store.ts';
import { replay } from '../../../src/control/webhooks/resend.ts';
import { newWebhookSecret, webhookHeaders } from '../../../src/control/webhooks/sign-webhook.ts';
import { retryWaitMs } from '../../../src/platform/delivery-queue/retry-policy.ts';
import { retryAfterMs } from '../../../src/platform/retry-after.ts';
import { ok, startReceiver, status } from '../../harness/receiver.ts';
import { until } from '../../harness/wait.ts';
import {
  SIGNING_SECRET,
  settled,
  startWebhooks,
  testBox,
  untilWithTime,
} from '../../harness/webhooks-harness.ts';
import { activeCall } from '../call-store-conformance.ts';

const SECOND = 1_000;
const HOUR = 3_600_000;
/** Waits before the attempts of a message; the first goes out at once. */
const ATTEMPT_WAITS_MS = [0, ...MESSAGE_RETRIES.stepsMs];

function waitAfterAttempt(attempts: number, random: number, retryAfterMs: number | null): number | null {
  return retryWaitMs(MESSAGE_RETRIES, attempts, { isTransient: true, retryAfterMs }, random);
}

t.test('a signature is the one that the Standard Webhooks library makes, byte for byte', async (t) => {
  for (let length = 0; length < 200; length += 13) {
    const secret = newWebhookSecret();
    const body = JSON.stringify({ text: 'नमस्ते "x" '.repeat(length) });
    const at = 1_700_000_000 + length;
    const expected = new Webhook(secret).sign('msg_1', new Date(at * 1000), body);
    t.equal(webhookHeaders('msg_1', at, body, [secret])['webhook-signature'], expected);
  }
  t.equal(Buffer.from(newWebhookSecret().slice(6), 'base64').length, 32);
});

t.test('an ended call reaches its webhook once, signed for both secrets of a rotation', async (t) => {
  const f = startWebhooks();
  const receiver = await startReceiver();
  t.teardown(() => Promise.all([f.close(), receiver.close()]));
  const endpoint = await f.webhook(`http://hooks.example.test:${receiver.port}/in`);
  const second = newWebhookSecret();
  await editEndpoint(f.webhookService.endpoints, endpoint.id, (standing) =>
    withNewSecret(standing, testBox.seal(second), f.clock.nowMs(), HOUR),
  );
  await f.startCall('s1');
  await f.endCall('s1');
  await f.endCall('s1');
  await until(
    async () => (await f.webhookService.deliveries.pendingCount()) === 0 && receiver.seen.length > 0,
  );
  await settled();
  t.equal(receiver.seen.length, 1, 'a repeated result makes no second message');
  const [message] = receiver.seen;
  const headers = message?.headers as Record<string, string>;
  const data = JSON.parse(message?.body ?? '') as { type: string; data: Record<string, unknown> };
  t.equal(data.type, 'call.ended');
  t.match(data.data, {
    session_id: 's1',
    disconnected_by: 'customer',
    status: 'completed',
    truncated: false,
  });
  for (const secret of [SIGNING_SECRET, second]) {
    const signedNow = { ...headers, 'webhook-timestamp': headers['webhook-timestamp'] ?? '' };
    const oracle = new Webhook(secret).sign(
      headers['webhook-id'] ?? '',
      new Date(Number(signedNow['webhook-timestamp']) * 1000),
      message?.body ?? '',
    );
    t.ok(
      headers['webhook-signature']?.split(' ').includes(oracle),
      'the holder of this secret can verify it',
    );
  }
  f.clock.move(2 * HOUR);
  await f.startCall('s2');
  await f.endCall('s2');
  await until(() => receiver.seen.length === 2);
  t.equal(
    String(receiver.seen[1]?.headers['webhook-signature']).split(' ').length,
    1,
    'the old secret has retired',
  );
});

t.test('a receiver that fails is asked again on the plan, then the message is a dead letter', async (t) => {
  const f = startWebhooks();
  const receiver = await startReceiver(status(500));
  t.teardown(() => Promise.all([f.close(), receiver.close()]));
  const endpoint = await f.webhook(`http://hooks.example.test:${receiver.port}/in`);
  await f.startCall('s1');
  await f.endCall('s1');
  for (const [index, waitMs] of ATTEMPT_WAITS_MS.entries()) {
    if (index > 0) {
      f.clock.move(waitMs - 1);
      await settled();
      t.equal(receiver.seen.length, index, `nothing before ${waitMs} ms have passed`);
      f.clock.move(1);
    }
    await until(() => receiver.seen.length === index + 1);
    await until(async () => {
      const [row] = await f.webhookService.deliveries.list(endpoint.id, { limit: 1 });
      return row?.attempts_total === index + 1;
    });
  }
  const [dead] = await f.webhookService.deliveries.list(endpoint.id, { limit: 5 });
  t.match(dead, { state: 'dead', attempts_total: 10, last_status: 500, last_error: /answered 500/ });
  f.clock.move(100 * HOUR);
  await settled();
  t.equal(receiver.seen.length, 10, 'a dead letter is not sent by itself');
  t.equal(new Set(receiver.seen.map((seen) => seen.headers['webhook-id'])).size, 1, 'one id in all attempts');
  t.equal(new Set(receiver.seen.map((seen) => seen.headers['webhook-timestamp'])).size, 10);

  receiver.answer = ok;
  t.same(await replay(f.webhookService.deliveries, endpoint.id, { delivery_id: dead?.id }, f.clock.nowMs()), {
    replayed: 1,
    more: false,
  });
  f.webhookService.wake();
  await until(async () => (await f.webhookService.deliveries.get(dead?.id ?? ''))?.state === 'delivered');
  t.equal(receiver.seen.at(-1)?.headers['webhook-id'], dead?.id);
});

t.test('waits keep within a fifth of the plan and a receiver may only lengthen them', async (t) => {
  for (let attempts = 1; attempts < ATTEMPT_WAITS_MS.length; attempts++) {
    const planned = ATTEMPT_WAITS_MS[attempts] ?? 0;
    for (const random of [0, 0.25, 0.5, 1]) {
      const waitMs = waitAfterAttempt(attempts, random, null) ?? 0;
      t.ok(waitMs >= planned * 0.8 - 1 && waitMs <= planned * 1.2 + 1, `${attempts}: ${waitMs}`);
    }
  }
  t.equal(waitAfterAttempt(1, 0.5, 60 * SECOND), 60 * SECOND);
  t.equal(waitAfterAttempt(3, 0.5, 1), ATTEMPT_WAITS_MS[3]);
  t.equal(waitAfterAttempt(1, 0.5, 1e15), 24 * HOUR * 1.2, 'nobody can put a message off for a year');
  t.equal(waitAfterAttempt(10, 0.5, null), null);
  const now = Date.parse('2026-03-01T08:00:00Z');
  t.equal(retryAfterMs('1.5', 24 * HOUR, now), 1.5 * SECOND, 'as vendors write it');
  t.equal(retryAfterMs('120', 24 * HOUR, now), 120 * SECOND);
  t.equal(retryAfterMs('Sun, 01 Mar 2026 08:01:00 GMT', 24 * HOUR, now), 60 * SECOND);
  t.equal(retryAfterMs('Sun, 01 Mar 2026 07:01:00 GMT', 24 * HOUR, now), 0);
  for (const wrong of ['soon', '-1', '2026-03-01', '', undefined]) {
    t.equal(retryAfterMs(wrong, 24 * HOUR, now), null, String(wrong));
  }
});

t.test('Retry-After of 429 and 503 is honoured, that of other answers is not', async (t) => {
  const f = startWebhooks();
  const receiver = await startReceiver(status(429, { 'retry-after': '3600' }));
  t.teardown(() => Promise.all([f.close(), receiver.close()]));
  const endpoint = await f.webhook(`http://hooks.example.test:${receiver.port}/in`);
  await f.startCall('s1');
  await f.endCall('s1');
  const nextIn = async () => {
    const [row] = await f.webhookService.deliveries.list(endpoint.id, { limit: 1 });
    return row?.state === 'pending' && row.attempts > 0 ? row.next_attempt_ms - f.clock.nowMs() : null;
  };
  await until(async () => (await nextIn()) !== null);
  t.equal(await nextIn(), HOUR);
  receiver.answer = status(500, { 'retry-after': '7200' });
  f.clock.move(HOUR);
  await until(() => receiver.seen.length === 2);
  await until(async () => (await nextIn()) === ATTEMPT_WAITS_MS[2]);
});

t.test('410 disables the receiver; what waits for it is given up, nothing new is made', async (t) => {
  const f = startWebhooks();
  const receiver = await startReceiver(status(410));
  t.teardown(() => Promise.all([f.close(), receiver.close()]));
  const endpoint = await f.webhook(`http://hooks.example.test:${receiver.port}/in`);
  await f.startCall('s1');
  await f.endCall('s1');
  await until(() => f.webhookService.endpoints.get(endpoint.id)?.enabled === false);
  t.match(f.webhookService.endpoints.get(endpoint.id)?.disabled, { reason: /410/ });
  await f.startCall('s2');
  await f.endCall('s2');
  await settled();
  t.equal(receiver.seen.length, 1);
  t.same(
    (await f.webhookService.deliveries.list(endpoint.id, { limit: 9 })).map((row) => row.state),
    ['dead'],
  );
});

t.test('a redirect is a failure, and its place is never asked', async (t) => {
  const f = startWebhooks();
  const receiver = await startReceiver(status(307, { location: '/elsewhere' }));
  t.teardown(() => Promise.all([f.close(), receiver.close()]));
  const endpoint = await f.webhook(`http://hooks.example.test:${receiver.port}/in`);
  await f.startCall('s1');
  await f.endCall('s1');
  await until(async () => (await f.webhookService.deliveries.attempts(endpoint.id)).length === 1);
  t.match(await f.webhookService.deliveries.attempts(endpoint.id), [{ error: /redirects are not followed/ }]);
  t.same(
    receiver.seen.map((seen) => seen.path),
    ['/in'],
  );
});

t.test('a receiver hears of the end of a call only after its start', async (t) => {
  const f = startWebhooks();
  const receiver = await startReceiver(status(503));
  t.teardown(() => Promise.all([f.close(), receiver.close()]));
  await f.webhook(`http://hooks.example.test:${receiver.port}/in`, {
    types: ['call.started', 'call.ended', 'call.not_connected'],
  });
  await f.startCall('s1');
  await until(() => receiver.seen.length === 1);
  await f.endCall('s1');
  await settled();
  t.equal(receiver.seen.length, 1, 'the end waits for the start');
  receiver.answer = ok;
  await untilWithTime(f.clock, () => receiver.seen.length === 3);
  t.same(
    receiver.seen.map((seen) => (JSON.parse(seen.body) as { type: string }).type),
    ['call.started', 'call.started', 'call.ended'],
  );
});

t.test(
  'a call that nobody answered is told as not connected, and only to those who asked for it',
  async (t) => {
    const f = startWebhooks();
    const receiver = await startReceiver();
    t.teardown(() => Promise.all([f.close(), receiver.close()]));
    const url = `http://hooks.example.test:${receiver.port}`;
    await f.webhook(`${url}/missed`, { types: ['call.not_connected'] });
    await f.webhook(`${url}/ended`);
    await f.webhook(`${url}/other-bot`, { types: ['call.not_connected'], bot_ids: ['sales'] });
    await f.startCall('s1');
    await f.endCall('s1', { disconnected_by: 'no_answer' });
    await until(() => receiver.seen.length > 0);
    await settled();
    t.same(
      receiver.seen.map((seen) => seen.path),
      ['/missed'],
    );
  },
);

t.test('one slow receiver does not hold up the others', async (t) => {
  const f = startWebhooks();
  const slow = await startReceiver(() => undefined);
  const quick = await startReceiver();
  t.teardown(() => Promise.all([f.close(), slow.close(), quick.close()]));
  await f.webhook(`http://a.example.test:${slow.port}/`);
  await f.webhook(`http://b.example.test:${quick.port}/`);
  for (let call = 0; call < 20; call++) {
    await f.startCall(`s${call}`);
    await f.endCall(`s${call}`);
  }
  await until(() => quick.seen.length === 20);
  t.ok(slow.seen.length <= 2, `the slow one has ${slow.seen.length} requests open`);
});

t.test('many slow receivers with a backlog leave the others their turn', async (t) => {
  const f = startWebhooks({ isIdle: true });
  const slow = await startReceiver(() => undefined);
  const quick = await startReceiver();
  t.teardown(() => Promise.all([f.close(), slow.close(), quick.close()]));
  for (let i = 0; i < 20; i++) await f.webhook(`http://a${i}.example.test:${slow.port}/`);
  await f.webhook(`http://z.example.test:${quick.port}/`);
  for (let call = 0; call < 10; call++) {
    await f.startCall(`s${call}`);
    await f.endCall(`s${call}`);
  }
  await until(async () => (await f.webhookService.deliveries.pendingCount()) === 210);
  f.webhookService.start();
  await until(() => slow.seen.length === 32);
  t.equal(quick.seen.length, 0, 'all places are taken by the slow ones');
  await until(() => quick.seen.length >= 2);
  t.ok(slow.seen.length <= 64, 'one round of time-outs was enough');
});

t.test('the log keeps the last 50 attempts, with no secret in them', async (t) => {
  const f = startWebhooks();
  const receiver = await startReceiver((request, response) => {
    response.end(`you sent ${request.headers.authorization} and ${request.url}`);
  });
  t.teardown(() => Promise.all([f.close(), receiver.close()]));
  const endpoint = await f.webhook(`http://hooks.example.test:${receiver.port}/in?token=geheim123&b=2`, {
    headers_sealed: testBox.seal(JSON.stringify({ authorization: 'Bearer swordfish' })),
  });
  for (let call = 0; call < MAX_LOGGED_ATTEMPTS + 7; call++) {
    f.clock.move(1);
    await f.startCall(`s${call}`);
    await f.endCall(`s${call}`);
  }
  await until(async () => (await f.webhookService.deliveries.pendingCount()) === 0);
  t.equal(receiver.seen.length, MAX_LOGGED_ATTEMPTS + 7);
  t.match(receiver.seen[0], {
    path: '/in?token=geheim123&b=2',
    headers: { authorization: 'Bearer swordfish' },
  });
  const attempts = await f.webhookService.deliveries.attempts(endpoint.id);
  t.equal(attempts.length, MAX_LOGGED_ATTEMPTS);
  t.notMatch(JSON.stringify(attempts), /swordfish|AAECAwQ/);
  t.equal(new URL(attempts[0]?.request.url ?? '').search, '?token=***&b=***');
  t.match(attempts[0], {
    response: { status: 200 },
    request: { headers: { authorization: '***' } },
    error: null,
  });
  t.ok((attempts[0]?.ms ?? -1) >= 0);
});

t.test('a body that is too large for one message leaves the transcript out and says so', async (t) => {
  const f = startWebhooks();
  const receiver = await startReceiver();
  t.teardown(() => Promise.all([f.close(), receiver.close()]));
  await f.webhook(`http://hooks.example.test:${receiver.port}/in`);
  await f.startCall('s1');
  const transcript = Array.from({ length: 1_500 }, (_, i) => ({
    speaker: 'bot',
    text: 'x'.repeat(1_000),
    timestamp: i,
  }));
  await f.endCall('s1', { transcript });
  await until(() => receiver.seen.length === 1);
  const { data } = JSON.parse(receiver.seen[0]?.body ?? '') as { data: Record<string, unknown> };
  t.match(data, { truncated: true, session_id: 's1', disconnected_by: 'customer' });
  t.notOk('transcript' in data);
});

t.test('a clock that was set back by a year keeps no message waiting', async (t) => {
  const f = startWebhooks();
  const receiver = await startReceiver(status(500));
  t.teardown(() => Promise.all([f.close(), receiver.close()]));
  await f.webhook(`http://hooks.example.test:${receiver.port}/in`);
  await f.startCall('s1');
  await f.endCall('s1');
  await until(() => receiver.seen.length === 1);
  await settled();
  f.clock.jump(-365 * 24 * HOUR);
  f.webhookService.wake();
  await until(() => receiver.seen.length === 2);
});

t.test('a deleted call takes its messages and its log lines with it', async (t) => {
  const f = startWebhooks();
  const receiver = await startReceiver(status(500));
  t.teardown(() => Promise.all([f.close(), receiver.close()]));
  const endpoint = await f.webhook(`http://hooks.example.test:${receiver.port}/in`);
  for (const id of ['s1', 's2']) {
    await f.startCall(id);
    await f.endCall(id);
  }
  await until(async () => (await f.webhookService.deliveries.attempts(endpoint.id)).length === 2);
  await f.calls.erase('s1', {
    receipt_id: 'rcp_1',
    session_id: 's1',
    deleted_at: new Date(f.clock.nowMs()).toISOString(),
    deleted_by: { type: 'core', id: null },
    erased_fields: [],
    recording: 'none',
    exports_gone_by: new Date(f.clock.nowMs()).toISOString(),
  });
  await until(async () => (await f.webhookService.deliveries.list(endpoint.id, { limit: 9 })).length === 1);
  t.same(
    (await f.webhookService.deliveries.attempts(endpoint.id)).map((attempt) => attempt.session_id),
    ['s2'],
  );
  t.equal(await f.webhookService.deliveries.pendingCount(), 1);
});

t.test('a call that was given up as lost is told when its results come after all', async (t) => {
  const f = startWebhooks();
  const receiver = await startReceiver();
  t.teardown(() => Promise.all([f.close(), receiver.close()]));
  await f.webhook(`http://hooks.example.test:${receiver.port}/in`);
  await f.startCall('s1');
  const nextDay = new Date(f.clock.nowMs() + 24 * HOUR).toISOString();
  t.equal((await f.calls.markLost(nextDay, 10, () => false)).length, 1);
  await settled();
  t.same(receiver.seen, [], 'there is nothing to tell yet');
  await f.endCall('s1');
  await until(() => receiver.seen.length === 1);
  t.match(JSON.parse(receiver.seen[0]?.body ?? ''), { type: 'call.ended', data: { status: 'completed' } });
});

t.test(
  'R85 a call in the session of a refused one is told of, and pushed, as a call of its own',
  async (t) => {
    const f = startWebhooks();
    const receiver = await startReceiver();
    t.teardown(() => Promise.all([f.close(), receiver.close()]));
    f.pushes.set('clinic', { enabled: true, push_url: `http://crm.example.test:${receiver.port}/push` });
    await f.webhook(`http://hooks.example.test:${receiver.port}/in`, {
      types: ['call.started', 'call.ended', 'call.not_connected'],
    });
    // On a busy machine a message may be sent again; it is the same message.
    const told = () => [...new Set(receiver.seen.map(({ path, body }) => `${path} ${body}`))];
    await f.refuseCall('s1');
    await untilWithTime(f.clock, () => told().length === 2);
    const refused = await f.calls.get('s1');
    const call = { ...activeCall('s1', new Date(f.clock.nowMs()).toISOString()), bot_id: 'clinic' };
    t.ok(await f.calls.reopen(call, refused?.version ?? 0));
    await f.endCall('s1');
    await untilWithTime(f.clock, () => told().length === 5);
    const types = told().map((message) => /"type":"(call\.\w+)"/.exec(message)?.[1] ?? 'push');
    t.same(types.sort(), ['call.ended', 'call.not_connected', 'call.started', 'push', 'push']);
  },
);

t.test('a removed bot leaves no push, no log and no secret behind', async (t) => {
  const f = startWebhooks();
  const receiver = await startReceiver(status(500));
  t.teardown(() => Promise.all([f.close(), receiver.close()]));
  f.pushes.set('clinic', { enabled: true, push_url: `http://crm.example.test:${receiver.port}/` });
  await f.startCall('s1');
  await f.endCall('s1');
  await until(async () => (await f.webhookService.deliveries.attempts('bot:clinic')).length === 1);
  await f.webhookService.forgetBot('clinic');
  t.equal(f.webhookService.endpoints.get('bot:clinic'), null);
  t.same(await f.webhookService.deliveries.attempts('bot:clinic'), []);
  t.equal(await f.webhookService.deliveries.pendingCount(), 0);
});

t.test('a receiver whose secret cannot be opened is tried on the plan like any other failure', async (t) => {
  const f = startWebhooks();
  const receiver = await startReceiver();
  t.teardown(() => Promise.all([f.close(), receiver.close()]));
  const endpoint = await f.webhook(`http://hooks.example.test:${receiver.port}/in`);
  const intact = f.webhookService.box.open;
  f.webhookService.box.open = () => {
    throw new Error('the key is gone');
  };
  t.teardown(() => {
    f.webhookService.box.open = intact;
  });
  await f.startCall('s1');
  await f.endCall('s1');
  await until(async () => {
    const [row] = await f.webhookService.deliveries.list(endpoint.id, { limit: 1 });
    return row?.attempts === 1;
  });
  t.match(await f.webhookService.deliveries.list(endpoint.id, { limit: 1 }), [
    { state: 'pending', last_error: /key file/, next_attempt_ms: f.clock.nowMs() + 5 * SECOND },
  ]);
  f.webhookService.box.open = intact;
  await untilWithTime(f.clock, () => receiver.seen.length === 1);
});
