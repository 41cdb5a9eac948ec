import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import { samplesToBytes } from '../../src/cli/caller-audio.ts';
import { PRODUCT_VERSION } from '../../src/platform/version.ts';
import { wavHeader } from '../../src/platform/wav.ts';
import { runCli } from '../harness/command-line.ts';
import { tempFolder } from '../harness/temp-folder.ts';
import { startFarEnd, toneFrame } from './far-end.ts';

t.test('help lists every command and teaches the first steps', async (t) => {
  const ran = await runCli([]);
  t.equal(ran.code, 0);
  for (const name of ['start', 'demo', 'call', 'models', 'doctor', 'help', 'version']) {
    t.match(ran.stdout, new RegExp(`^ {2}${name} `, 'm'));
    const help = await runCli([name, '--help']);
    t.equal(help.code, 0, `${name} --help`);
    t.match(help.stdout, new RegExp(`trunkline ${name}`), `${name} explains itself`);
  }
  t.match(ran.stdout, /npm run demo/);
  t.equal((await runCli(['version'])).stdout.trim(), PRODUCT_VERSION);
});

t.test('a slip of the fingers is answered with the command that is meant', async (t) => {
  const ran = await runCli(['docter']);
  t.equal(ran.code, 2);
  t.match(ran.stderr, /did you mean "doctor"\?/);
  t.notMatch((await runCli(['xyzzy'])).stderr, /did you mean/);
});

t.test('a wrong option names itself and exits with 2', async (t) => {
  for (const args of [
    ['call', 'demo', '--wave', 'x.wav'],
    ['doctor', '--jsn'],
    ['start', '--port', '1'],
    ['demo', '--fast'],
  ]) {
    const ran = await runCli(args);
    t.equal(ran.code, 2, args.join(' '));
    t.match(ran.stderr, new RegExp(args.find((arg) => arg.startsWith('--')) as string));
  }
});

