import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { SETTING_SECRET_NAMES, SETTING_VALUE_NAMES } from '../../../src/contracts/setting-names.ts';
import { DEFAULT_VALUES, SystemValues } from '../../../src/contracts/system-settings.ts';
import { createSettingsStore, type StoredSettings } from '../../../src/control/settings/settings-store.ts';
import { startPlane } from '../../harness/settings-harness.ts';

const PATH = '/api/v1/settings';
const KEY = 'dg-0123456789abcdef-f00d';

t.test('R174 the timers of the desk have their names and defaults, and an admin changes them', async (t) => {
  const plane = await startPlane();
  t.teardown(() => plane.stop());
  const { status, json } = await plane.call('GET', PATH, { headers: plane.as('admin') });
  t.equal(status, 200);
  t.equal(json.values.agent_desk_waiting_timeout_seconds, 120);
  t.equal(json.values.agent_desk_policy_poll_seconds, 5);
  const changed = await plane.call('PATCH', PATH, {
    headers: plane.as('admin'),
    body: { values: { agent_desk_waiting_timeout_seconds: 90 } },
  });
  t.equal(changed.json.values.agent_desk_waiting_timeout_seconds, 90);
  t.equal((await plane.settings.current()).values.agent_desk_waiting_timeout_seconds, 90);
});

t.test(
  'every setting has a default that its own schema accepts, and every name is in the answer',
  async (t) => {
    const plane = await startPlane();
    t.teardown(() => plane.stop());
    const { json } = await plane.call('GET', PATH, { headers: plane.as('admin') });
    t.same(json.values, DEFAULT_VALUES);
    t.same(Object.keys(SystemValues.properties).sort(), [...SETTING_VALUE_NAMES].sort());
    t.same(Object.keys(json.secrets).sort(), [...SETTING_SECRET_NAMES].sort());
    const back = await plane.call('PATCH', PATH, {
      headers: plane.as('admin'),
      body: { values: json.values },
    });
    t.equal(back.status, 200);
  },
);

t.test('a secret goes in, is obeyed, and never comes out again', async (t) => {
  const plane = await startPlane();
  t.teardown(() => plane.stop());
  const admin = plane.as('admin');
  const set = await plane.call('PATCH', PATH, {
    headers: admin,
    body: { secrets: { deepgram_api_key: KEY } },
  });
  t.equal(set.status, 200);
  t.equal((await plane.settings.current()).providerKey('deepgram'), KEY);
  const read = await plane.call('GET', PATH, { headers: admin });
  t.match(read.json.secrets.deepgram_api_key, { set: true, tail: 'f00d' });
  t.match(read.json.secrets.openai_api_key, { set: false, tail: null });
  const short = await plane.call('PATCH', PATH, {
    headers: admin,
    body: { secrets: { soniox_api_key: 'shortkey1' } },
  });
  t.match(
    short.json.secrets.soniox_api_key,
    { set: true, tail: null },
    'four characters of nine are too many',
  );
  for (const answer of [set, read, short]) {
    t.notMatch(answer.text, KEY.slice(0, 12));
    t.notMatch(answer.text, 'shortkey1');
  }
  const wrong = await plane.call('PATCH', PATH, {
    headers: admin,
    body: { secrets: { openai_api_key: `${KEY} with a space` } },
  });
  t.equal(wrong.status, 422);
  t.notMatch(wrong.text, KEY.slice(0, 12), 'nor in the error');
  const gone = await plane.call('PATCH', PATH, {
    headers: admin,
    body: { secrets: { deepgram_api_key: null } },
  });
  t.match(gone.json.secrets.deepgram_api_key, { set: false });
  t.equal((await plane.settings.current()).providerKey('deepgram'), null);
});

t.test('no secret stands in the files of the data folder', async (t) => {
  const plane = await startPlane({ seeds: { openai_api_key: `seeded-${KEY}` } });
  t.teardown(() => plane.stop());
  await plane.call('PATCH', PATH, {
    headers: plane.as('admin'),
    body: { values: { s3_region: 'a-region-that-is-found' }, secrets: { deepgram_api_key: KEY } },
  });
  const files = readdirSync(plane.dataDir, { recursive: true, withFileTypes: true }).filter((file) =>
    file.isFile(),
  );
  const content = Buffer.concat(files.map((file) => readFileSync(join(file.parentPath, file.name))));
  t.ok(content.includes('a-region-that-is-found'), 'what is no secret is found in them');
  t.notOk(content.includes(KEY));
  t.notOk(content.includes(Buffer.from(KEY).toString('base64').slice(0, 20)));
});

