import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { readSettings } from '../../../src/platform/settings.ts';
import { startPlane } from '../../harness/settings-harness.ts';
import { tempFolder } from '../../harness/temp-folder.ts';

const boot = (env: Record<string, string>) => readSettings(env, '/folder', '/install');

t.test('the environment seeds the system settings on the first start, and never again', async (t) => {
  const { seeds } = boot({
    DEEPGRAM_API_KEY: 'deepgram-key-0123',
    AGENT_DESK_WAITING_TIMEOUT_SECONDS: '60',
    OUTBOUND_ALLOWED_NETWORKS: '10.20.0.0/16, fd00::/8',
    KNOWLEDGE_ENABLED: 'false',
    SIP_DEFAULT_FROM: '+911140000000',
    RETENTION_RECORDING_DAYS: '30',
    S3_REGION: '',
    PATH: '/usr/bin',
  });
  t.notOk('path' in seeds, 'other variables stay out');
  const first = await startPlane({ seeds });
  const { values, providerKey } = await first.settings.current();
  t.match(values, {
    agent_desk_waiting_timeout_seconds: 60,
    outbound_allowed_networks: ['10.20.0.0/16', 'fd00::/8'],
    knowledge_enabled: false,
    sip_default_from: '+911140000000',
    retention_recording_days: 30,
    s3_region: 'us-east-1',
    agent_desk_policy_poll_seconds: 5,
  });
  t.equal(providerKey('deepgram'), 'deepgram-key-0123');
  await first.stop();

  const second = await startPlane({
    dataDir: first.dataDir,
    seeds: { deepgram_api_key: 'another-key-0123', s3_region: 'eu-west-1', display_timezone: 'no such zone' },
  });
  t.teardown(() => second.stop());
  const later = await second.settings.current();
  t.equal(later.providerKey('deepgram'), 'deepgram-key-0123');
  t.equal(later.values.s3_region, 'us-east-1');
});

t.test('a change that was answered survives the death of the process, together with its key', async (t) => {
  const dataDir = tempFolder();
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  const entry = fileURLToPath(new URL(`./fixtures/settings-victim.${extension}`, import.meta.url));
  const child = fork(entry, [dataDir], { stdio: 'ignore' });
  const exited = new Promise((resolve) => child.once('exit', resolve));
  const said = await Promise.race([new Promise((resolve) => child.once('message', resolve)), exited]);
  t.equal(said, 'answered');
  child.kill('SIGKILL');
  await exited;
  const plane = await startPlane({ dataDir });
  t.teardown(() => plane.stop());
  const settings = await plane.settings.current();
  t.equal(settings.values.display_timezone, 'Asia/Kolkata');
  t.equal(settings.providerKey('deepgram'), 'answered-before-the-kill');
  t.equal(plane.box.keyIds().length, 1, 'the rotation was ended by this start');
  t.equal((await plane.audit.verify()).ok, true);
});

t.test(
  'a seed that does not fit stops the start with the name of the variable, not with what it holds',
  async (t) => {
    const wrong: Record<string, string> = {
      AGENT_DESK_POLICY_POLL_SECONDS: 'often-hidden',
      KNOWLEDGE_ENABLED: 'perhaps-hidden',
      DISPLAY_TIMEZONE: 'Hidden/Zone',
      OUTBOUND_ALLOWED_NETWORKS: '10.0.0.0/8,hidden',
      SIP_DEFAULT_FROM: 'hidden',
      OPENAI_API_KEY: 'a key with spaces hidden',
    };
    for (const [name, value] of Object.entries(wrong)) {
      try {
        await startPlane({ seeds: boot({ [name]: value }).seeds });
        t.fail(`${name} was accepted`);
      } catch (error) {
        t.match(error, { code: 'bad_setting', message: new RegExp(`^${name}: `) });
        t.notMatch(String(error), /hidden/i);
      }
    }
  },
);

t.test(
  'FLEET_URLS takes https, and http on loopback only, since the core secret travels there',
  async (t) => {
    t.same(boot({}).fleetUrls, []);
    t.same(
      boot({ FLEET_URLS: 'https://a.example.org/, http://127.0.0.1:8090,https://a.example.org' }).fleetUrls,
      ['https://a.example.org', 'http://127.0.0.1:8090'],
    );
    for (const url of [
      'http://a.example.org',
      'https://u:p@a.example.org',
      'ftp://a',
      'a.example.org:8090',
    ]) {
      t.throws(() => boot({ FLEET_URLS: url }), { code: 'bad_setting', message: /^FLEET_URLS: / }, url);
    }
  },
);
