import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { DEMO_CLIPS, type DemoClip } from '../../src/cli/demo-script.ts';
import { openStt } from '../../src/providers/open-providers.ts';
import type { DecoderSession } from '../../src/providers/vendors/pocketsphinx/decoder-session.ts';
import { childrenNamed, crashDecoder, DECODER, decoderPid, processOf } from '../harness/processes.ts';
import { until } from '../harness/wait.ts';
import { feedFrames, lineAudio, lineNoise } from './recordings.ts';

const never = new AbortController().signal;
const PHRASES = ['ten of clubs', 'seven of clubs', 'go forward ten meters', 'five five'];
const TEN = clipOf('ten of clubs');
const SEVEN = clipOf('seven of clubs');
const FORWARD = clipOf('go forward ten meters');

function clipOf(phrase: string): Int16Array {
  return lineAudio(DEMO_CLIPS.find((clip) => clip.expectedPhrase === phrase) as DemoClip);
}

async function listen(t: Test, settings: Record<string, unknown> = { phrases: PHRASES }) {
  const interims: string[] = [];
  const failures: Error[] = [];
  const stt = await openStt({ provider: 'pocketsphinx', ...settings });
  t.equal(stt.wantsSilence, false);
  const session = (await stt.open({
    onInterim: (text) => interims.push(text),
    onFailure: (error) => failures.push(error),
  })) as DecoderSession;
  t.teardown(() => session.close());
  return { session, interims, failures };
}

t.test('a turn is its phrase; the next turn starts from nothing', async (t) => {
  const { session, interims, failures } = await listen(t);
  for (const [audio, phrase] of [
    [TEN, 'ten of clubs'],
    [SEVEN, 'seven of clubs'],
    [FORWARD, 'go forward ten meters'],
  ] as const) {
    feedFrames(session, audio);
    t.same(await session.flush(never), { text: phrase, confidence: null });
  }
  t.same(interims, ['ten of clubs', 'seven of clubs', 'go forward ten meters']);
  t.same(failures, []);
});

t.test('a turn may hold a pause', async (t) => {
  const { session } = await listen(t, { phrases: ['ten of clubs seven of clubs', 'ten of clubs'] });
  feedFrames(session, TEN);
  feedFrames(session, lineNoise(400, 3));
  feedFrames(session, SEVEN);
  t.equal((await session.flush(never)).text, 'ten of clubs seven of clubs');
});

t.test('a turn in which nothing was said is empty at once, not after a timeout', async (t) => {
  const { session } = await listen(t);
  t.equal((await session.flush(never)).text, '', 'without audio');
  session.feed(new Int16Array(8_000));
  t.equal((await session.flush(never)).text, '', 'digital silence');
  const startMs = performance.now();
  feedFrames(session, lineNoise(1_000, 20));
  t.equal((await session.flush(never)).text, '', 'line noise');
  // The bound is the timeout, with room for a busy machine; some 5 ms are usual.
  t.ok(performance.now() - startMs < 1_500);
});

t.test('discarded audio is in no turn', async (t) => {
  const { session } = await listen(t);
  feedFrames(session, TEN);
  session.discard();
  feedFrames(session, SEVEN);
  t.equal((await session.flush(never)).text, 'seven of clubs');
  feedFrames(session, TEN);
  session.discard();
  t.equal((await session.flush(never)).text, '');
});

t.test('audio that comes while a turn is being ended belongs to the next', async (t) => {
  const { session } = await listen(t);
  feedFrames(session, TEN);
  const first = session.flush(never);
  feedFrames(session, SEVEN);
  const second = session.flush(never);
  t.same([(await first).text, (await second).text], ['ten of clubs', 'seven of clubs']);
});

t.test('the caller may change the block it fed', async (t) => {
  const { session } = await listen(t);
  for (let at = 0; at < TEN.length; at += 160) {
    const block = TEN.slice(at, at + 160);
    session.feed(block);
    block.fill(0);
  }
  t.equal((await session.flush(never)).text, 'ten of clubs');
});

t.test('speech outside the phrases is unclear; where the bot wants, it is the nearest phrase', async (t) => {
  const novel = clipOf('he was not an ill disposed young man');
  const strict = await listen(t, { phrases: PHRASES, unclear_text: 'eh?' });
  feedFrames(strict.session, novel);
  t.equal((await strict.session.flush(never)).text, 'eh?');
  const lenient = await listen(t, { phrases: ['good morning', 'good night'], reject_others: false });
  feedFrames(lenient.session, novel);
  t.match((await lenient.session.flush(never)).text, /^(good (morning|night))?$/);
});

t.test('a JSGF grammar and pronunciations of the bot are heard', async (t) => {
  const { session } = await listen(t, {
    grammar:
      '#JSGF V1.0; grammar g; public <a> = <n> of trunklubs; <n> = ten | seven; public <b> = ten hearts;',
    pronunciations: { Trunklubs: 'k l ah b z' },
  });
  feedFrames(session, TEN);
  t.equal((await session.flush(never)).text, 'ten of trunklubs');
});

t.test('words that the dictionary lacks are refused by name', async (t) => {
  const wrong: [Record<string, unknown>, RegExp][] = [
    [{ phrases: ['hello blorpify', 'zzyzzx now'] }, /^stt\.phrases has words .*: blorpify, zzyzzx;/],
    [{ grammar: '#JSGF V1.0; grammar g; public <a> = blorpify;' }, /^stt\.grammar has words .*: blorpify;/],
    [{ phrases: ['a'], pronunciations: { a: 'QQ' } }, /^stt\.pronunciations\.a must be 1 to 40 phones/],
    [{ phrases: ['a'], pronunciations: [] }, /^stt\.pronunciations must map/],
    [{ phrases: ['a'], reject_others: 'no' }, /^stt\.reject_others /],
    [{}, /^stt\.phrases is missing/],
  ];
  for (const [settings, message] of wrong) {
    await t.rejects(openStt({ provider: 'pocketsphinx', ...settings }), {
      code: 'bad_provider_config',
      message,
    });
  }
});

