import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { TokenVerifier } from 'livekit-server-sdk';
import t, { type Test } from 'tap';
import { testBot } from '../../harness/control.ts';
import { openScriptedHost, type ScriptedHost } from '../../harness/fleet-port.ts';
import { FLEET_SECRET, type SettingsPlane, startPlane } from '../../harness/settings-harness.ts';
import { until } from '../../harness/wait.ts';

const PATH = '/api/v1/widget/token';
const KEY = 'wk_of_the_clinic';
const API_KEY = 'devkey-1';
const API_SECRET = 'secret-of-32-letters-and-no-less';
const seeds = {
  livekit_url: 'ws://10.0.0.5:7880',
  livekit_public_url: 'https://media.example.org/',
  livekit_api_key: API_KEY,
  livekit_api_secret: API_SECRET,
};
const body = { bot_id: 'clinic', api_key: KEY };

async function planeWithHost(
  t: Test,
  options: { seeds?: Record<string, string>; bot?: Parameters<typeof testBot>[0]; doors?: number } = {},
): Promise<{ plane: SettingsPlane; host: ScriptedHost; second: ScriptedHost | null }> {
  const host = await openScriptedHost();
  const second = options.doors === 2 ? await openScriptedHost() : null;
  const urls = [host.url, ...(second ? [second.url] : [])];
  const plane = await startPlane({ seeds: options.seeds ?? seeds, fleetUrls: () => urls });
  t.teardown(async () => {
    await plane.stop();
    await host.close();
    await second?.close();
  });
  await plane.bots.put(testBot({ widget_api_key: KEY, ...options.bot }));
  return { plane, host, second };
}

const ask = (plane: SettingsPlane, json: unknown = body, headers: Record<string, string> = {}) =>
  plane.call('POST', PATH, { body: json, headers });

t.test('R28 R51 R136 R139 the token is given out once the bot has been sent into the room', async (t) => {
  const { plane, host } = await planeWithHost(t);
  const answer = await ask(plane);
  t.equal(answer.status, 201, answer.text);
  t.same(Object.keys(answer.json).sort(), ['participant_token', 'server_url']);
  t.equal(answer.json.server_url, 'wss://media.example.org', 'D-43');
  const [order] = host.orders;
  const claims = await new TokenVerifier(API_KEY, API_SECRET).verify(answer.json.participant_token);
  t.match(order, {
    bot_id: 'clinic',
    room_name: claims.video?.room,
    participant_identity: claims.sub,
    connected_event: {},
  });
});

t.test(
  'R52 R53 R54 every claim of the token: who, one room, the microphone only, for two minutes',
  async (t) => {
    const { plane } = await planeWithHost(t);
    const { json } = await ask(plane);
    const claims = await new TokenVerifier(API_KEY, API_SECRET).verify(json.participant_token);
    t.equal(claims.iss, API_KEY);
    t.match(claims.sub, /^widget-user-[0-9a-f]{8}$/);
    t.equal(claims.name, 'Website Visitor');
    t.match(claims.video?.room, /^widget-clinic-[0-9a-f]{12}$/);
    t.same(claims.video, {
      roomJoin: true,
      room: claims.video?.room,
      canPublish: true,
      canPublishSources: ['microphone'],
      canSubscribe: true,
      canPublishData: true,
    });
    const lifeS = Number(claims.exp) - Math.floor(Date.now() / 1_000);
    t.ok(lifeS > 60 && lifeS <= 120, `${lifeS} s`);
    t.notOk(claims.sip ?? claims.roomConfig ?? claims.attributes, 'nothing beyond the room');
    const next = await new TokenVerifier(API_KEY, API_SECRET).verify(
      (await ask(plane)).json.participant_token,
    );
    t.not(next.video?.room, claims.video?.room, 'each call has a room of its own');
    t.not(next.sub, claims.sub);
  },
);

