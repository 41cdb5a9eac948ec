import t from 'tap';
import { WAIT_STAGES, type Waterfall } from '../../../src/contracts/call-measures.ts';
import { newReplyFacts, type ReplyFacts } from '../../../src/slot/measure/reply-facts.ts';
import { Spans } from '../../../src/slot/measure/spans.ts';
import { turnWaterfall } from '../../../src/slot/measure/turn-waterfall.ts';
import { seededRandom } from '../../harness/seeded-random.ts';

const silence = () => ({ caller: new Spans(), bot: new Spans(), held: new Spans() });

const stagesOf = (waterfall: Waterfall) =>
  Object.fromEntries(WAIT_STAGES.map((stage) => [stage, waterfall[`${stage}_ms`]]));

const sumOf = (waterfall: Waterfall) => WAIT_STAGES.reduce((sum, stage) => sum + waterfall[`${stage}_ms`], 0);

/** A reply in which everything happens after the other, each step as long as its entry says. */
function inOrder(length: { [step: string]: number }): ReplyFacts {
  const facts = newReplyFacts(7);
  let atMs = 1_000;
  const after = (step: string) => {
    atMs += length[step] ?? 0;
    return atMs;
  };
  const turn = {
    turn: 3,
    lastSample: 8_000,
    lastSpeechMs: atMs,
    arrivedMs: after('carrier'),
    decidedMs: after('turn_wait'),
    textMs: after('stt'),
  };
  facts.turn = turn;
  facts.owedFromMs = turn.lastSpeechMs;
  const askedMs = atMs;
  const firstTokenMs = after('llm');
  const givenMs = after('clause');
  facts.llm.push({ askedMs, firstTokenMs, endedMs: null });
  const firstByteMs = after('tts');
  const sentMs = after('pacing');
  const heardMs = after('playout');
  facts.clauses.push({ unit: 1, givenMs, firstByteMs, sentMs, heardMs, doneMs: null });
  facts.firstSoundMs = heardMs;
  return facts;
}

t.test('RT-68 each stage of the wait has the length that it was given', async (t) => {
  const length = {
    carrier: 50,
    turn_wait: 224,
    stt: 130,
    llm: 350,
    clause: 90,
    tts: 150,
    pacing: 4,
    playout: 40,
  };
  const waterfall = turnWaterfall(inOrder(length), silence(), 8_000 + 8 * 1_038);
  t.ok(waterfall);
  if (!waterfall) return;
  t.same(stagesOf(waterfall), { ...length, tool: 0 });
  t.equal(waterfall.gap_ms, 1_038);
  t.equal(waterfall.first_sound_ms, 1_038);
  t.equal(waterfall.recorded_gap_ms, 1_038, 'the recording shows the same');
  t.equal(waterfall.turn, 3);
  t.equal(waterfall.reply, 7);
});

t.test('RT-68 a request that was made ahead of the turn shortens the wait and counts once', async (t) => {
  const facts = inOrder({ turn_wait: 400, stt: 100, tts: 80 });
  // Asked 300 ms before the text was settled, first token 50 ms after it.
  facts.llm = [{ askedMs: 1_200, firstTokenMs: 1_550, endedMs: 1_900 }];
  facts.clauses = [
    { unit: 1, givenMs: 1_600, firstByteMs: 1_680, sentMs: 1_680, heardMs: 1_680, doneMs: null },
  ];
  facts.firstSoundMs = 1_680;
  const waterfall = turnWaterfall(facts, silence(), 8_000);
  t.match(waterfall, {
    turn_wait_ms: 400,
    stt_ms: 100,
    llm_ms: 50,
    clause_ms: 50,
    tts_ms: 80,
    early_ms: 300,
  });
  t.equal(waterfall?.gap_ms, 680);
});

t.test('RT-68 a tool between two requests is told apart from the model', async (t) => {
  const facts = inOrder({ turn_wait: 300 });
  facts.llm = [
    { askedMs: 1_300, firstTokenMs: 1_500, endedMs: 1_520 },
    { askedMs: 2_525, firstTokenMs: 2_825, endedMs: null },
  ];
  facts.tools = [{ id: 'a', fromMs: 1_520, endedMs: 2_520 }];
  facts.clauses = [
    { unit: 1, givenMs: 2_900, firstByteMs: 3_000, sentMs: 3_000, heardMs: 3_020, doneMs: null },
  ];
  facts.firstSoundMs = 3_020;
  const waterfall = turnWaterfall(facts, silence(), 8_000);
  t.match(waterfall, {
    gap_ms: 2_020,
    turn_wait_ms: 300,
    // 200 ms and 300 ms to the first token, and 5 ms between the tool's result and the question that carries it.
    llm_ms: 505,
    clause_ms: 95,
    tool_ms: 1_000,
    tts_ms: 100,
    playout_ms: 20,
  });
});

