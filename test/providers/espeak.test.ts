import { execFileSync } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import t, { type Test } from 'tap';
import { openTts } from '../../src/providers/open-providers.ts';
import { childrenNamed } from '../harness/processes.ts';
import { until } from '../harness/wait.ts';

const never = new AbortController().signal;
const LONG = 'The family of Dashwood had been long settled in Sussex, and their estate was large. '.repeat(
  20,
);
const espeak = (settings: Record<string, unknown> = {}) => openTts({ provider: 'espeak', ...settings });

async function collect(blocks: AsyncIterable<Int16Array>): Promise<Int16Array> {
  const all: Int16Array[] = [];
  for await (const block of blocks) all.push(block);
  return Int16Array.from(all.flatMap((block) => [...block]));
}

/** Puts a program of the given text in front of the real espeak-ng for the rest of a test. */
function pretend(t: Test, script: string): void {
  const folder = t.testdir();
  writeFileSync(join(folder, 'espeak-ng'), `#!/bin/sh\n${script}\n`);
  chmodSync(join(folder, 'espeak-ng'), 0o755);
  const before = process.env.PATH;
  process.env.PATH = `${folder}${delimiter}${before}`;
  t.teardown(() => {
    process.env.PATH = before;
  });
}

t.test('a clause becomes audible speech of a plausible length', async (t) => {
  const voice = await espeak();
  t.equal(voice.sampleRate, 22_050);
  const audio = await collect(voice.speak('Hello, this is Trunkline.', never));
  const seconds = audio.length / voice.sampleRate;
  t.ok(seconds > 1 && seconds < 4, `${seconds} s`);
  t.ok(Math.max(...audio.map(Math.abs)) > 3_000, 'loud enough to hear');
});

t.test('audio comes in blocks before the whole text is spoken', async (t) => {
  const voice = await espeak();
  let blocks = 0;
  for await (const block of voice.speak(LONG, never)) {
    t.ok(block.length > 0);
    if (++blocks === 1) t.equal(childrenNamed('espeak-ng').length, 1, 'still at work');
  }
  t.ok(blocks > 5, `${blocks} blocks`);
});

t.test('the settings are heard', async (t) => {
  const length = async (settings: Record<string, unknown>) =>
    (await collect((await espeak(settings)).speak('One two three four five.', never))).length;
  const usual = await length({});
  t.ok((await length({ speed: 300 })) < usual * 0.8, 'speed');
  t.ok((await length({ end_pause: false })) < usual - 4_000, 'end_pause');
  t.ok((await length({ voice: 'hi' })) !== usual, 'voice');
});

t.test('a text cannot become an option, a file or phoneme codes', async (t) => {
  const voice = await espeak();
  const spoken = (text: string) => collect(voice.speak(text, never));
  t.ok((await spoken('--help')).length > 5_000);
  t.ok((await spoken('-f /etc/passwd')).length > 5_000);
  t.same(await spoken("say [[h@l'oU]]"), await spoken("say [ [h@l'oU]]"));
  t.equal((await spoken(' \u0000\n ')).length, 0, 'nothing to say starts nothing');
  t.ok((await spoken('x'.repeat(100_000))).length > 0, 'a text without end is cut');
});

t.test('an abort kills the program at once, and nothing of it is left', async (t) => {
  const voice = await espeak();
  const leaving = new AbortController();
  const reason = new Error('interrupted');
  let blocks = 0;
  const read = async () => {
    for await (const _ of voice.speak(LONG, leaving.signal)) {
      blocks++;
      leaving.abort(reason);
    }
  };
  await t.rejects(read(), reason);
  t.equal(blocks, 1, 'no block after the abort');
  await until(() => childrenNamed('espeak-ng').length === 0);
  t.pass('no child, dead or alive');
});

t.test('a consumer that stops reading leaves no program behind', async (t) => {
  const voice = await espeak();
  for await (const _ of voice.speak(LONG, never)) break;
  await until(() => childrenNamed('espeak-ng').length === 0);
  t.pass('no child');
});

