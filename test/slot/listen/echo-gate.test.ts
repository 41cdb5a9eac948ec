import { execFileSync } from 'node:child_process';
import t from 'tap';
import { audioKernels } from '../../../src/platform/audio-kernels.ts';
import { findEngine } from '../../../src/platform/engine-programs.ts';
import { EchoGate } from '../../../src/slot/listen/echo-gate.ts';
import { humanSpeech } from '../../harness/human-speech.ts';
import { seededRandom } from '../../harness/seeded-random.ts';

/**
 * Known by construction: the bot's voice comes back delayed by 80 to 890 ms and weaker by 6 to 30 dB through a dull,
 * noisy line, or a human recording begins while the bot speaks.
 */
const TRIALS = 240;
const BLOCK = 256;
const FRAME = 160;

const BOTS = [
  voice(
    'Good morning, I am calling from your bank about the payment that is due on the fifth of this month.',
    'en',
  ),
  voice(
    'Your order has been shipped and will arrive tomorrow. Would you like to change the address?',
    'en+f3',
  ),
  voice('नमस्ते, मैं आपके बैंक से बोल रही हूँ। आपकी किस्त पाँच तारीख को देनी है।', 'hi'),
];
const HUMANS = ['goforward.raw', 'something.raw', 'numbers.raw'].map(humanSpeech);

t.test('RT-18 an echo of the bot is told from a caller who interrupts it', async (t) => {
  const echo = trials('echo', 600);
  const barge = trials('caller', 600);
  const both = trials('both', 600);
  t.comment(
    `after 600 ms: ${echo.suppressed} of ${echo.n} echoes suppressed; ` +
      `${barge.suppressed} of ${barge.n} callers, ${both.suppressed} of ${both.n} callers with echo`,
  );
  t.ok(echo.suppressed / echo.n > 0.6, 'most echoes are found, though nothing is known of the line yet');
  t.ok(barge.suppressed / barge.n < 0.02, 'a caller is heard');
  t.ok(both.suppressed / both.n < 0.02, 'also through an echo');
});

t.test('RT-18 once the delay of a line is known, its echo is found sooner', async (t) => {
  const random = seededRandom(5);
  let found = 0;
  let n = 0;
  for (let trial = 0; trial < 60; trial++) {
    const line = makeLine(random);
    const first = play(line, 'echo', 700, new EchoGate());
    if (!first.isEcho) continue;
    t.equal(first.gate.line.delayMs, null, 'what only sounds like the bot is not believed yet');
    first.gate.learn();
    n++;
    if (play(line, 'echo', 260, first.gate, 40_000).isEcho) found++;
    t.ok(
      Math.abs((first.gate.line.delayMs ?? 0) - line.delay / 8) < 40,
      'the learned delay is the delay of the line',
    );
  }
  t.comment(`after 260 ms: ${found} of ${n}`);
  t.ok(n > 30 && found / n > 0.7);
});

t.test('silence and a stretch too short to tell are never an echo', async (t) => {
  const gate = new EchoGate();
  t.notOk(gate.soundsLikeBot(0, 8_000));
  t.notOk(gate.soundsLikeBot(0, 800));
  t.same(gate.line, { echoes: 0, delayMs: null, lossDb: null });
});

t.test('RT-18 a short word after the bot sounds like it at no delay', async (t) => {
  const random = seededRandom(3);
  let n = 0;
  let suppressed = 0;
  for (let trial = 0; trial < TRIALS / 3; trial++) {
    const bot = BOTS[trial % BOTS.length] as Int16Array;
    const human = HUMANS[trial % HUMANS.length] as Int16Array;
    const word = human
      .subarray(Math.floor(random() * (human.length - 4_000)))
      .subarray(0, 2_400 + 800 * random());
    if (!isVoiced(word, 0, word.length, 300)) continue;
    n++;
    const at = bot.length + Math.floor(3_200 + random() * 2_400);
    const line: Line = { bot, human: word, delay: 0, gain: 0, noise: 3, at, random };
    for (const lengthMs of [350, 600]) {
      if (!play(line, 'caller', lengthMs, new EchoGate()).isEcho) continue;
      suppressed++;
      break;
    }
  }
  t.comment(`${suppressed} of ${n} words of 300 to 400 ms`);
  t.ok(n > 40 && suppressed === 0);
});

