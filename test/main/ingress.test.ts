import fc from 'fast-check';
import t from 'tap';
import {
  judgeLoad,
  MAX_LOOP_DELAY_MS,
  MAX_PENDING_RESULTS,
  MIN_FREE_BYTES,
} from '../../src/main/host-pressure.ts';
import { callTarget } from '../../src/main/ingress/call-admission.ts';
import { startMain } from '../../src/main/main.ts';
import { matchesAnySecret } from '../../src/platform/constant-time.ts';
import { tempFolder } from '../harness/temp-folder.ts';
import { until } from '../harness/wait.ts';
import {
  call,
  fixture,
  fleetHealth,
  quietLogger,
  rawCaller,
  startWorker,
  upgradeRequest,
  workerSettings,
} from '../harness/worker.ts';

const SECRET = 'a secret of the fleet';

async function answerTo(port: number, request: string): Promise<string> {
  const caller = rawCaller(port, request);
  await until(() => caller.closed() || caller.received().includes('101 Switching'));
  const text = caller.received();
  caller.socket.destroy();
  return text;
}

// Real processes on a machine that may be busy with other things.
t.setTimeout(280_000);

t.test(
  'bytes that a caller sends before and during the hand-over all reach the slot, in order',
  async (t) => {
    const main = await startWorker(tempFolder(), { SLOTS: '1' });
    const slot = main.health()?.workers?.[0]?.pid ?? 0;
    // The slot stands still while the socket is on its way: whatever main still read in that time would be lost.
    process.kill(slot, 'SIGSTOP');
    const caller = rawCaller(main.fleetPort ?? 0, `${upgradeRequest('/ws/echo')}head `);
    const parts = ['one ', 'two ', 'three ', 'four ', 'five '];
    for (const part of parts) {
      await new Promise((resolve) => setTimeout(resolve, 25));
      caller.socket.write(part);
    }
    process.kill(slot, 'SIGCONT');
    await until(() => caller.received().includes('five'));
    t.match(caller.received(), /\nhead one two three four five $/);
    caller.socket.end();
    await until(() => caller.closed());
    await main.stop();
  },
);

t.test('R166 call sockets with WS_AUTH=secret answer 403 without the core secret', async (t) => {
  const main = await startWorker(tempFolder(), {
    WS_AUTH: 'secret',
    CORE_SECRET: 'a secret of the fleet',
  });
  const port = main.fleetPort ?? 0;
  for (const headers of [{}, { 'x-core-secret': 'wrong' }, { 'x-core-secret': '' }]) {
    const answer = await answerTo(port, upgradeRequest('/ws/echo', headers));
    t.match(answer, /^HTTP\/1\.1 403 /);
    t.match(answer, /"error":"Unauthorized"/);
  }
  const answer = await answerTo(
    port,
    upgradeRequest('/ws/echo', { 'x-core-secret': 'a secret of the fleet' }),
  );
  t.match(answer, /^HTTP\/1\.1 101 /);
  await main.stop();
});

