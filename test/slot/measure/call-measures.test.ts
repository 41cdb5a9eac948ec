import t from 'tap';
import { CALL_EVENTS } from '../../../src/contracts/call-events.ts';
import type { Waterfall } from '../../../src/contracts/call-measures.ts';
import { CallMeter } from '../../../src/slot/measure/call-measures.ts';
import { seededRandom } from '../../harness/seeded-random.ts';

const NO_ECHO = { echoes: 0, delayMs: null, lossDb: null };

/**
 * A call on a clock that is moved by hand: the caller's packets come every 20 ms as on a good line, or as late as
 * `lateMs` says, in order.
 */
function handMovedCall(packetMs = 20, lateMs: () => number = () => 0) {
  let nowMs = 50_000;
  let packetsSent = 0;
  let nextMs = packetMs + lateMs();
  let receivedSamples = 0;
  const startMs = nowMs;
  const waterfalls: Waterfall[] = [];
  const measures = new CallMeter({
    now: () => nowMs,
    onWaterfall: (waterfall) => waterfalls.push(waterfall),
  });
  return {
    measures,
    waterfalls,
    /** Lets time pass up to a moment of the call, with the caller's packets on their way. */
    at(ms: number) {
      while (nextMs <= ms) {
        packetsSent++;
        receivedSamples += packetMs * 8;
        nowMs = startMs + nextMs;
        nextMs = Math.max(nextMs, (packetsSent + 1) * packetMs + lateMs());
        measures.audioReceived(new Int16Array(packetMs * 8));
      }
      nowMs = startMs + ms;
    },
    /** The bot's frames leave now and are heard from then on, or later by what lies queued at the far end. */
    speaks(unit: number, ms: number, queuedMs = 0) {
      for (let frame = 0; frame < ms / 20; frame++) {
        const laterMs = queuedMs + frame * 20;
        measures.frameSent(unit, nowMs + laterMs, receivedSamples + laterMs * 8, 0);
      }
    },
    get now() {
      return nowMs - startMs;
    },
    get samples() {
      return receivedSamples;
    },
  };
}

t.test(
  'RT-68 a whole call: opening, a turn with a tool, an interruption; the sums are by construction',
  async (t) => {
    const call = handMovedCall();
    const { measures } = call;
    measures.replyBegun(1);
    measures.clauseGiven(1, 1);
    call.at(120);
    measures.firstByte(1);
    call.speaks(1, 1_880);
    measures.clauseDone(1);
    call.at(2_000);
    measures.replyEnded(1);

    // The caller speaks from 3 s to 4 s; the detectors know both 200 ms later.
    call.at(3_200);
    measures.speechStarted(3_000 * 8);
    call.at(4_200);
    measures.speechStopped(4_000 * 8);
    call.at(4_300);
    const decidedAtSample = call.samples;
    call.at(4_380);
    measures.turnTaken({ turn: 1, toSample: 4_000 * 8, decidedAtSample }, 2);
    measures.modelAsked(2);
    call.at(4_600);
    measures.modelAnswers(2);
    measures.modelEnded(2);
    measures.toolStarted(2, 'call-1');
    call.at(5_600);
    measures.toolEnded(2, 'call-1');
    measures.modelAsked(2);
    call.at(5_900);
    measures.modelAnswers(2);
    call.at(6_000);
    measures.clauseGiven(2, 2);
    call.at(6_140);
    measures.firstByte(2);
    call.speaks(2, 3_000);
    measures.clauseDone(2);
    measures.modelEnded(2);

    // At 7 s the caller falls into the bot's word: paused at 7.2 s, cut at 7.5 s, silent from 8 s on.
    call.at(7_160);
    measures.speechStarted(7_000 * 8);
    call.at(7_200);
    measures.botPaused();
    call.at(7_500);
    measures.botSilenced();
    measures.replyEnded(2);
    call.at(8_200);
    measures.speechStopped(8_000 * 8);
    call.at(10_000);

    t.equal(call.waterfalls.length, 1);
    t.match(call.waterfalls[0], {
      turn: 1,
      reply: 2,
      gap_ms: 2_140,
      carrier_ms: 0,
      turn_wait_ms: 300,
      stt_ms: 80,
      llm_ms: 220 + 300,
      clause_ms: 100,
      tool_ms: 1_000,
      tts_ms: 140,
      pacing_ms: 0,
      playout_ms: 0,
      recorded_gap_ms: 2_140,
    });
    const results = measures.results(NO_ECHO);
    t.equal(results.opening_ms, 120);
    t.same(results.silence, {
      total_ms: 10_000,
      silence_ms: 120 + 1_000 + 2_140 + 2_000,
      by: { caller: 3_000, turn_wait: 300, stt: 80, llm: 620, tool: 1_000, tts: 260, carrier: 0 },
      caller_ms: 1_000 + 800,
      bot_ms: 1_880 + 860,
      both_ms: 200,
    });
    t.match(results.reply_gap, { answered: 1, unanswered: 0, p50_ms: 2_140, p95_ms: 2_140, max_ms: 2_140 });
    t.match(results.line.facts, { packets: 500, late_packets: 0, missing_ms: 0 });
  },
);

