import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { stereoWav } from '../../src/cli/sound-track.ts';
import { runCli } from '../harness/command-line.ts';
import { humanSpeech } from '../harness/human-speech.ts';
import { tempFolder } from '../harness/temp-folder.ts';

const folder = tempFolder();
const speech = humanSpeech('goforward.raw').slice(3_000, 18_000);
const caller = new Int16Array(64_000);
caller.set(speech, 8_000);
const bot = new Int16Array(64_000).fill(2_000, 40_000, 56_000);
const wav = join(folder, 'heard.wav');
writeFileSync(wav, stereoWav(caller, bot));
mkdirSync(join(folder, 'recordings/2026'), { recursive: true });
writeFileSync(join(folder, 'recordings/2026/session-7b0c.wav'), stereoWav(caller, bot));

const turnlab = (...args: string[]) =>
  runCli(
    ['turnlab', ...args],
    { DATA_DIR: folder, ...(process.env.MODEL_DIR ? { MODEL_DIR: process.env.MODEL_DIR } : {}) },
    60_000,
  );

t.test('a recording is replayed with other settings, as text, JSON and picture', async (t) => {
  const svg = join(folder, 'turns.svg');
  const trial = ['--vad', 'turn_model=off', '--vad', 'turn_silence_ms=1200'];
  const text = await turnlab(wav, ...trial, '--svg', svg);
  t.equal(text.code, 0, text.stderr);
  t.match(text.stdout, /caller .*#/);
  t.match(text.stdout, /turns +before 1, after 1/);
  t.match(readFileSync(svg, 'utf8'), /^<svg/);
  const json = JSON.parse((await turnlab('7b0c', ...trial, '--json')).stdout);
  t.match(json, { comparison: { before: { turns: 1 }, sameEnds: 1 }, trial: { turn_silence_ms: 1200 } });
  t.ok(json.comparison.addedWaitMs > 500, 'silence alone waits longer than the model');
});

t.test('what cannot be understood is said in a sentence', async (t) => {
  t.match(await turnlab(), { code: 2, stderr: /name one call or one WAV file/ });
  t.match(await turnlab(wav, '--vad', 'turn_silnce_ms=3'), {
    code: 2,
    stderr: /did you mean turn_silence_ms/,
  });
  t.match(await turnlab(wav, '--vad', 'stop_ms=1'), { code: 2, stderr: /not a number from 32 to 5000/ });
  t.match(await turnlab('no-such-call'), { code: 1, stderr: /no recording of "no-such-call"/ });
});