t.test('a provider name opens the keys of providers only', async (t) => {
  const plane = await startPlane({ seeds: { livekit_api_key: 'livekit-key-1', openai_api_key: KEY } });
  t.teardown(() => plane.stop());
  const settings = await plane.settings.current();
  t.equal(settings.providerKey('openai'), KEY);
  for (const name of ['livekit', 'scripted', '__proto__', '', 's3'])
    t.equal(settings.providerKey(name), null, name);
});

t.test(
  'a secret that no setting names any more goes with the next change, and the audit says so',
  async (t) => {
    const plane = await startPlane({ seeds: { openai_api_key: KEY } });
    t.teardown(() => plane.stop());
    const store = createSettingsStore(plane.store, plane.audit);
    const before = (await store.read()) as StoredSettings;
    const old = { groq_api_key: { sealed: plane.box.seal('key-of-a-vendor-that-went'), updated_at: '' } };
    await store.write({ ...before, version: 2, secrets: { ...before.secrets, ...old } }, 1, null);
    plane.settings.invalidate();
    const headers = plane.as('admin');
    t.notOk('groq_api_key' in (await plane.call('GET', PATH, { headers })).json.secrets);
    const body = { values: { s3_region: 'eu-west-1' } };
    t.equal((await plane.call('PATCH', PATH, { headers, body })).status, 200);
    const after = (await store.read()) as StoredSettings;
    t.same(Object.keys(after.secrets), ['openai_api_key']);
    t.equal(after.version, 3);
  },
);

t.test('the settings are for admins', async (t) => {
  const plane = await startPlane();
  t.teardown(() => plane.stop());
  const requests = [
    ['GET', PATH, undefined],
    ['PATCH', PATH, { values: { s3_region: 'x' } }],
    ['POST', `${PATH}/probe/openai`, undefined],
    ['POST', `${PATH}/rotate-key`, undefined],
  ] as const;
  for (const [method, path, body] of requests) {
    t.equal((await plane.call(method, path, { body })).status, 401, `${method} ${path} without credentials`);
    for (const who of ['supervisor', 'agent', 'analyst', 'dialler', 'reader']) {
      t.equal(
        (await plane.call(method, path, { body, headers: plane.as(who) })).status,
        403,
        `${path} as ${who}`,
      );
    }
  }
  t.equal(
    (await plane.call('GET', PATH, { headers: plane.as('admin') })).json.version,
    1,
    'nothing was written',
  );
});

t.test('of two admins who edit the same version the second is told', async (t) => {
  const plane = await startPlane();
  t.teardown(() => plane.stop());
  const headers = plane.as('admin');
  const read = await plane.call('GET', PATH, { headers });
  const tag = read.headers.get('etag') ?? '';
  t.equal(tag, '"1"');
  const change = (region: string, ifMatch: string) =>
    plane.call('PATCH', PATH, {
      headers: { ...headers, 'if-match': ifMatch },
      body: { values: { s3_region: region } },
    });
  const first = await change('one', tag);
  t.equal(first.status, 200);
  t.equal(first.headers.get('etag'), '"2"');
  const second = await change('two', tag);
  t.equal(second.status, 412);
  t.equal(second.json.code, 'version_mismatch');
  t.equal((await plane.settings.view()).values.s3_region, 'one');
  const same = await change('one', '"2"');
  t.equal(same.headers.get('etag'), '"2"', 'a change that changes nothing makes no version');
});

t.test('changes that come at the same moment all count', async (t) => {
  const plane = await startPlane();
  t.teardown(() => plane.stop());
  const names = ['s3_region', 's3_bucket', 'sip_outbound_trunk_id'] as const;
  const answers = await Promise.all(
    names.map((name) =>
      plane.call('PATCH', PATH, {
        headers: plane.as('admin'),
        body: { values: { [name]: `value-${name.length}` } },
      }),
    ),
  );
  t.same(
    answers.map(({ status }) => status),
    [200, 200, 200],
  );
  const { version, values } = await plane.settings.view();
  t.equal(version, 4);
  for (const name of names) t.equal(values[name], `value-${name.length}`);
});