t.test('RT-68 on a carrier with packets of 100 ms its waiting stands as carrier', async (t) => {
  const call = handMovedCall(100);
  const { measures } = call;
  call.at(2_200);
  measures.speechStarted(1_000 * 8);
  measures.speechStopped(2_030 * 8);
  call.at(2_250);
  measures.turnTaken({ turn: 1, toSample: 2_030 * 8, decidedAtSample: 2_200 * 8 }, 5);
  measures.modelAsked(5);
  measures.modelAnswers(5);
  measures.clauseGiven(5, 9);
  measures.firstByte(9);
  call.speaks(9, 100);
  const [waterfall] = call.waterfalls;
  // Spoken at 2.03 s, here at 2.1 s; called over with the packet of 2.2 s.
  t.match(waterfall, { carrier_ms: 70, turn_wait_ms: 100, stt_ms: 50, gap_ms: 220 });
  t.ok(Math.abs((waterfall?.recorded_gap_ms ?? 0) - 220) <= 100, 'the recording is right to a packet');
});

t.test('RT-51 a speculative request is known before its turn and shortens the wait', async (t) => {
  const call = handMovedCall();
  const { measures } = call;
  call.at(1_000);
  measures.modelAsked(3);
  call.at(1_200);
  measures.modelAnswers(3);
  call.at(1_500);
  measures.turnTaken({ turn: 1, toSample: 900 * 8, decidedAtSample: call.samples, decidedAtMs: 51_400 }, 3);
  measures.clauseGiven(3, 1);
  call.at(1_600);
  measures.firstByte(1);
  call.speaks(1, 200);
  t.match(call.waterfalls[0], {
    gap_ms: 700,
    turn_wait_ms: 500,
    stt_ms: 100,
    llm_ms: 0,
    clause_ms: 0,
    tts_ms: 100,
    early_ms: 500,
  });
});

t.test('a turn that was taken back, failed, or never heard leaves no waterfall and is counted', async (t) => {
  const call = handMovedCall();
  const { measures } = call;
  call.at(2_000);
  const taken = { turn: 1, toSample: 1_500 * 8, decidedAtSample: 1_900 * 8 };
  measures.turnTaken(taken, 1);
  call.at(2_500);
  measures.turnWithdrawn(1);
  measures.turnTaken({ ...taken, turn: 2, toSample: 2_400 * 8, decidedAtSample: 2_500 * 8 }, 2);
  call.at(3_000);
  measures.replyEnded(2);
  call.at(3_100);
  measures.turnLost({ turn: 3, toSample: 3_000 * 8, decidedAtSample: 3_060 * 8 });
  call.at(4_000);
  t.same(call.waterfalls, []);
  const { reply_gap, silence } = measures.results(NO_ECHO);
  t.match(reply_gap, { answered: 0, unanswered: 3, p50_ms: null, mean_ms: null });
  t.equal(silence.silence_ms, 4_000);
  t.match(silence.by, { turn_wait: 100 + 60, llm: 500, stt: 40, caller: 3_300 });
});

t.test('audio that does not come and a transfer that is being made are silence of the carrier', async (t) => {
  let nowMs = 0;
  const measures = new CallMeter({ now: () => nowMs, onWaterfall: () => undefined });
  nowMs = 2_000;
  measures.gapFilled(8_000);
  nowMs = 2_020;
  measures.gapFilled(160);
  nowMs = 5_000;
  measures.transferAsked();
  nowMs = 9_000;
  measures.transferSettled();
  nowMs = 10_000;
  const { silence, line, opening_ms } = measures.results(NO_ECHO);
  t.match(silence.by, { carrier: 1_020 + 4_000, caller: 4_980 });
  t.equal(line.facts.missing_ms, 1_020);
  t.equal(opening_ms, null);
});

