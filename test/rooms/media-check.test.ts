import t from 'tap';
import { checkMedia } from '../../src/cli/doctor.ts';
import { checkMediaServer, type MediaCheck } from '../../src/platform/media-probe.ts';
import { MediaServer } from '../../src/platform/media-server.ts';
import { readSettings } from '../../src/platform/settings.ts';
import { startPlane } from '../harness/settings-harness.ts';
import { ownStack, useStack } from '../stack/use-stack.ts';

t.setTimeout(280_000);

const find = (checks: readonly MediaCheck[], name: MediaCheck['name']) =>
  checks.find((check) => check.name === name);

t.test(
  'a media server in order is found in order, with its version, and nothing is left behind',
  async (t) => {
    const stack = await ownStack(t);
    const { wsUrl: url, apiKey, apiSecret } = stack;
    const access = { url, apiKey, apiSecret };
    const checks = await checkMediaServer(access, url);
    t.match(find(checks, 'media key'), { status: 'ok' });
    t.match(find(checks, 'media address'), { status: 'ok', text: /version \d+\.\d+\.\d+/ });
    t.match(find(checks, 'media SIP'), { status: 'ok' });
    t.notOk(find(checks, 'media clock'), 'the clocks agree, since there is one');
    t.same(await new MediaServer(access).listRooms(), []);

    const wrongKey = await checkMediaServer({ ...access, apiSecret: 'x'.repeat(40) }, url);
    t.match(find(wrongKey, 'media key'), {
      status: 'fail',
      text: /refuses the key/,
      advice: /livekit_api_secret/,
    });
    t.equal(find(wrongKey, 'media SIP'), undefined, 'without a key nothing more can be said');
    const elsewhere = await checkMediaServer(access, 'wss://127.0.0.1:9');
    t.match(find(elsewhere, 'media address'), {
      status: 'warn',
      text: /cannot be joined/,
      advice: /public_url/,
    });
    const open = await checkMediaServer(access, url.replace('127.0.0.1', '127.0.0.2'));
    t.match(
      find(open, 'media address'),
      { status: 'warn' },
      'another address of the machine is not loopback to browsers',
    );

    await stack.killSip();
    const noSip = await checkMediaServer(access, url);
    t.match(find(noSip, 'media SIP'), { status: 'warn', advice: /livekit-sip/ });
    t.match(find(noSip, 'media key'), { status: 'ok' }, 'rooms for browsers go on');

    await stack.killServer();
    const away = await checkMediaServer(access, url);
    t.match(away, [{ name: 'media server', status: 'fail', text: /does not answer/ }]);
  },
);

t.test('the control plane looks with the keys of its settings, and tells of each trunk', async (t) => {
  const stack = await ownStack(t);
  const plane = await startPlane();
  t.teardown(() => plane.stop());
  const admin = async (method: string, path: string, body?: unknown) =>
    (await plane.call(method, `/api/v1${path}`, { body, headers: plane.as('admin') })).json;
  const check = () => admin('POST', '/media-server/check');
  t.same(await check(), { configured: false, checks: [] }, 'none is set up, which is no mistake');
  await admin('PATCH', '/settings', { values: { livekit_url: stack.wsUrl } });
  t.match(await check(), { configured: false, checks: [{ status: 'fail', text: /livekit_api_key and/ }] });
  await admin('PATCH', '/settings', {
    secrets: { livekit_api_key: stack.apiKey, livekit_api_secret: stack.apiSecret },
  });
  await admin('POST', '/trunks', {
    name: 'Carrier',
    direction: 'outbound',
    address: '127.0.0.1:9',
    numbers: ['+15550000001'],
  });
  const found = await check();
  t.equal(found.configured, true);
  t.match(
    found.checks.find(({ name }: MediaCheck) => String(name) === 'trunk Carrier'),
    { status: 'ok', text: /stands in the media server/ },
  );
  t.same(
    found.checks.filter(({ status }: MediaCheck) => status !== 'ok'),
    [],
  );
});

t.test(
  'the doctor of a worker looks with the keys of its environment, and shows the webhook lines',
  async (t) => {
    const { wsUrl, apiKey, apiSecret } = await useStack(t);
    const env = { ROLE: 'worker', CONFIG_URL: 'http://127.0.0.1:9/config' };
    const doctor = (more: Record<string, string>) =>
      checkMedia(readSettings({ ...env, ...more }, '/tmp', '/tmp'));
    t.same(await doctor({}), [], 'no media server, no findings');
    const found = await doctor({
      LIVEKIT_URL: wsUrl,
      LIVEKIT_API_KEY: apiKey,
      LIVEKIT_API_SECRET: apiSecret,
      FLEET_LISTEN: '127.0.0.1:8090',
    });
    t.same(
      found.map(({ name, status }) => `${name} ${status}`),
      ['media key ok', 'media address ok', 'media SIP ok', 'media webhook ok'],
    );
    t.match(found.at(-1)?.text, 'urls: ["http://127.0.0.1:8090/rtc/dispatch"]');
    t.match(await doctor({ LIVEKIT_URL: wsUrl }), [{ status: 'fail' }, { name: 'media webhook' }]);
  },
);