t.test('RT-68 a filler is a sound and no silence, and ends the first wait', async (t) => {
  const facts = inOrder({ turn_wait: 300, stt: 100, llm: 2_000, tts: 100 });
  const sounds = silence();
  sounds.bot.add(2_600, 3_200);
  const waterfall = turnWaterfall(facts, sounds, 8_000);
  t.match(waterfall, { gap_ms: 1_900, filler_ms: 600, first_sound_ms: 1_600, llm_ms: 1_400, tts_ms: 100 });
});

t.test('RT-68 a hedged request counts from the first asking to the first token of either', async (t) => {
  const facts = inOrder({ turn_wait: 200, tts: 50 });
  facts.llm = [
    { askedMs: 1_200, firstTokenMs: null, endedMs: 2_100 },
    { askedMs: 1_800, firstTokenMs: 2_100, endedMs: null },
  ];
  facts.clauses = [
    { unit: 1, givenMs: 2_130, firstByteMs: 2_180, sentMs: 2_180, heardMs: 2_180, doneMs: null },
  ];
  facts.firstSoundMs = 2_180;
  t.match(turnWaterfall(facts, silence(), 8_000), { gap_ms: 1_180, llm_ms: 900, clause_ms: 30, tts_ms: 50 });
});

t.test('a reply that answers nobody, or that nobody heard, has no waterfall', async (t) => {
  const unheard = inOrder({ llm: 100 });
  unheard.firstSoundMs = null;
  t.equal(turnWaterfall(unheard, silence(), 0), null);
  const opening = inOrder({ tts: 100 });
  opening.turn = null;
  t.equal(turnWaterfall(opening, silence(), 0), null);
});

t.test('RT-68 the stages add up to the gap, whatever the order of events', async (t) => {
  const random = seededRandom(68);
  const within = (low: number, high: number) => low + random() * (high - low);
  const maybe = (value: number) => (random() < 0.3 ? null : value);
  for (let round = 0; round < 5_000; round++) {
    const facts = newReplyFacts(round);
    const firstSoundMs = within(500, 20_000);
    const moment = () => within(-1_000, firstSoundMs + 1_000);
    const [arrivedMs = 0, decidedMs = 0, textMs = 0] = [moment(), moment(), moment()].sort((a, b) => a - b);
    facts.turn = { turn: 1, lastSample: 0, lastSpeechMs: 0, arrivedMs, decidedMs, textMs };
    facts.owedFromMs = 0;
    facts.firstSoundMs = firstSoundMs;
    for (let count = Math.floor(within(0, 4)); count > 0; count--) {
      facts.llm.push({ askedMs: moment(), firstTokenMs: maybe(moment()), endedMs: maybe(moment()) });
      facts.tools.push({ id: String(count), fromMs: moment(), endedMs: maybe(moment()) });
      facts.clauses.push({
        unit: count,
        givenMs: moment(),
        firstByteMs: maybe(moment()),
        doneMs: maybe(moment()),
        sentMs: maybe(moment()),
        heardMs: maybe(moment()),
      });
    }
    const sounds = silence();
    for (const spans of [sounds.bot, sounds.caller, sounds.held]) {
      let atMs = within(0, 3_000);
      for (let count = Math.floor(within(0, 4)); count > 0; count--) {
        const toMs = atMs + within(0, 2_000);
        spans.add(atMs, toMs);
        atMs = toMs + within(1, 2_000);
      }
    }
    const waterfall = turnWaterfall(facts, sounds, 0);
    if (!waterfall) return t.fail('every such reply has a waterfall');
    const whole = waterfall.gap_ms + waterfall.filler_ms + waterfall.overlap_ms;
    if (whole !== Math.round(firstSoundMs)) return t.equal(whole, Math.round(firstSoundMs), `round ${round}`);
    if (sumOf(waterfall) !== waterfall.gap_ms) return t.equal(sumOf(waterfall), waterfall.gap_ms);
    const parts = [...Object.values(stagesOf(waterfall)), waterfall.filler_ms, waterfall.overlap_ms];
    if (parts.some((part) => part < 0)) return t.fail(`a part is negative in round ${round}`);
    if (waterfall.first_sound_ms > Math.round(firstSoundMs))
      return t.fail('the first sound came after the answer');
  }
  t.pass('5000 waits of every shape');
});

t.test('RT-68 a wait whose steps follow each other is split exactly, however they are drawn', async (t) => {
  const random = seededRandom(1968);
  for (let round = 0; round < 2_000; round++) {
    const length = Object.fromEntries(
      WAIT_STAGES.filter((stage) => stage !== 'tool').map((stage) => [stage, Math.floor(random() * 900)]),
    );
    const waterfall = turnWaterfall(inOrder(length), silence(), 8_000);
    t.ok(waterfall);
    if (!waterfall) return;
    const expected = { ...length, tool: 0 };
    const is = stagesOf(waterfall);
    if (JSON.stringify(sorted(is)) !== JSON.stringify(sorted(expected))) return t.same(is, expected);
  }
  t.pass('2000 waits');
});

function sorted(entries: { [key: string]: number }): [string, number][] {
  return Object.entries(entries).sort(([a], [b]) => (a < b ? -1 : 1));
}
