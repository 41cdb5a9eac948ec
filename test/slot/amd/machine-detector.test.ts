import t from 'tap';
import { loadModelPath } from '../../../src/platform/model-files.ts';
import { projectPath } from '../../../src/platform/project-paths.ts';
import { type AmdVerdict, MachineDetector } from '../../../src/slot/amd/machine-detector.ts';
import { SpeechSegmenter } from '../../../src/slot/listen/speech-segmenter.ts';
import { VoiceActivity } from '../../../src/slot/listen/voice-activity.ts';
import { addNoise, interval, joined, silence, spoken, tones } from '../../harness/line-sounds.ts';
import { seededRandom } from '../../harness/seeded-random.ts';
import { ASSISTANTS, type Greeting, MACHINES, PERSONS } from './greetings.ts';

const FRAME = 160;
const WINDOW = 256;
const SECOND = 8_000;
/** Engines give a text so much after it was said. */
const TEXT_DELAY = 0.4 * SECOND;

const activity = await VoiceActivity.create(await loadModelPath('silero-vad', projectPath('models')));
t.teardown(() => activity.close());

t.test(
  'RT-27 persons are recognised within 2.5 s, and machines by tone, length and phrase together',
  async (t) => {
    const random = seededRandom(27);
    const confusion = { withText: new Map<string, number>(), withoutText: new Map<string, number>() };
    const waits: number[] = [];
    for (const greeting of [...PERSONS, ...MACHINES]) {
      const sound = greetingSound(greeting, random);
      for (const useText of [true, false]) {
        const { verdicts, firstSpeech } = await judge(sound, useText);
        const last = verdicts.at(-1);
        const table = useText ? confusion.withText : confusion.withoutText;
        const cell = `${greeting.label} -> ${last?.kind ?? 'none'}`;
        table.set(cell, (table.get(cell) ?? 0) + 1);
        if (greeting.label === 'person') {
          t.equal(last?.kind, 'human', greeting.text);
          t.equal(
            verdicts.filter(({ kind }) => kind !== 'human').length,
            0,
            `never called a machine: ${greeting.text}`,
          );
          if (useText) waits.push(((verdicts[0]?.atSample ?? 0) - firstSpeech) / 8);
        } else if (useText) {
          t.equal(last?.kind, 'voicemail', greeting.text || 'a beep alone');
          t.equal(last?.takesMessage, greeting.label === 'mailbox', greeting.text);
        }
      }
    }
    for (const [name, table] of Object.entries(confusion)) {
      t.comment(`${name}: ${[...table].map(([cell, count]) => `${cell} ${count}`).join(', ')}`);
    }
    waits.sort((a, b) => a - b);
    const worst = waits.at(-1) ?? 0;
    t.comment(
      `person, from first word to verdict: median ${waits[10]?.toFixed(0)} ms, worst ${worst.toFixed(0)} ms`,
    );
    t.comment(`persons kept: ${interval(confusion.withText.get('person -> human') ?? 0, PERSONS.length)}`);
    t.ok(worst <= 2_500, 'verdict within 2.5 s of the first word');
  },
);

t.test(
  'RT-29 an assistant that asks who calls is neither a person nor a mailbox, and asks once',
  async (t) => {
    const random = seededRandom(29);
    for (const greeting of ASSISTANTS) {
      const { verdicts } = await judge(greetingSound(greeting, random), true);
      t.equal(verdicts.filter(({ kind }) => kind === 'screening').length, 1, greeting.text);
      t.notOk(verdicts.some(({ kind }) => kind === 'voicemail'));
    }
    const detector = new MachineDetector({ language: 'en-IN' });
    detector.speechStart(4_000);
    t.equal(detector.text('please state your name', 20_000)?.kind, 'screening');
    detector.speechStop(21_000);
    t.equal(
      detector.text('please state your name and reason for calling', 22_000),
      null,
      'the same words once more',
    );
    detector.speechStart(60_000);
    detector.speechStop(64_000);
    t.equal(detector.tick(64_000 + SECOND / 2)?.kind, 'human', 'then the person comes to the telephone');

    const refused = new MachineDetector({ language: 'en-IN' });
    refused.text('please state your name', 20_000);
    t.equal(
      refused.text('please leave a message after the tone', 90_000)?.kind,
      'voicemail',
      'or the mailbox does',
    );
  },
);