t.test(
  'RT-68 on lines of every kind the stages add up to the gap that was heard, within 20 ms',
  async (t) => {
    const random = seededRandom(2068);
    const draw = (low: number, high: number) => low + Math.floor(random() * (high - low));
    let worstMs = 0;
    let turns = 0;
    for (let round = 0; round < 150; round++) {
      const packetMs = [20, 20, 40, 100][draw(0, 4)] ?? 20;
      const call = handMovedCall(packetMs, () => (random() < 0.15 ? draw(0, 80) : 0));
      const { measures, waterfalls } = call;
      let ms = draw(3_000, 6_000);
      for (let turn = 1; turn <= 4; turn++) {
        const spokeMs = ms + draw(300, 2_000);
        call.at(ms + 250);
        measures.speechStarted(ms * 8);
        call.at(spokeMs + 250 + packetMs);
        measures.speechStopped(spokeMs * 8);
        ms = call.now;
        const pass = (most: number) => {
          ms += draw(0, most);
          call.at(ms);
        };
        const isPreemptive = random() < 0.3;
        if (isPreemptive) measures.modelAsked(turn);
        pass(1_400);
        const decidedAtSample = call.samples;
        pass(600);
        measures.turnTaken({ turn, toSample: spokeMs * 8, decidedAtSample }, turn);
        if (!isPreemptive) measures.modelAsked(turn);
        for (let tools = draw(0, 3); tools > 0; tools--) {
          pass(500);
          measures.modelAnswers(turn);
          measures.modelEnded(turn);
          measures.toolStarted(turn, 'lookup');
          pass(900);
          measures.toolEnded(turn, 'lookup');
          measures.modelAsked(turn);
        }
        pass(900);
        measures.modelAnswers(turn);
        pass(300);
        measures.clauseGiven(turn, turn);
        pass(400);
        measures.firstByte(turn);
        pass(30);
        const queuedMs = draw(0, 200);
        call.speaks(turn, 1_000, queuedMs);
        measures.clauseDone(turn);
        measures.modelEnded(turn);
        // What the caller heard: nothing from the end of their own word to the bot's first.
        const heardGapMs = ms + queuedMs - spokeMs;
        const waterfall = waterfalls.at(-1);
        if (waterfall?.turn !== turn) return t.fail(`no waterfall in round ${round}`);
        worstMs = Math.max(worstMs, Math.abs(waterfall.gap_ms - heardGapMs));
        turns++;
        ms += queuedMs + 1_000;
        call.at(ms);
        measures.replyEnded(turn);
        ms += draw(100, 3_000);
      }
    }
    t.equal(turns, 600);
    t.ok(worstMs <= 20, `the worst of ${turns} differs by ${worstMs} ms`);
    t.comment(`worst difference ${worstMs} ms`);
  },
);

t.test('of replies that never end only the latest are kept', async (t) => {
  const call = handMovedCall();
  const { measures } = call;
  call.at(2_000);
  for (let reply = 1; reply <= 50; reply++) {
    measures.turnTaken({ turn: reply, toSample: 8_000, decidedAtSample: 12_000 }, reply);
    measures.clauseGiven(reply, reply);
  }
  measures.frameSent(1, 52_000, 16_000, 0);
  t.equal(call.waterfalls.length, 0, 'the first is forgotten');
  measures.frameSent(50, 52_000, 16_000, 0);
  t.equal(call.waterfalls.length, 1, 'the last is not');
});

t.test('RT-43 results tell how late packets came and frames left', async (t) => {
  const call = handMovedCall();
  const { measures } = call;
  call.at(2_000);
  for (const lateMs of [0, 3, 5, 61, 900]) measures.frameSent(1, 2_000, 16_000, lateMs);
  const { jitter, line } = measures.results({ echoes: 0, delayMs: null, lossDb: null });
  t.same(jitter.edges_ms, [5, 10, 20, 40, 60, 100, 200, 500]);
  t.same(jitter.sent, [2, 1, 0, 0, 0, 1, 0, 0, 1]);
  const received = jitter.received.reduce((sum, count) => sum + count, 0);
  t.ok(received > 0);
  t.equal(received, line.facts.packets, 'every packet is in it');
});

t.test('the bot’s echo is nobody’s speech', async (t) => {
  const call = handMovedCall();
  const { measures } = call;
  call.at(1_000);
  call.speaks(1, 2_000);
  call.at(1_500);
  measures.speechStarted(1_200 * 8);
  call.at(1_700);
  measures.speechDenied();
  call.at(4_000);
  measures.speechStarted(3_500 * 8);
  call.at(5_000);
  t.match(measures.results(NO_ECHO).silence, {
    caller_ms: 1_500,
    both_ms: 0,
    bot_ms: 2_000,
    silence_ms: 1_500,
  });
});

t.test('what happens after the end of the call is no part of it', async (t) => {
  const call = handMovedCall();
  const { measures } = call;
  call.at(3_000);
  measures.callEnded();
  call.at(60_000);
  t.equal(measures.results(NO_ECHO).silence.total_ms, 3_000);
});

t.test(
  'facts about replies and clauses that nobody knows are ignored, and what is kept is bounded',
  async (t) => {
    const call = handMovedCall();
    const { measures } = call;
    call.at(100);
    measures.firstByte(99);
    measures.clauseDone(99);
    measures.clauseGiven(77, 99);
    measures.toolEnded(77, 'x');
    measures.modelAnswers(77);
    measures.turnWithdrawn(77);
    measures.replyEnded(77);
    for (let reply = 1; reply <= 1_000; reply++) {
      call.at(100 + reply * 40);
      measures.replyBegun(reply);
      measures.modelAsked(reply);
    }
    const { silence } = measures.results(NO_ECHO);
    t.equal(silence.total_ms, 40_100);
    t.equal(silence.silence_ms, 40_100);
  },
);

t.test('the keys of a waterfall are the keys of its event', async (t) => {
  const call = handMovedCall();
  call.at(1_000);
  call.measures.turnTaken({ turn: 1, toSample: 4_000, decidedAtSample: 8_000 }, 1);
  call.measures.clauseGiven(1, 1);
  call.speaks(1, 20);
  t.same(Object.keys(call.waterfalls[0] ?? {}).sort(), [...CALL_EVENTS.waterfall].sort());
});
