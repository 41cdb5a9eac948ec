import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { DiallerCall } from '../../src/cli/dialler-client.ts';
import { readWav } from '../../src/platform/wav.ts';
import { dtmfTones } from '../../src/slot/dtmf/digit-tools.ts';
import { DtmfDetector } from '../../src/slot/dtmf/dtmf-detector.ts';
import { Appliance } from '../harness/appliance.ts';
import { ForeignPlane } from '../harness/foreign-plane.ts';
import { humanSpeech } from '../harness/human-speech.ts';
import { joined, silence } from '../harness/line-sounds.ts';
import { eventNamed, resultOfCall, saidByBot } from '../harness/scripted-call.ts';
import { undocumentedKeys } from '../harness/undocumented-keys.ts';

t.setTimeout(280_000);
const plane = await ForeignPlane.start();
const appliance = await Appliance.start({ ...plane.env, SLOTS: '2' });
const harness = { plane, appliance };
t.teardown(async () => {
  await appliance.destroy();
  await plane.close();
});

const QUESTION = humanSpeech('goforward.raw');
const SECRET = '739154';
const LONG_PROMPT =
  'Please enter the four digits of your number, and take as much time as you need to find them, and press the keys one by one.';

/** A bot that does `tool` when the caller says `word`, and says `reply` before it and `after` behind it. */
function doing(
  word: string,
  { reply, tool, args, after }: { reply: string; tool: string; args: Record<string, unknown>; after: string },
) {
  return { intent: word, pattern: word, reply, tool: { name: tool, args, reply: after } };
}

function keypadBot(
  script: readonly string[],
  rules: readonly Record<string, unknown>[],
): Record<string, unknown> {
  return {
    opening_message: 'Hello.',
    stt: { provider: 'scripted', script },
    llm: { provider: 'scripted', rules, fallback: { reply: 'What?' } },
    tools: ['collect_digits', 'send_dtmf'].map((name) => ({ type: 'built_in', name })),
  };
}

/** Asks the scripted question and waits until the bot has said `marks` things more. */
async function ask(call: DiallerCall, marks: number): Promise<boolean> {
  const before = call.events.length;
  await call.say(QUESTION);
  return hearsMore(call, before, marks);
}

function hearsMore(call: DiallerCall, sinceEvent: number, marks: number): Promise<boolean> {
  const played = () => call.events.slice(sinceEvent).filter(({ type }) => type === 'mark_played').length;
  return call.until(() => played() >= marks, 60_000);
}

function keysIn(samples: Int16Array): string {
  const detector = new DtmfDetector();
  return detector
    .feed(samples, 0)
    .map(({ digit }) => digit)
    .join('');
}