t.test('what does not fit is named by its place and changes nothing', async (t) => {
  const plane = await startPlane();
  t.teardown(() => plane.stop());
  const wrong: [unknown, string][] = [
    [{ values: { display_timezone: 'Mars/Olympus' } }, '/values/display_timezone'],
    [
      { values: { outbound_allowed_networks: ['10.0.0.0/8', '10.1.2.3/8'] } },
      '/values/outbound_allowed_networks/1',
    ],
    [{ values: { livekit_public_url: 'ws://media.example.org' } }, '/values/livekit_public_url'],
    [{ values: { s3_endpoint: 'https://key:secret@storage.example.org' } }, '/values/s3_endpoint'],
    [{ values: { agent_desk_policy_poll_seconds: '5' } }, '/values/agent_desk_policy_poll_seconds'],
    [{ values: { retention_record_days: 0 } }, '/values/retention_record_days'],
    [{ values: { unknown_setting: 1 } }, '/values/unknown_setting'],
    [{ secrets: { unknown_api_key: 'x'.repeat(20) } }, '/secrets/unknown_api_key'],
    [{ secrets: { openai_api_key: 'short' } }, '/secrets/openai_api_key'],
    [{ openai_api_key: 'x'.repeat(20) }, '/openai_api_key'],
  ];
  for (const [body, pointer] of wrong) {
    const answer = await plane.call('PATCH', PATH, { headers: plane.as('admin'), body });
    t.equal(answer.status, 422, pointer);
    t.ok(
      (answer.json.errors as { pointer: string }[]).some((error) => error.pointer === pointer),
      `${pointer} in ${JSON.stringify(answer.json.errors)}`,
    );
  }
  t.equal((await plane.settings.view()).version, 1);
});

t.test('the audit log tells who changed what, and of a secret only that it changed', async (t) => {
  const plane = await startPlane();
  t.teardown(() => plane.stop());
  await plane.call('PATCH', PATH, {
    headers: plane.as('admin'),
    body: { values: { display_timezone: 'Asia/Kolkata' }, secrets: { deepgram_api_key: KEY } },
  });
  const { items } = await plane.audit.list({ limit: 10 });
  t.match(items, [
    {
      action: 'settings.update',
      target: 'settings:system',
      actor: { type: 'user', id: 'admin' },
      before: { version: 1, values: { display_timezone: null }, secrets: { deepgram_api_key: null } },
      after: {
        version: 2,
        values: { display_timezone: 'Asia/Kolkata' },
        secrets: { deepgram_api_key: /^hash:/ },
      },
    },
  ]);
  t.notMatch(JSON.stringify(items), KEY);
  t.equal((await plane.audit.verify()).ok, true);
});

t.test(
  'R175 settings are cached for an hour: a direct write shows late, a change by an admin at once',
  async (t) => {
    const plane = await startPlane();
    t.teardown(() => plane.stop());
    const region = async () => (await plane.settings.current()).values.s3_region;
    t.equal(await region(), 'us-east-1');
    const table = plane.store.table<StoredSettings>('system-settings');
    const stored = table.get('settings') as StoredSettings;
    await table.put('settings', { ...stored, values: { s3_region: 'behind-the-back' } });
    plane.clock.nowMs += 3_599_000;
    t.equal(await region(), 'us-east-1', 'still as it was loaded');
    plane.clock.nowMs += 2_000;
    t.equal(await region(), 'behind-the-back');
    await plane.call('PATCH', PATH, {
      headers: plane.as('admin'),
      body: { values: { s3_region: 'by-an-admin' } },
    });
    t.equal(await region(), 'by-an-admin');
  },
);

t.test('a new sealing key takes over the settings while they are in use', async (t) => {
  const plane = await startPlane({ seeds: { openai_api_key: KEY } });
  const { status, json } = await plane.call('POST', `${PATH}/rotate-key`, { headers: plane.as('admin') });
  t.equal(status, 200);
  t.match(json, { key_id: /^k[0-9a-f]{8}$/, resealed: 2 });
  t.equal((await plane.settings.current()).providerKey('openai'), KEY);
  t.match((await plane.audit.list({ limit: 1 })).items, [{ action: 'settings.rotate_key' }]);
  await plane.stop();
  const next = await startPlane({ dataDir: plane.dataDir });
  t.teardown(() => next.stop());
  t.same(next.box.keyIds(), [json.key_id], 'the start has dropped the old one');
  t.equal((await next.settings.current()).providerKey('openai'), KEY);
});