t.test('RT-27 in doubt it is a person, and a later sign takes that back', async (t) => {
  const detector = new MachineDetector({ language: 'en' });
  detector.speechStart(1_600);
  t.equal(detector.tick(2.5 * SECOND), null);
  const first = detector.tick(2.6 * SECOND);
  t.match(first, { kind: 'human', isProvisional: true, isRetraction: false });
  t.equal(
    detector.text('you have reached the office we are closed', 6 * SECOND),
    null,
    'people say that too',
  );
  detector.speechStop(7 * SECOND);
  const beep = tones([1_000], 400, -12);
  let verdict: AmdVerdict | null = null;
  let at = 8 * SECOND;
  for (const part of frames(joined(beep, silence(400)))) {
    verdict ??= feed(detector, part, at);
    at += part.length;
  }
  t.match(verdict, { kind: 'voicemail', isRetraction: true, takesMessage: true });
  t.ok(Math.abs((verdict?.beepEndSample ?? 0) - 8.4 * SECOND) < 250, 'the message can follow the beep');
  t.ok(
    (verdict?.atSample ?? 0) - (verdict?.beepEndSample ?? 0) < 0.3 * SECOND,
    'in time to speak 300 ms after it',
  );
  t.ok(detector.isSettled);
  const layers = new Set(verdict?.evidence.map(({ layer }) => layer));
  t.same([...layers].sort(), ['phrase', 'timing', 'tone'], 'the evidence tells which layers spoke');
});

t.test('RT-27 one hint never ends the call of a person who has shown to be one', async (t) => {
  const person = () => {
    const detector = new MachineDetector({ language: 'en-IN' });
    detector.speechStart(SECOND);
    detector.speechStop(1.6 * SECOND);
    t.match(detector.tick(2.1 * SECOND), { kind: 'human', isProvisional: false });
    return detector;
  };
  t.equal(person().text('I am not available right now, call me later', 4 * SECOND), null);
  t.equal(person().text('do you want to leave a message', 4 * SECOND), null);
  t.equal(person().text('my other phone is switched off', 4 * SECOND), null);
  const beeping = person();
  let at = 3 * SECOND;
  for (const part of frames(joined(tones([1_000], 300, -12), silence(3_000)))) {
    t.equal(feed(beeping, part, at), null, 'a microwave oven beeps');
    at += part.length;
  }
  t.equal(
    person().text('please record your message after the beep', 4 * SECOND)?.kind,
    'voicemail',
    'no person says that',
  );
  t.match(
    person().llmVerdict('voicemail', 5 * SECOND),
    { kind: 'voicemail', isRetraction: true },
    'the model decides',
  );
  const pressed = new MachineDetector({ language: 'en' });
  t.equal(pressed.digit(SECOND)?.kind, 'human', 'machines press no keys');
});

t.test('RT-27 silence, ring back and the tones of the network have their own verdicts', async (t) => {
  const silent = new MachineDetector({ language: 'en' });
  t.equal(silent.tick(9.9 * SECOND), null);
  t.equal(silent.tick(10 * SECOND)?.kind, 'silence');
  t.equal(silent.tick(11 * SECOND), null, 'said once');
  silent.speechStart(12 * SECOND);
  silent.speechStop(12.5 * SECOND);
  t.equal(silent.tick(13 * SECOND)?.kind, 'human', 'somebody comes after all');

  const busy = feedAll(new MachineDetector({ language: 'en' }), bursts(400, 750, 750, 4));
  t.match(busy, [{ kind: 'tone', takesMessage: false }]);

  const ringing = new MachineDetector({ language: 'en' });
  const rings = joined(...Array.from({ length: 3 }, () => bursts(425, 1_000, 4_000, 1)));
  t.same(feedAll(ringing, rings), [], 'while it rings nobody has answered, for however long');

  const special = joined(
    tones([950], 330, -15),
    tones([1_400], 330, -15),
    tones([1_800], 330, -15),
    silence(2_500),
  );
  t.match(
    feedAll(new MachineDetector({ language: 'en' }), special),
    [{ kind: 'tone' }],
    'its first comma is no beep',
  );

  const settled = new MachineDetector({ language: 'en' });
  settled.speechStart(SECOND);
  settled.speechStop(1.5 * SECOND);
  settled.tick(2 * SECOND);
  settled.tick(20.1 * SECOND);
  t.ok(settled.isSettled);
  t.equal(
    settled.text('leave a message after the tone', 21 * SECOND),
    null,
    'after 20 s words are no sign any more',
  );
  t.equal(
    settled.llmVerdict('voicemail', 30 * SECOND)?.kind,
    'voicemail',
    'the tool of the model always counts',
  );
});