interface Line {
  bot: Int16Array;
  human: Int16Array;
  delay: number;
  gain: number;
  noise: number;
  at: number;
  random: () => number;
}

function trials(what: 'echo' | 'caller' | 'both', lengthMs: number): { n: number; suppressed: number } {
  const random = seededRandom(11);
  let n = 0;
  let suppressed = 0;
  for (let trial = 0; trial < TRIALS; trial++) {
    const line = makeLine(random);
    if (!isVoiced(line.bot, line.at - line.delay, lengthMs * 8, 300)) continue;
    if (what !== 'echo' && !isVoiced(line.human, 0, lengthMs * 8, 150)) continue;
    n++;
    if (play(line, what, lengthMs, new EchoGate()).isEcho) suppressed++;
  }
  return { n, suppressed };
}

function makeLine(random: () => number): Line {
  const bot = BOTS[Math.floor(random() * BOTS.length)] as Int16Array;
  const human = HUMANS[Math.floor(random() * HUMANS.length)] as Int16Array;
  const delay = Math.floor(640 + random() * 6_500);
  const offset = Math.floor(3_000 + random() * (human.length - 9_000));
  return {
    bot,
    human: human.subarray(offset),
    delay,
    gain: 10 ** (-(6 + random() * 24) / 20),
    noise: 32_768 * 10 ** (-(50 + random() * 15) / 20),
    at: Math.floor(2_000 + delay + random() * Math.max(1, bot.length - delay - 8_000)),
    random,
  };
}

/** Plays the bot and what comes back of it from `shift` of the line clock on, up to `lengthMs` after the beginning. */
function play(line: Line, what: 'echo' | 'caller' | 'both', lengthMs: number, gate: EchoGate, shift = 0) {
  const end = line.at + lengthMs * 8;
  const window = new Int16Array(BLOCK);
  let dull = 0;
  let sent = 0;
  let heard = 0;
  for (; heard + BLOCK <= end; heard += BLOCK) {
    for (; sent < heard + BLOCK + 1_600; sent += FRAME)
      gate.sent(line.bot.slice(sent, sent + FRAME), shift + sent);
    for (let at = 0; at < BLOCK; at++) {
      const place = heard + at;
      dull = dull * 0.4 + (line.bot[place - line.delay] ?? 0) * line.gain * 0.6;
      const echo = what === 'caller' ? 0 : what === 'both' ? dull * 0.3 : dull;
      const human = what === 'echo' || place < line.at ? 0 : (line.human[place - line.at] ?? 0);
      const noise = (line.random() + line.random() + line.random() - 1.5) * line.noise;
      window[at] = Math.max(-32_768, Math.min(32_767, Math.round(echo + human + noise)));
    }
    gate.heard(window, shift + heard);
  }
  return { gate, isEcho: gate.soundsLikeBot(shift + line.at, shift + heard) };
}

function isVoiced(samples: Int16Array, from: number, length: number, meanAmplitude: number): boolean {
  let sum = 0;
  for (let at = Math.max(0, from); at < from + length; at++) sum += Math.abs(samples[at] ?? 0);
  return sum / length >= meanAmplitude;
}

function voice(text: string, name: string): Int16Array {
  const engine = findEngine('espeak-ng');
  if (!engine) throw new Error('espeak-ng is missing; npm test installs it');
  const wav = execFileSync(engine.path, ['--stdout', '-v', name, text], {
    env: { ...process.env, ...engine.env },
  });
  const samples = new Int16Array(wav.buffer.slice(wav.byteOffset + 44, wav.byteOffset + (wav.length & ~1)));
  return new (audioKernels().Resampler)(22_050, 8_000).process(samples).slice();
}
