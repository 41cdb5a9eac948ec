import t from 'tap';
import { callTarget } from '../../src/main/ingress/call-admission.ts';
import { replacedSlots } from '../../src/main/slots/slot-pool.ts';
import type { LiveCall } from '../../src/main/slots/slot-process.ts';
import { tempFolder } from '../harness/temp-folder.ts';
import { until } from '../harness/wait.ts';
import { rawCaller, startWorker, upgradeRequest } from '../harness/worker.ts';

const SECRET = 'a secret of the fleet';

/** The first bytes that the ingress, or the slot behind it, answers. */
async function answerTo(port: number, headers: Record<string, string>, path = '/partner/echo') {
  const caller = rawCaller(port, upgradeRequest(path, headers));
  await until(() => /secret (true|false)\n|^HTTP\/1\.1 [45]/.test(caller.received()) || caller.closed());
  caller.socket.destroy();
  return caller.received();
}

const basic = (credentials: string) => `Basic ${Buffer.from(credentials).toString('base64')}`;

t.test('R18 the ingress knows the partner path beside the dialler path', async (t) => {
  t.match(callTarget('/partner/demo?sample-rate=16000&ticket=t1'), {
    kind: 'partner',
    botId: 'demo',
    ticket: 't1',
  });
  t.match(callTarget('/ws/demo'), { kind: 'telephony', botId: 'demo' });
  for (const path of [
    '/partner',
    '/partner/',
    '/partner/a/b',
    '/Partner/demo',
    '/partner/%2e%2e',
    '/partnerx/demo',
  ]) {
    t.equal(callTarget(path), null, path);
  }
});

t.test(
  'R18 the core secret opens the partner path as the password of its address, and goes no further',
  async (t) => {
    const main = await startWorker(tempFolder(), { WS_AUTH: 'secret', CORE_SECRET: SECRET });
    const port = main.fleetPort ?? 0;
    t.match(await answerTo(port, {}), /^HTTP\/1\.1 403 /, 'nothing');
    t.match(await answerTo(port, { authorization: basic('trunk:wrong') }), /^HTTP\/1\.1 403 /);
    t.match(
      await answerTo(port, { authorization: basic(SECRET) }),
      /^HTTP\/1\.1 403 /,
      'no colon, no password',
    );
    t.match(
      await answerTo(port, { authorization: `Bearer ${SECRET}` }),
      /^HTTP\/1\.1 403 /,
      'another scheme',
    );
    t.match(await answerTo(port, { authorization: 'Basic ::::' }), /^HTTP\/1\.1 403 /, 'no base64');
    t.match(
      await answerTo(port, { authorization: basic(`trunk:${SECRET}`) }, '/ws/echo'),
      /^HTTP\/1\.1 403 /,
      'a dialler says it in its own header',
    );
    const taken = await answerTo(port, { authorization: basic(`trunk:${SECRET}`) });
    t.match(taken, /^HTTP\/1\.1 101 /);
    t.match(taken, /secret false\n/, 'the slot sees the call without it');
    t.match(await answerTo(port, { 'x-core-secret': SECRET }), /^HTTP\/1\.1 101 /, 'the header works too');
    await main.stop();
  },
);

t.test('R18 R33 a partner finds the same full host as a dialler', async (t) => {
  const main = await startWorker(tempFolder(), { SLOTS: '1' });
  const port = main.fleetPort ?? 0;
  const busy = rawCaller(port, upgradeRequest('/ws/echo'));
  await until(() => busy.received().includes('101'));
  t.match(await answerTo(port, {}), /^HTTP\/1\.1 429 /);
  busy.socket.destroy();
  await main.stop();
});

t.test('RT-80 the newest socket of a call wins, whatever the order of its messages', async (t) => {
  const slot = (callId: string, handedOverAtMs: number, change: Partial<LiveCall> = {}) => ({
    call: {
      callId,
      botId: 'demo',
      kind: 'partner' as const,
      roomName: null,
      handedOverAtMs,
      sinceIso: '',
      sessionId: null,
      maxCallSeconds: null,
      hangupSentAtMs: null,
      callSid: 'sid',
      handedOver: false,
      ...change,
    },
  });
  const older = slot('older', 1);
  const newer = slot('newer', 2);
  const strangers = [
    slot('other-bot', 0, { botId: 'sales' }),
    slot('other-call', 0, { callSid: 'sid-2' }),
    slot('told-already', 0, { hangupSentAtMs: 5 }),
    slot('nameless', 0, { callSid: '' }),
    { call: null },
  ];
  const all = [newer, ...strangers, older];
  t.same(replacedSlots(all, newer), [older]);
  t.same(replacedSlots(all, older), [older], 'the older one spoke last and still loses');
  t.same(replacedSlots([older, ...strangers], older), []);
  t.same(replacedSlots(all, slot('x', 9, { callSid: '' })), [], 'a call without an id replaces none');
});