t.test('R34 R142 what is wrong is found in order: the bot, then its key', async (t) => {
  const { plane, host } = await planeWithHost(t);
  await plane.bots.put(testBot({ bot_id: 'keyless' }));
  for (const [json, status] of [
    [{ ...body, bot_id: 'nosuch' }, 404],
    [{ ...body, bot_id: '../clinic' }, 404],
    [{ ...body, bot_id: '' }, 404],
    [{ ...body, bot_id: 'nosuch', context: 'mistaken', extra: 1 }, 404],
    [{ ...body, api_key: 'wk_another' }, 401],
    [{ ...body, api_key: '' }, 401],
    [{ ...body, api_key: 'wk_another', context: 'mistaken', extra: 1 }, 401],
    [{ bot_id: 'keyless', api_key: '' }, 401],
    [{ bot_id: 'keyless', api_key: KEY }, 401],
    [{ bot_id: 'keyless', api_key: 'null' }, 401],
    [{ bot_id: 'clinic' }, 422],
    [{ api_key: KEY }, 422],
    [{ ...body, api_key: null }, 422],
  ] as const) {
    const answer = await ask(plane, json);
    t.equal(answer.status, status, `${JSON.stringify(json)} ${answer.text}`);
    t.notMatch(answer.text, KEY);
  }
  t.same(host.orders, [], 'no host was asked');
});

t.test('R29 keys of the API do not open the widget, and its key opens nothing else', async (t) => {
  const { plane } = await planeWithHost(t);
  t.equal((await ask(plane, { ...body, api_key: 'dialler' }, plane.as('dialler'))).status, 401);
  for (const [method, path] of [
    ['POST', '/api/v1/calls/outbound'],
    ['GET', '/api/v1/settings'],
  ] as const) {
    const answer = await plane.call(method, path, { headers: { 'x-api-key': KEY } });
    t.equal(answer.status, 401, path);
  }
});

t.test('R137 R138 pages of any origin may read every answer, the preflight included', async (t) => {
  const { plane, host } = await planeWithHost(t);
  const origin = { origin: 'https://shop.example' };
  const preflight = await plane.call('OPTIONS', PATH, {
    headers: {
      ...origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'content-type',
    },
  });
  t.equal(preflight.status, 204);
  t.match(preflight.headers.get('access-control-allow-methods'), /POST/);
  t.match(preflight.headers.get('access-control-allow-headers'), /content-type/);
  const answers = new Map<number, Headers>([[preflight.status, preflight.headers]]);
  const note = (answer: { status: number; headers: Headers }) => answers.set(answer.status, answer.headers);
  note(await ask(plane, body, origin));
  note(await ask(plane, { ...body, bot_id: 'nosuch' }, origin));
  note(await ask(plane, { ...body, api_key: 'no' }, origin));
  note(await ask(plane, { ...body, context: 'no' }, origin));
  note(await ask(plane, 'no json', origin));
  note(await ask(plane, { ...body, context: { x: 'y'.repeat(100_000) } }, origin));
  note(await plane.call('POST', PATH, { body, headers: { ...origin, 'content-type': 'text/plain' } }));
  note(await plane.call('GET', PATH, { headers: origin }));
  host.answer = { status: 429, json: { error: 'At capacity', code: 'at_capacity' } };
  note(await ask(plane, body, origin));
  await plane.settings.change(
    { secrets: { livekit_api_secret: null } },
    { actor: { type: 'core' }, action: 'test', requestId: null, ip: null },
    () => undefined,
  );
  note(await ask(plane, body, origin));
  for (let i = 0; i < 10; i++) note(await ask(plane, body, origin));
  t.same(
    [...answers.keys()].sort((a, b) => a - b),
    [201, 204, 400, 401, 404, 405, 413, 415, 422, 429, 500, 503],
  );
  for (const [status, headers] of answers) {
    t.equal(headers.get('access-control-allow-origin'), '*', String(status));
  }
});

