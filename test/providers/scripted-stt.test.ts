import t from 'tap';
import { openStt } from '../../src/providers/open-providers.ts';

const never = new AbortController().signal;
const speech = (ms: number) => new Int16Array(ms * 8).fill(100);

async function session(settings: Record<string, unknown>) {
  const interims: string[] = [];
  const failures: Error[] = [];
  const stt = await openStt({ provider: 'scripted', ...settings });
  const opened = await stt.open({
    onInterim: (text) => interims.push(text),
    onFailure: (error) => failures.push(error),
  });
  return { stt, opened, interims, failures };
}

t.test('texts come in the order of the script, and nothing comes after its end', async (t) => {
  const { opened } = await session({ script: ['one', 'two'] });
  const heard: string[] = [];
  for (let turn = 0; turn < 3; turn++) {
    opened.feed(speech(100));
    heard.push((await opened.flush(never)).text);
  }
  t.same(heard, ['one', 'two', '']);
});

t.test('a looped script begins again', async (t) => {
  const { opened } = await session({ script: ['one', 'two'], loop: true });
  const heard: string[] = [];
  for (let turn = 0; turn < 5; turn++) {
    opened.feed(speech(20));
    heard.push((await opened.flush(never)).text);
  }
  t.same(heard, ['one', 'two', 'one', 'two', 'one']);
});

t.test('a turn without audio has no words and takes none from the script', async (t) => {
  const { opened } = await session({ script: ['one'] });
  t.same(await opened.flush(never), { text: '', confidence: null });
  opened.feed(speech(20));
  opened.discard();
  t.equal((await opened.flush(never)).text, '', 'discarded audio counts as none');
  opened.feed(speech(20));
  t.equal((await opened.flush(never)).text, 'one');
});

t.test('interim text grows by a word per word_ms of audio and never beyond the script', async (t) => {
  const { opened, interims } = await session({ script: ['go forward now'], word_ms: 100 });
  opened.feed(speech(99));
  t.same(interims, []);
  opened.feed(speech(1));
  opened.feed(speech(500));
  t.same(interims, ['go', 'go forward', 'go forward now']);
});

t.test('a turn of fail_on rejects and the next one is served', async (t) => {
  const { opened, failures } = await session({ script: ['one', 'two'], fail_on: [1] });
  opened.feed(speech(20));
  await t.rejects(opened.flush(never), { code: 'provider_failed' });
  opened.feed(speech(20));
  t.equal((await opened.flush(never)).text, 'two');
  t.same(failures, []);
});

t.test('a turn of break_on breaks the session for good, and says so once', async (t) => {
  const { opened, failures } = await session({ script: ['one', 'two'], break_on: [2] });
  opened.feed(speech(20));
  t.equal((await opened.flush(never)).text, 'one');
  opened.feed(speech(20));
  opened.feed(speech(20));
  t.equal(failures.length, 1);
  await t.rejects(opened.flush(never), { code: 'provider_failed' });
});

t.test('final_delay_ms delays the text, and an abort ends the wait with its own reason', async (t) => {
  const { opened } = await session({ script: ['one', 'two'], final_delay_ms: 60 });
  opened.feed(speech(20));
  const startMs = performance.now();
  await opened.flush(never);
  t.ok(performance.now() - startMs >= 58);
  const slow = await session({ script: ['one'], final_delay_ms: 60_000 });
  slow.opened.feed(speech(20));
  const leaving = new AbortController();
  const flushed = slow.opened.flush(leaving.signal);
  const reason = new Error('the caller left');
  leaving.abort(reason);
  await t.rejects(flushed, reason);
});

t.test('wants_silence is what the bot says', async (t) => {
  t.equal((await session({})).stt.wantsSilence, false);
  t.equal((await session({ wants_silence: true })).stt.wantsSilence, true);
});

t.test('a wrong setting is refused by its name', async (t) => {
  const wrong: [Record<string, unknown>, RegExp][] = [
    [{ script: 'one' }, /^stt\.script /],
    [{ script: [1] }, /^stt\.script /],
    [{ loop: 'yes' }, /^stt\.loop /],
    [{ final_delay_ms: -1 }, /^stt\.final_delay_ms /],
    [{ fail_on: [0] }, /^stt\.fail_on /],
    [{ word_ms: Number.NaN }, /^stt\.word_ms /],
  ];
  for (const [settings, message] of wrong) {
    await t.rejects(session(settings), { code: 'bad_provider_config', message });
  }
});