t.test(
  'a call ticket opens one call to its bot, and is not spent on a call that could not begin',
  async (t) => {
    const main = await startMain(
      workerSettings(tempFolder(), {
        ROLE: 'all',
        SLOTS: '1',
        WS_AUTH: 'secret',
        CORE_SECRET: SECRET,
        CONTROL_LISTEN: '127.0.0.1:0',
      }),
      { logger: quietLogger(), slotEntry: fixture('stand-in-slot') },
    );
    await until(() => main.health()?.fleet_available === 1);
    const port = main.fleetPort ?? 0;
    const post = async (path: string, body: object, headers: Record<string, string> = {}) => {
      const answer = await fetch(`http://127.0.0.1:${main.controlPort}/api/v1/${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      });
      return (await answer.json()) as Record<string, string>;
    };
    const login = { email: 'a@example.org', password: 'a long sentence of hers' };
    await post('auth/setup', {
      ...login,
      name: 'A',
      token: main.setupUrl?.split('#token=')[1],
    });
    const { access_token: token } = await post('auth/login', { ...login, mode: 'token' });
    const ticketFor = async (botId: string) => {
      const { ticket } = await post(`bots/${botId}/call-ticket`, {}, { authorization: `Bearer ${token}` });
      return ticket;
    };
    const ticket = await ticketFor('demo');
    t.match(
      await answerTo(port, upgradeRequest(`/ws/demo?ticket=${ticket}x`)),
      /^HTTP\/1\.1 403 /,
      'not this one',
    );
    t.match(
      await answerTo(port, upgradeRequest(`/ws/other?ticket=${await ticketFor('demo')}`)),
      /^HTTP\/1\.1 403 /,
    );
    const busy = rawCaller(port, upgradeRequest('/ws/demo', { 'x-core-secret': SECRET }));
    await until(() => busy.received().includes('101'));
    t.match(
      await answerTo(port, upgradeRequest(`/ws/demo?ticket=${ticket}`)),
      /^HTTP\/1\.1 429 /,
      'the host is full',
    );
    busy.socket.destroy();
    await until(() => main.health()?.fleet_available === 1);
    t.match(await answerTo(port, upgradeRequest(`/ws/demo?ticket=${ticket}`)), /^HTTP\/1\.1 101 /);
    await until(() => main.health()?.fleet_available === 1);
    t.match(
      await answerTo(port, upgradeRequest(`/ws/demo?ticket=${ticket}`)),
      /^HTTP\/1\.1 403 /,
      'it opened one call',
    );
    await main.stop();
  },
);

t.test('the core secret goes no further than the ingress', async (t) => {
  const main = await startWorker(tempFolder(), {
    WS_AUTH: 'secret',
    CORE_SECRET: 'a secret of the fleet',
  });
  const caller = rawCaller(
    main.fleetPort ?? 0,
    upgradeRequest('/ws/echo', { 'x-core-secret': 'a secret of the fleet' }),
  );
  await until(() => caller.received().includes('secret'));
  t.match(caller.received(), /secret false\n/, 'the slot sees the call without it');
  caller.socket.end();
  await main.stop();
});

t.test('WS_AUTH as networks lets exactly those networks in', async (t) => {
  const inside = await startWorker(tempFolder(), { WS_AUTH: '10.0.0.0/8,127.0.0.0/8' });
  t.match(await answerTo(inside.fleetPort ?? 0, upgradeRequest('/ws/echo')), /^HTTP\/1\.1 101 /);
  await inside.stop();
  const outside = await startWorker(tempFolder(), { WS_AUTH: '10.0.0.0/8' });
  t.match(await answerTo(outside.fleetPort ?? 0, upgradeRequest('/ws/echo')), /^HTTP\/1\.1 403 /);
  await outside.stop();
});

t.test('a proxy in front of an unauthenticated ingress is refused, and no slot is touched', async (t) => {
  const main = await startWorker(tempFolder());
  const port = main.fleetPort ?? 0;
  for (const name of ['x-forwarded-for', 'forwarded', 'x-real-ip']) {
    const answer = await answerTo(port, upgradeRequest('/ws/echo', { [name]: '203.0.113.7' }));
    t.match(answer, /^HTTP\/1\.1 403 /, name);
  }
  t.equal((await fleetHealth(port)).fleet_available, 2);
  await main.stop();
});

t.test('a web page of another site cannot open a call through a browser on this machine', async (t) => {
  const main = await startWorker(tempFolder());
  const port = main.fleetPort ?? 0;
  for (const origin of ['https://evil.example', 'null', 'http://127.0.0.1.evil.example']) {
    t.match(await answerTo(port, upgradeRequest('/ws/echo', { origin })), /^HTTP\/1\.1 403 /, origin);
  }
  for (const origin of ['http://localhost:8080', 'http://127.0.0.1:8080']) {
    t.match(await answerTo(port, upgradeRequest('/ws/echo', { origin })), /^HTTP\/1\.1 101 /, origin);
  }
  await main.stop();
});

t.test('other paths are 404, and what is no WebSocket upgrade is 400', async (t) => {
  const main = await startWorker(tempFolder());
  const port = main.fleetPort ?? 0;
  for (const path of ['/', '/ws/', '/ws/a/b', '/ws/%2e%2e', '/ws/bad bot', '/partner/', '/WS/echo']) {
    t.match(await answerTo(port, upgradeRequest(path.replace(' ', '%20'))), /^HTTP\/1\.1 404 /, path);
  }
  const notUpgrades: Record<string, string>[] = [
    { 'sec-websocket-version': '12' },
    { 'sec-websocket-key': 'short' },
    { upgrade: 'h2c' },
  ];
  for (const headers of notUpgrades) {
    t.match(
      await answerTo(port, upgradeRequest('/ws/echo', headers)),
      /^HTTP\/1\.1 400 /,
      JSON.stringify(headers),
    );
  }
  t.match(await answerTo(port, 'GET /ws/echo HTTP/1.1\r\nhost: ingress\r\n\r\n'), /^HTTP\/1\.1 400 /);
  t.equal(callTarget('/ws/echo?x=1')?.botId, 'echo');
  await main.stop();
});

t.test(
  'R163 health shows free slots to everyone, and its details to this host and the core secret only',
  async (t) => {
    const main = await startWorker(tempFolder(), { CORE_SECRET: 'a secret of the fleet' });
    const port = main.fleetPort ?? 0;
    const local = await fleetHealth(port);
    t.match(local, { status: 'ok', fleet_available: 2, fleet_total: 2, fleet_busy: 0, accepting: true });
    t.equal(local.workers?.length, 2);
    t.strictSame(local.outbox, { results_pending: 0, results_oldest_seconds: 0, handoffs_pending: 0 });
    const proxied = await fleetHealth(port, { 'x-forwarded-for': '203.0.113.7' });
    t.equal(proxied.fleet_available, 2);
    t.equal(proxied.workers, undefined);
    t.equal(proxied.outbox, undefined);
    const known = await fleetHealth(port, {
      'x-forwarded-for': '203.0.113.7',
      'x-core-secret': 'a secret of the fleet',
    });
    t.equal(known.workers?.length, 2);
    const live = await call(port, '/ws/echo');
    const busy = await fleetHealth(port);
    t.match(busy, { fleet_available: 1, fleet_busy: 1 });
    t.match(
      busy.workers?.find((worker) => worker.state === 'busy'),
      { pid: live.pid, call_id: live.callId, bot_id: 'echo' },
    );
    live.socket.end();
    await main.stop();
  },
);

t.test('RT-71 a short disk, a full outbox and a late event loop each stop new calls', async (t) => {
  const easy = { freeBytes: MIN_FREE_BYTES, pendingResults: 0, loopDelayMs: 0 };
  t.equal(judgeLoad(easy), null);
  t.match(judgeLoad({ ...easy, freeBytes: MIN_FREE_BYTES - 1 }), {
    status: 503,
    body: { code: 'disk_full' },
  });
  t.match(judgeLoad({ ...easy, pendingResults: MAX_PENDING_RESULTS }), {
    body: { code: 'store_unavailable' },
  });
  t.match(judgeLoad({ ...easy, loopDelayMs: MAX_LOOP_DELAY_MS + 1 }), { body: { code: 'at_capacity' } });
});

t.test('R166 the core secret is compared whole, and an unset one matches nothing', async (t) => {
  t.ok(matchesAnySecret('abc', ['abc']));
  t.notOk(matchesAnySecret('abcd', ['abc']));
  t.notOk(matchesAnySecret('', ['']));
  t.notOk(matchesAnySecret(undefined, ['']));
  t.notOk(matchesAnySecret(['abc'], ['abc']));
});

t.test('no request, however malformed or cut off, ends main or keeps a slot', async (t) => {
  const main = await startWorker(tempFolder());
  const port = main.fleetPort ?? 0;
  const whole = upgradeRequest('/ws/silent');
  const mutated = fc.oneof(
    fc.string({ maxLength: 300 }),
    fc.nat(whole.length).map((length) => whole.slice(0, length)),
    fc
      .tuple(fc.nat(whole.length - 1), fc.string({ minLength: 1, maxLength: 8 }))
      .map(([at, junk]) => whole.slice(0, at) + junk + whole.slice(at + junk.length)),
    fc.constantFrom(
      `${whole}${'x'.repeat(100_000)}`,
      whole.replace('host: ingress', `host: ${'h'.repeat(20_000)}`),
      whole.replace('GET', 'POST').replace('host: ingress', 'host: ingress\r\ncontent-length: 5'),
      whole.replace('HTTP/1.1', 'HTTP/1.0'),
      whole + whole,
    ),
  );
  await fc.assert(
    fc.asyncProperty(mutated, fc.boolean(), async (request, reset) => {
      const caller = rawCaller(port, request);
      await until(() => !caller.socket.connecting);
      await new Promise((resolve) => setTimeout(resolve, 5));
      if (reset) caller.socket.resetAndDestroy();
      else caller.socket.destroy();
    }),
    { seed: 20_261_120, numRuns: 120 },
  );
  await until(async () => (await fleetHealth(port)).fleet_available === 2);
  t.equal((await fleetHealth(port)).fleet_busy, 0);
  await main.stop();
});