/** The line from the answer on: noise, a moment, the greeting, a pause, perhaps more, a beep, a while of nothing. */
function greetingSound(greeting: Greeting, random: () => number): { line: Int16Array; texts: Said[] } {
  const said: Said[] = [];
  let line = silence(300 + random() * 700);
  const say = (text: string) => {
    const speech = spoken(text, greeting.voice, 160).map((value) => value * 0.5);
    said.push({ text, fromSample: line.length, toSample: line.length + speech.length });
    line = joined(line, speech);
  };
  if (greeting.text) say(greeting.text);
  if (greeting.then) {
    line = joined(line, silence(1_500));
    say(greeting.then);
  }
  if (greeting.beepHz) line = joined(line, silence(500), tones([greeting.beepHz], 350, -15));
  return { line: addNoise(joined(line, silence(4_000)), 30, random), texts: said };
}

interface Said {
  text: string;
  fromSample: number;
  toSample: number;
}

/** Plays a line through real voice activity and, where wanted, the words as an engine would give them bit by bit. */
async function judge(sound: { line: Int16Array; texts: Said[] }, useText: boolean) {
  activity.reset();
  const segmenter = new SpeechSegmenter({});
  const detector = new MachineDetector({ language: 'hi-IN' });
  const verdicts: AmdVerdict[] = [];
  const take = (verdict: AmdVerdict | null) => verdict && verdicts.push(verdict);
  const interims = useText ? sound.texts.flatMap(interimsOf) : [];
  let firstSpeech = sound.texts[0]?.fromSample ?? 0;
  let isFirst = true;
  let windowAt = 0;
  for (let at = 0; at + FRAME <= sound.line.length; at += FRAME) {
    take(feed(detector, sound.line.subarray(at, at + FRAME), at));
    for (; windowAt + WINDOW <= at + FRAME; windowAt += WINDOW) {
      const probability = await activity.probability(sound.line.subarray(windowAt, windowAt + WINDOW));
      const event = segmenter.push(probability, windowAt);
      if (event?.type === 'speech_start') {
        take(detector.speechStart(event.atSample));
        if (isFirst) firstSpeech = event.atSample;
        isFirst = false;
      } else if (event) take(detector.speechStop(event.atSample));
    }
    while (interims[0] && interims[0].atSample <= at) {
      const interim = interims.shift();
      if (interim) take(detector.text(interim.text, at));
    }
  }
  return { verdicts, firstSpeech };
}

/** The text as it grows word by word, each word some time after it was said. */
function interimsOf({ text, fromSample, toSample }: Said): { text: string; atSample: number }[] {
  const words = text.split(' ');
  const perWord = (toSample - fromSample) / words.length;
  return words.map((_, at) => ({
    text: words.slice(0, at + 1).join(' '),
    atSample: fromSample + perWord * (at + 1) + TEXT_DELAY,
  }));
}

function feedAll(detector: MachineDetector, line: Int16Array): AmdVerdict[] {
  const verdicts: AmdVerdict[] = [];
  let at = 0;
  for (const part of frames(line)) {
    const verdict = feed(detector, part, at);
    if (verdict) verdicts.push(verdict);
    at += part.length;
  }
  return verdicts;
}

/** Audio and the verdict on it, as the call brings them. */
function feed(detector: MachineDetector, samples: Int16Array, fromSample: number): AmdVerdict | null {
  detector.hearTones(samples, fromSample);
  return detector.tick(fromSample + samples.length);
}

function frames(line: Int16Array): Int16Array[] {
  return Array.from({ length: Math.floor(line.length / FRAME) }, (_, at) =>
    line.subarray(at * FRAME, (at + 1) * FRAME),
  );
}

function bursts(hz: number, onMs: number, offMs: number, count: number): Int16Array {
  return joined(...Array.from({ length: count }, () => joined(tones([hz], onMs, -15), silence(offMs))));
}