t.test('R138 a request that cannot even be read is answered with the same headers', async (t) => {
  const { plane } = await planeWithHost(t);
  const head = `POST ${PATH} HTTP/1.1\r\nHost: a\r\nHost: b\r\nOrigin: https://shop.example\r\n\r\n`;
  const answer = await new Promise<string>((resolve, reject) => {
    const socket = connect(plane.port, '127.0.0.1', () => socket.write(head));
    socket.once('data', (data) => {
      socket.destroy();
      resolve(data.toString('latin1'));
    });
    socket.once('error', reject);
  });
  t.match(answer, /^HTTP\/1\.1 400 /);
  t.match(answer.toLowerCase(), 'access-control-allow-origin: *');
});

t.test('D-25: a bot may name the pages that may call it', async (t) => {
  const { plane, host } = await planeWithHost(t, {
    bot: { widget: { allowed_origins: ['https://www.example.com', 'http://localhost:3000'] } },
  });
  for (const [origin, status] of [
    ['https://www.example.com', 201],
    ['https://WWW.example.com:443', 201],
    ['http://localhost:3000', 201],
    ['https://www.example.com.evil.example', 403],
    ['http://www.example.com', 403],
    ['null', 403],
    [undefined, 403],
  ] as const) {
    const answer = await ask(plane, body, origin === undefined ? {} : { origin });
    t.equal(answer.status, status, String(origin));
    if (status === 403) t.match(answer.json, { code: 'origin_not_allowed' });
  }
  t.equal(host.orders.length, 3);
  t.equal((await ask(plane, { ...body, api_key: 'no' })).status, 401, 'the key comes first');
});

t.test('D-25: an address gets ten tokens a minute, and hears when the next one is due', async (t) => {
  const { plane } = await planeWithHost(t);
  for (let i = 0; i < 10; i++) t.equal((await ask(plane)).status, 201);
  const refused = await ask(plane);
  t.match(refused, { status: 429, json: { code: 'rate_limited' } });
  t.ok(Number(refused.headers.get('retry-after')) > 0);
  t.equal((await ask(plane, { ...body, api_key: 'no' })).status, 401, 'a wrong key is told first');
  plane.clock.nowMs += 61_000;
  t.equal((await ask(plane)).status, 201);
});

t.test('what the page tells about its visitor reaches the bot, and steers nothing', async (t) => {
  const { plane, host } = await planeWithHost(t);
  const context = {
    plan: 'gold',
    visits: 3,
    is_member: true,
    _skip_prefetch: true,
    _campaign_session_id: 'stolen',
    sip_candidate_headers: 'x',
    from_number: '+911140000000',
    room_name: 'another',
    transport: 'rtc_sip',
    call_direction: 'outbound',
    'dotted.name': 'x',
    'br{ace}': 'x',
    __proto: 'x',
  };
  const headers = {
    referer: 'https://shop.example/cart',
    'accept-language': 'hi-IN,hi;q=0.9',
    'user-agent': 'Mozilla/5.0 (X11) AppleWebKit/537.36 Chrome/141.0 Safari/537.36 Edg/141.0',
  };
  t.equal((await ask(plane, { ...body, context }, headers)).status, 201);
  t.same(host.orders[0]?.connected_event, { plan: 'gold', visits: 3, is_member: true });
  t.same(host.orders[0]?.visitor, {
    page_url: 'https://shop.example/cart',
    locale: 'hi-IN',
    user_agent_family: 'Edge',
  });
  const many = Object.fromEntries(Array.from({ length: 51 }, (_, i) => [`k${i}`, 1]));
  const refused: unknown[] = [
    'text',
    ['list'],
    many,
    { ['n'.repeat(65)]: 1 },
    { long: 'x'.repeat(2_001) },
    { nested: { a: 1 } },
    Object.fromEntries(Array.from({ length: 5 }, (_, i) => [`k${i}`, 'x'.repeat(1_900)])),
  ];
  for (const wrong of refused) {
    plane.clock.nowMs += 61_000;
    t.equal((await ask(plane, { ...body, context: wrong })).status, 422, JSON.stringify(wrong).slice(0, 60));
  }
  t.match(await ask(plane, { ...body, extra: 1 }), {
    status: 422,
    json: { errors: [{ pointer: '/extra' }] },
  });
  t.equal((await ask(plane, { ...body, context: null })).status, 201);
  t.equal(host.orders.length, 2);
});