/** Every file that the appliance has written, its log among them. */
function filesWith(text: string): string[] {
  const files = readdirSync(appliance.dataDir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  return files.filter((path) => {
    try {
      return readFileSync(path).includes(text);
    } catch {
      return false;
    }
  });
}

t.test('RT-32 secret digits reach the tool that needs them, and nobody else', async (t) => {
  const rules = [
    doing('key', {
      reply: 'Please enter your code.',
      tool: 'collect_digits',
      args: { max_digits: 6, secret: true },
      after: 'Thank you, {result}.',
    }),
    doing('send', {
      reply: 'One moment.',
      tool: 'send_dtmf',
      args: { keys: '[[digits-1]]' },
      after: 'It was sent.',
    }),
  ];
  const result = await resultOfCall(harness, keypadBot(['key', 'send'], rules), async (call) => {
    await call.answerAfter(0);
    t.ok(await ask(call, 1), 'the bot asks for the code');
    // Longer than a bot may owe an answer: it owes none while the caller looks for the keys.
    await call.say(silence(3_500));
    const before = call.events.length;
    for (const digit of SECRET) call.send({ event: 'dtmf', dtmf: { digit } });
    t.ok(await hearsMore(call, before, 1), 'with the last digit it goes on');
    t.ok(await ask(call, 3));
    t.equal(keysIn(call.heard.samples), SECRET, 'and the tool that it was meant for has it');
    t.same(filesWith(SECRET), [], 'no file holds the digits while the call runs');
    await call.hangUp();
  });
  t.notMatch(JSON.stringify(result), new RegExp(SECRET), 'the results do not hold them');
  t.same(filesWith(SECRET), [], 'nor any file of the appliance');
  const pressed = result.events.filter(({ event }) => event === 'dtmf');
  t.match(pressed, [{ digit: '••••', source: 'signalled' }], 'one event, which does not tell how many');
  t.match(eventNamed(result, 'digits_collected'), {
    digits: '••••',
    status: 'complete',
    ended_by: 'max_digits',
  });
  t.match(saidByBot(result).join(' '), /Thank you.*digits-1.*It was sent/);
  t.match(eventNamed(result, 'dtmf_sent'), { digits: '[[digits-1]]' });
  t.notOk(eventNamed(result, 'rescue_spoken'), 'nobody was told to wait meanwhile');
  t.same(result.events.flatMap(undocumentedKeys), []);
});

t.test(
  'RT-32 keys in the audio are heard once, also where the line signals them, and secret ones are not recorded',
  async (t) => {
    const collect = (word: string, secret: boolean, reply: string) =>
      doing(word, {
        reply,
        tool: 'collect_digits',
        args: { max_digits: 4, secret },
        after: 'Thank you.',
      });
    const rules = [collect('secret', true, LONG_PROMPT), collect('open', false, 'And the other one.')];
    const result = await resultOfCall(harness, keypadBot(['secret', 'open'], rules), async (call) => {
      await call.answerAfter(0);
      const before = call.events.length;
      await call.say(QUESTION);
      await call.until(() => call.botIsSpeaking, 60_000);
      await call.say(joined(silence(600), dtmfTones('8520'), silence(300)));
      t.ok(await hearsMore(call, before, 1), 'four tones are four digits');
      t.ok(
        call.events.slice(before).some(({ type }) => type === 'clear'),
        'whoever presses keys need not hear the rest of the prompt',
      );
      t.ok(await ask(call, 1));
      const later = call.events.length;
      const sounds = call.say(joined(dtmfTones('1'), silence(300)));
      call.send({ event: 'dtmf', dtmf: { digit: '1' } });
      await sounds;
      await call.say(joined(dtmfTones('2'), silence(300)));
      for (const digit of '23#') call.send({ event: 'dtmf', dtmf: { digit } });
      t.ok(await hearsMore(call, later, 1));
      t.equal(keysIn(call.spoken.samples), '852012', 'so the caller has sounded');
      await call.hangUp();
    });
    const collected = result.events.filter(({ event }) => event === 'digits_collected');
    t.notMatch(saidByBot(result).join(' '), /one by one/);
    t.notOk(eventNamed(result, 'interrupted'), 'tones are no words');
    t.match(collected, [
      { digits: '••••', ended_by: 'max_digits' },
      { digits: '123', ended_by: 'terminator' },
    ]);
    const pressed = result.events.filter(({ event }) => event === 'dtmf');
    t.equal(pressed.map(({ digit }) => digit).join(''), '••••123#', 'each key counts once');
    t.equal(pressed[0]?.source, 'in_band');
    const wav = readWav(readFileSync(join(appliance.dataDir, 'recordings', result.recording_key ?? '')));
    const caller = Int16Array.from(
      { length: wav.samples.length / 2 },
      (_, index) => wav.samples[2 * index] ?? 0,
    );
    t.equal(keysIn(caller), '12', 'the recording holds the open digits and not the secret ones');
  },
);

t.test('RT-33 the bot presses keys: the far end hears them between its words', async (t) => {
  const rules = [
    doing('menu', {
      reply: 'I am pressing keys.',
      tool: 'send_dtmf',
      args: { keys: '1,42#' },
      after: 'That was all.',
    }),
  ];
  const result = await resultOfCall(harness, keypadBot(['menu'], rules), async (call) => {
    await call.answerAfter(0);
    t.ok(await ask(call, 3));
    const line = call.heard.samples;
    t.equal(keysIn(line), '142#');
    const detector = new DtmfDetector();
    const keys = detector.feed(line, 0);
    const speech = 'That was all.'.length * 0.04 * 8_000;
    const last = keys.at(-1)?.atSample ?? 0;
    const tail = line.subarray(last).filter((value) => Math.abs(value) > 300).length;
    t.ok(tail > speech / 4, 'words follow the last key');
    await call.hangUp();
  });
  t.match(eventNamed(result, 'dtmf_sent'), { digits: '1,42#' });
  t.equal(saidByBot(result).at(-1), 'I am pressing keys. That was all.');
});