t.test('call says what is wrong with its arguments before it dials', async (t) => {
  t.match((await runCli(['call'])).stderr, /name exactly one bot/);
  t.match((await runCli(['call', 'no such/bot'])).stderr, /no bot id/);
  t.match((await runCli(['call', 'demo', '--var', 'novalue'])).stderr, /NAME=VALUE/);
  t.match((await runCli(['call', 'demo', '--url', 'ftp://x'])).stderr, /ws:\/\//);
  const folder = tempFolder();
  writeFileSync(join(folder, 'no.wav'), 'this is no audio');
  t.match(
    (await runCli(['call', 'demo', '--wav', join(folder, 'no.wav')])).stderr,
    /no\.wav: not a WAV file/,
  );
});

t.test('call to nobody says so in a sentence', async (t) => {
  const ran = await runCli(['call', 'demo', '--url', 'ws://127.0.0.1:1']);
  t.equal(ran.code, 1);
  t.match(ran.stderr, /is the appliance running/);
});

t.test('call speaks its recordings, waits for the answers and saves what was heard', async (t) => {
  const far = await startFarEnd((socket, message) => {
    if (message.event === 'connected') socket.send(JSON.stringify({ event: 'ready', session_id: 's-1' }));
    if (message.event === 'stop') socket.close(1000);
  });
  t.teardown(() => far.close());
  const speak = () => {
    const payload = samplesToBytes(toneFrame(20)).toString('base64');
    far.socket().send(JSON.stringify({ event: 'media', media: { payload } }));
    far.socket().send(JSON.stringify({ event: 'mark', mark: { name: 'm' } }));
  };
  let loudFrames = 0;
  let quietFrames = 0;
  let answered = true;
  const watch = setInterval(() => {
    if (far.messages.length === 0) return;
    // The opening, then one answer for every clip of ten loud frames, half a second behind its end.
    const media = far.messages.filter((message) => message.event === 'media');
    const loud = media.map((message) =>
      Buffer.from((message.media as { payload: string }).payload, 'base64').some((byte) => byte !== 0),
    );
    const total = loud.filter(Boolean).length;
    quietFrames = loud.length - 1 - loud.lastIndexOf(true);
    if (media.length > 0 && answered && loudFrames === 0 && total === 0) {
      answered = false;
      speak();
    }
    if (total >= loudFrames + 10 && quietFrames >= 20) {
      loudFrames = total;
      speak();
    }
  }, 50);
  t.teardown(() => clearInterval(watch));
  const folder = tempFolder();
  const clip = samplesToBytes(toneFrame(10));
  writeFileSync(
    join(folder, 'a.wav'),
    Buffer.concat([wavHeader({ sampleRate: 8000, channels: 1 }, clip.length), clip]),
  );
  const out = join(folder, 'heard.wav');
  const ran = await runCli([
    'call',
    'demo',
    '--url',
    far.url.replace('/ws/demo', ''),
    '--wav',
    join(folder, 'a.wav'),
    '--wav',
    join(folder, 'a.wav'),
    '--from',
    '+15550100',
    '--var',
    'plan=gold',
    '--json',
    '--out',
    out,
  ]);
  t.equal(ran.code, 0, ran.stderr);
  const lines = ran.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  t.match(far.messages[0], { event: 'connected', from_number: '+15550100', plan: 'gold' });
  t.equal(lines.filter((line) => line.type === 'caller_started').length, 2);
  t.match(lines.at(-1), { type: 'summary', session_id: 's-1', answers: 2, underruns: 0 });
  const { readWav } = await import('../../src/platform/wav.ts');
  const { readFileSync } = await import('node:fs');
  const heard = readWav(readFileSync(out));
  t.equal(heard.channels, 2);
  const loudOn = (channel: number) =>
    heard.samples.filter((sample, index) => index % 2 === channel && Math.abs(sample) > 1000).length;
  t.ok(loudOn(0) > 2000 && loudOn(1) > 5000, 'the caller is left and the bot is right');
});

t.test('doctor on a sound machine exits with 0 and says so as JSON too', async (t) => {
  const folder = tempFolder();
  const env = { DATA_DIR: join(folder, 'data'), CONTROL_LISTEN: '127.0.0.1:0', FLEET_LISTEN: '127.0.0.1:0' };
  const ran = await runCli(['doctor', '--json'], env);
  const report = JSON.parse(ran.stdout) as {
    ok: boolean;
    findings: { name: string; status: string; advice?: string }[];
  };
  t.equal(ran.code, 0, ran.stdout);
  t.equal(report.ok, true);
  for (const name of [
    'runtime',
    'audio kernels',
    'settings',
    'data folder',
    'disk space',
    'control port',
    'fleet port',
    'clock',
  ]) {
    t.equal(report.findings.find((finding) => finding.name === name)?.status, 'ok', name);
  }
});

t.test(
  'doctor fails with advice for a wrong setting, a taken port and a control plane that is away',
  async (t) => {
    const wrong = await runCli(['doctor'], { SLOTS: 'many' });
    t.equal(wrong.code, 1);
    t.match(wrong.stdout, /^fail +settings +SLOTS: "many" is not a whole number/m);

    const taken = createServer((socket) => socket.end('hello'));
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    t.teardown(() => taken.close());
    const address = taken.address();
    const port = typeof address === 'object' && address ? address.port : 0;
    const ran = await runCli(['doctor'], {
      CONTROL_LISTEN: `127.0.0.1:${port}`,
      FLEET_LISTEN: '127.0.0.1:0',
      CONFIG_URL: 'http://127.0.0.1:1/api/v1/config',
    });
    t.equal(ran.code, 1);
    t.match(ran.stdout, /^fail +control port .* is taken by something else\n +-> .*CONTROL_LISTEN/m);
    t.match(ran.stdout, /^fail +control plane .* does not answer/m);
    t.notMatch(ran.stdout, /^(warn|fail) .*\n(?! +->)/m, 'every warning and failure has its advice');
  },
);

t.test('a wrong setting stops the start with one sentence and exit code 78', async (t) => {
  const ran = await runCli(['start'], { WS_AUTH: 'secret' });
  t.equal(ran.code, 78);
  t.match(ran.stderr, /^trunkline: WS_AUTH: [^\n]+\n$/);
  const unread = await runCli(['start', '--settings', '/nowhere/trunkline.env']);
  t.equal(unread.code, 78);
  t.match(unread.stderr, /--settings/);
});