t.test('a grammar that only the decoder can refuse is refused when the call opens it', async (t) => {
  const grammar = '#JSGF V1.0; grammar g; public <a> = ( yes | no;';
  const stt = await openStt({ provider: 'pocketsphinx', grammar });
  await t.rejects(stt.open({ onInterim: () => undefined, onFailure: () => undefined }), {
    code: 'bad_provider_config',
    message: /^stt\.grammar cannot be used by pocketsphinx/,
  });
  t.same(childrenNamed(DECODER), []);
});

t.test('without the program the call is told which packages to install', async (t) => {
  const before = process.env.PATH;
  t.teardown(() => {
    process.env.PATH = before;
  });
  process.env.PATH = t.testdir();
  await t.rejects(openStt({ provider: 'pocketsphinx', phrases: ['yes'] }), {
    code: 'engine_missing',
    message: /apt-get install pocketsphinx pocketsphinx-en-us/,
  });
});

t.test(
  'RT-57 a decoder that dies in the middle of a turn is replaced, and the turn is understood',
  async (t) => {
    const { session, failures } = await listen(t);
    const half = FORWARD.length >> 1;
    feedFrames(session, FORWARD.subarray(0, half));
    await crashDecoder();
    feedFrames(session, FORWARD.subarray(half));
    t.equal((await session.flush(never)).text, 'go forward ten meters');
    await crashDecoder();
    feedFrames(session, TEN);
    t.equal((await session.flush(never)).text, 'ten of clubs', 'also when it dies between turns');
    t.same(failures, [], 'the call need not know');
  },
);

t.test('a decoder that dies again and again ends the session, which says so once', async (t) => {
  const { session, failures } = await listen(t);
  feedFrames(session, TEN);
  await crashDecoder();
  session.feed(SEVEN.slice(0, 160));
  // The second piece is taken once the next decoder is there for the first.
  session.feed(SEVEN.slice(160, 320));
  await until(() => session.lagSamples === 0);
  await crashDecoder();
  await until(() => failures.length > 0);
  t.equal(failures.length, 1);
  t.match(failures[0], { code: 'provider_failed', message: /pocketsphinx ended with SIGSEGV/ });
  session.feed(SEVEN);
  await t.rejects(session.flush(never), { code: 'provider_failed' });
  t.equal(failures.length, 1);
  t.same(childrenNamed(DECODER), [], 'no third child');
});

t.test('a decoder that hangs fails the flush in time and is replaced', async (t) => {
  const { session, failures } = await listen(t);
  feedFrames(session, TEN);
  const hung = decoderPid();
  process.kill(hung, 'SIGSTOP');
  await t.rejects(session.flush(never), { code: 'provider_timeout' });
  feedFrames(session, SEVEN);
  t.equal((await session.flush(never)).text, 'seven of clubs');
  t.same(failures, []);
  await until(() => processOf(hung) === undefined);
  t.pass('the hung one is gone, though it ignored SIGTERM');
});

t.test('audio beyond what may wait replaces the decoder instead of filling the memory', async (t) => {
  const { session } = await listen(t);
  const hung = decoderPid();
  process.kill(hung, 'SIGSTOP');
  for (let second = 0; second < 16; second++) session.feed(new Int16Array(8_000));
  await t.rejects(session.flush(never), { code: 'provider_timeout', message: /15000 ms behind/ });
  feedFrames(session, TEN);
  t.equal((await session.flush(never)).text, 'ten of clubs');
  await until(() => processOf(hung) === undefined);
});

t.test('an abort ends a flush with its own reason, and the turn is over', async (t) => {
  const { session } = await listen(t);
  feedFrames(session, TEN);
  const leaving = new AbortController();
  const reason = new Error('the caller left');
  const flushed = session.flush(leaving.signal);
  leaving.abort(reason);
  await t.rejects(flushed, reason);
  await t.rejects(session.flush(leaving.signal), reason);
  feedFrames(session, SEVEN);
  t.equal((await session.flush(never)).text, 'seven of clubs');
});

t.test('close leaves no process and no file, ends a flush, and can come twice', async (t) => {
  const before = process.env.TMPDIR;
  t.teardown(() => {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
  });
  const temporary = t.testdir();
  process.env.TMPDIR = temporary;
  const { session, failures } = await listen(t);
  feedFrames(session, TEN);
  const flushed = session.flush(never);
  const rejected = t.rejects(flushed, { code: 'provider_failed' });
  await Promise.all([session.close(), session.close()]);
  await rejected;
  t.same(childrenNamed(DECODER), []);
  t.same(readdirSync(temporary), []);
  session.feed(TEN);
  session.discard();
  await t.rejects(session.flush(never), { code: 'provider_failed' });
  t.same(failures, []);
});

t.test('a killed slot takes its decoder with it', async (t) => {
  const ending = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  const entry = fileURLToPath(new URL(`./fixtures/listening-parent.${ending}`, import.meta.url));
  const parent = spawn(process.execPath, [entry], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.teardown(() => parent.kill('SIGKILL'));
  const [said] = (await once(parent.stdout, 'data')) as [Buffer];
  const pid = Number(said.toString());
  t.ok(processOf(pid), 'the decoder runs');
  parent.kill('SIGKILL');
  await until(() => processOf(pid) === undefined || processOf(pid)?.state === 'Z');
  t.pass('it ended');
});