t.test('at most two programs of a call run, and the clauses behind them come in order', async (t) => {
  const voice = await espeak();
  let most = 0;
  const order: number[] = [];
  const watch = setInterval(() => {
    most = Math.max(most, childrenNamed('espeak-ng').length);
  }, 2);
  await Promise.all(
    [1, 2, 3, 4, 5].map(async (clause) => {
      let first = true;
      for await (const _ of voice.speak(LONG.slice(0, 600), never)) {
        if (first) order.push(clause);
        first = false;
      }
    }),
  );
  clearInterval(watch);
  t.ok(most >= 1 && most <= 2, `${most} at once`);
  t.same([...order.slice(0, 2)].sort(), [1, 2], 'the first two run first');
  t.equal(order.length, 5);
});

t.test('clauses beyond the waiting room are refused, and an abort leaves it', async (t) => {
  const voice = await espeak();
  const leaving = new AbortController();
  const reason = new Error('over');
  const results = Array.from({ length: 19 }, () => collect(voice.speak(LONG, leaving.signal)));
  const outcomes = Promise.allSettled(results);
  await t.rejects(results[18] as Promise<unknown>, { code: 'provider_failed', message: /clauses wait/ });
  leaving.abort(reason);
  const failed = (await outcomes).filter((outcome) => outcome.status === 'rejected');
  t.equal(failed.filter((outcome) => outcome.reason === reason).length, 18);
  t.ok((await collect(voice.speak('Hello.', never))).length > 0, 'and the places are free again');
});

t.test('close ends what is spoken, waits for its end, and can come twice', async (t) => {
  const voice = await espeak();
  const spoken = collect(voice.speak(LONG, never)).catch((error: unknown) => error);
  await until(() => childrenNamed('espeak-ng').length === 1);
  await voice.close();
  t.same(childrenNamed('espeak-ng'), []);
  t.match(await spoken, { code: 'provider_failed' });
  await voice.close();
});

t.test('a voice that does not exist fails with what the program says', async (t) => {
  const voice = await espeak({ voice: 'klingonese' });
  await t.rejects(collect(voice.speak('Hello.', never)), { code: 'provider_failed', message: /espeak-ng/ });
});

t.test('a program that crashes half-way fails the clause', async (t) => {
  pretend(t, 'head -c 60000 /dev/zero >/dev/null; echo "it hurts" >&2; kill -SEGV $$');
  const voice = await espeak();
  await t.rejects(collect(voice.speak('Hello.', never)), {
    code: 'provider_failed',
    message: /SIGSEGV: it hurts/,
  });
});

t.test('a program that says something else than audio is not played', async (t) => {
  pretend(t, 'echo "this is not audio, it is an apology"');
  await t.rejects(collect((await espeak()).speak('Hello.', never)), {
    code: 'provider_failed',
    message: /did not write a WAV file/,
  });
});

t.test('without the program the call is told which package to install', async (t) => {
  const before = process.env.PATH;
  t.teardown(() => {
    process.env.PATH = before;
  });
  process.env.PATH = t.testdir();
  await t.rejects(espeak(), { code: 'engine_missing', message: /apt-get install espeak-ng/ });
});

t.test('a wrong setting is refused by its name', async (t) => {
  const wrong: [Record<string, unknown>, RegExp][] = [
    [{ voice: '-w/tmp/x' }, /^tts\.voice /],
    [{ voice: '../en' }, /^tts\.voice /],
    [{ voice: 7 }, /^tts\.voice /],
    [{ speed: 10 }, /^tts\.speed /],
    [{ pitch: 1.5 }, /^tts\.pitch /],
    [{ volume: 201 }, /^tts\.volume /],
    [{ end_pause: 'no' }, /^tts\.end_pause /],
  ];
  for (const [settings, message] of wrong) {
    await t.rejects(espeak(settings), { code: 'bad_provider_config', message });
  }
});

t.test('the program is there', (t) => {
  t.match(execFileSync('espeak-ng', ['--version'], { encoding: 'utf8' }), /eSpeak NG/);
  t.end();
});