t.test(
  'R140 the host with the most room is asked, with the core secret, and the next where it is full',
  async (t) => {
    const { plane, host, second } = await planeWithHost(t, { doors: 2 });
    if (!second) throw new Error('two doors were asked for');
    host.free = 1;
    second.free = 9;
    t.equal((await ask(plane)).status, 201);
    t.equal(second.orders.length, 1);
    t.equal(second.secrets[0], FLEET_SECRET);
    second.answer = { status: 429, json: { error: 'At capacity', code: 'at_capacity' } };
    t.equal((await ask(plane)).status, 201);
    t.equal(host.orders.length, 1);
    second.answer = { status: 503, json: { error: 'Media', code: 'media_unavailable' } };
    t.equal((await ask(plane)).status, 201, 'a host without its media server is no reason either');
  },
);

t.test('R142 503 where no bot comes, and no token with it', async (t) => {
  const { plane, host } = await planeWithHost(t);
  for (const [answer, json] of [
    [
      { status: 429, json: { code: 'at_capacity' } },
      { code: 'no_fleet', detail: /busy/ },
    ],
    [{ status: 403, json: { error: 'Unauthorized' } }, { code: 'no_fleet' }],
    [{ status: 500, json: {} }, { code: 'no_fleet' }],
    [{ status: 200, json: { unexpected: true } }, { code: 'no_fleet' }],
    [{ status: 503, json: { code: 'outside_active_hours' } }, { code: 'outside_active_hours' }],
    [{ status: 502, json: {} }, { code: 'no_fleet' }],
  ] as const) {
    plane.clock.nowMs += 61_000;
    host.answer = answer;
    const found = await ask(plane);
    t.match(found, { status: 503, json }, JSON.stringify(answer));
    t.notMatch(found.text, /participant_token|ey[A-Za-z0-9]/);
  }
  await host.close();
  plane.clock.nowMs += 61_000;
  t.match(await ask(plane), { status: 503, json: { code: 'no_fleet' } }, 'no host at all');
});

t.test('R141 a host that says nothing is waited for ten seconds', { timeout: 280_000 }, async (t) => {
  const { plane, host } = await planeWithHost(t);
  host.answer = null;
  const startedMs = performance.now();
  const answer = await ask(plane);
  const tookMs = performance.now() - startedMs;
  t.match(answer, { status: 503, json: { code: 'no_fleet' } });
  t.ok(tookMs >= 9_900, `${Math.round(tookMs)} ms`);
});

t.test('R142 500 where the token cannot be made, before any host is asked', async (t) => {
  const { livekit_api_secret: _, ...half } = seeds;
  const { plane, host } = await planeWithHost(t, { seeds: half });
  const answer = await ask(plane);
  t.match(answer, { status: 500, json: { code: 'media_token_failed' } });
  t.same(host.orders, []);
});

t.test('a visitor who has gone while the bot was called leaves no bot behind', async (t) => {
  const { plane, host } = await planeWithHost(t);
  // The server hears of it from its own socket, at a moment that the client cannot see: hence several tries.
  for (let tries = 1; tries <= 12 && host.hungUp.length === 0; tries++) {
    let answerNow: () => void = () => undefined;
    host.held = new Promise((resolve) => {
      answerNow = resolve;
    });
    const gone = new AbortController();
    const asking = plane
      .call('POST', PATH, { body, signal: gone.signal })
      .then(() => 'answered')
      .catch(() => 'gone');
    await until(() => host.orders.length === tries);
    gone.abort();
    t.equal(await asking, 'gone');
    await sleep(Math.min(tries * 300, 2_000));
    answerNow();
    await until(() => host.hungUp.length > 0, 'a hang-up', 1_000).catch(() => undefined);
  }
  t.match(host.answer?.json, { call_id: host.hungUp[0] }, 'the host was told to end the call');
});
