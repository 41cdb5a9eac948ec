import t from 'tap';
import { SILENCE_OWNERS, type SilenceTotals } from '../../../src/contracts/call-measures.ts';
import { newReplyFacts, type ReplyFacts } from '../../../src/slot/measure/reply-facts.ts';
import { SilenceLedger } from '../../../src/slot/measure/silence-ledger.ts';
import { seededRandom } from '../../harness/seeded-random.ts';

/** A reply to a turn that ended at `lastSpeechMs`, each step as long as its entry says. Returns it with its first sound. */
function replyTo(
  lastSpeechMs: number,
  length: { carrier: number; turn_wait: number; stt: number; llm: number; tts: number },
  reply = 1,
): ReplyFacts {
  const facts = newReplyFacts(reply);
  const arrivedMs = lastSpeechMs + length.carrier;
  const decidedMs = arrivedMs + length.turn_wait;
  const textMs = decidedMs + length.stt;
  facts.turn = { turn: reply, lastSample: 0, lastSpeechMs, arrivedMs, decidedMs, textMs };
  facts.owedFromMs = lastSpeechMs;
  const givenMs = textMs + length.llm;
  facts.llm.push({ askedMs: textMs, firstTokenMs: givenMs, endedMs: givenMs });
  const soundMs = givenMs + length.tts;
  facts.clauses.push({
    unit: reply,
    givenMs,
    firstByteMs: soundMs,
    sentMs: soundMs,
    heardMs: soundMs,
    doneMs: soundMs,
  });
  facts.firstSoundMs = soundMs;
  return facts;
}

t.test('every second of silence goes to who had it in hand, and the sums are by construction', async (t) => {
  const ledger = new SilenceLedger(0);
  // The voice needs 200 ms for the opening, which is heard for 2 s.
  const opening = newReplyFacts(1);
  opening.owedFromMs = 0;
  opening.clauses.push({ unit: 1, givenMs: 0, firstByteMs: 200, sentMs: 200, heardMs: 200, doneMs: 900 });
  opening.firstSoundMs = 200;
  opening.endedMs = 2_200;
  ledger.owe(opening);
  ledger.bot.add(200, 2_200);
  // The caller thinks for 1.5 s and speaks for 1 s with a pause of 0.3 s in it.
  ledger.caller.open(3_700);
  ledger.caller.close(4_200);
  ledger.caller.open(4_500);
  ledger.caller.close(5_000);
  const answer = replyTo(5_000, { carrier: 20, turn_wait: 380, stt: 100, llm: 700, tts: 300 }, 2);
  ledger.owe(answer);
  ledger.bot.add(6_500, 8_000);
  answer.endedMs = 8_000;
  t.same(ledger.totals(10_000), {
    total_ms: 10_000,
    silence_ms: 5_500,
    by: { caller: 1_500 + 300 + 2_000, turn_wait: 380, stt: 100, llm: 700, tool: 0, tts: 500, carrier: 20 },
    caller_ms: 1_000,
    bot_ms: 3_500,
    both_ms: 0,
  });
});

t.test('a tool that takes long has its silence, and a filler in it is a sound', async (t) => {
  const ledger = new SilenceLedger(0);
  const answer = replyTo(0, { carrier: 0, turn_wait: 300, stt: 0, llm: 0, tts: 0 });
  answer.llm = [
    { askedMs: 300, firstTokenMs: 500, endedMs: 500 },
    { askedMs: 5_500, firstTokenMs: 5_800, endedMs: null },
  ];
  answer.tools = [{ id: 'x', fromMs: 500, endedMs: 5_500 }];
  answer.clauses = [];
  answer.firstSoundMs = null;
  ledger.owe(answer);
  ledger.bot.add(2_000, 3_000);
  t.match(ledger.totals(6_000), {
    silence_ms: 5_000,
    by: { turn_wait: 300, llm: 700, tool: 4_000, caller: 0 },
    bot_ms: 1_000,
  });
});

t.test('a voice that is slower than its own speech owns the holes in it', async (t) => {
  const ledger = new SilenceLedger(0);
  const answer = replyTo(0, { carrier: 0, turn_wait: 100, stt: 0, llm: 0, tts: 100 });
  const clause = answer.clauses[0];
  t.ok(clause);
  if (clause) clause.doneMs = 2_000;
  ledger.owe(answer);
  ledger.bot.add(200, 700);
  ledger.bot.add(1_500, 2_500);
  t.match(ledger.totals(2_500).by, { tts: 100 + 800, turn_wait: 100, caller: 0 });
});

t.test('a paused bot waits for the turn to be decided, and resumes', async (t) => {
  const ledger = new SilenceLedger(0);
  const answer = replyTo(0, { carrier: 0, turn_wait: 100, stt: 0, llm: 0, tts: 100 });
  // A second clause is being made while the bot is paused: it holds nothing up.
  answer.clauses.push({
    unit: 2,
    givenMs: 900,
    firstByteMs: 1_400,
    sentMs: 2_500,
    heardMs: 2_500,
    doneMs: 1_500,
  });
  ledger.owe(answer);
  ledger.bot.add(200, 1_000);
  ledger.held.open(1_000);
  ledger.caller.open(750);
  ledger.caller.close(1_200);
  ledger.held.close(1_800);
  ledger.bot.add(1_800, 3_000);
  answer.endedMs = 3_000;
  t.match(ledger.totals(3_000), {
    by: { turn_wait: 100 + 600, tts: 100, caller: 0 },
    caller_ms: 200,
    both_ms: 250,
  });
});

t.test('silence in which no audio came is the carrier’s, unless the bot owed words', async (t) => {
  const ledger = new SilenceLedger(0);
  ledger.gaps.add(1_000, 4_000);
  ledger.owe(replyTo(3_000, { carrier: 0, turn_wait: 500, stt: 500, llm: 1_000, tts: 0 }));
  ledger.bot.add(5_000, 6_000);
  t.same(ledger.totals(6_000).by, {
    caller: 1_000,
    turn_wait: 0,
    stt: 500,
    llm: 1_000,
    tool: 0,
    tts: 0,
    carrier: 2_500,
  });
});

t.test('an answer that was taken back because the caller went on was owed by nobody', async (t) => {
  const ledger = new SilenceLedger(0);
  const withdrawn = replyTo(1_000, { carrier: 0, turn_wait: 300, stt: 100, llm: 5_000, tts: 0 });
  ledger.owe(withdrawn);
  ledger.forgive(withdrawn);
  ledger.caller.open(0);
  ledger.caller.close(1_000);
  ledger.caller.open(2_000);
  t.match(ledger.totals(3_000), { by: { caller: 1_000, llm: 0, turn_wait: 0 }, caller_ms: 2_000 });
});

/** A long call at random; the same seed makes the same call. */
function randomCall(
  seed: number,
  minutes: number,
  settles: boolean,
): { totals: SilenceTotals; open: number } {
  const random = seededRandom(seed);
  const draw = (low: number, high: number) => low + Math.floor(random() * (high - low));
  const ledger = new SilenceLedger(0);
  let atMs = 0;
  let reply = 0;
  let open = 0;
  while (atMs < minutes * 60_000) {
    const saidMs = atMs + draw(200, 4_000);
    ledger.caller.open(atMs);
    ledger.caller.close(saidMs);
    const facts = replyTo(
      saidMs,
      {
        carrier: draw(0, 100),
        turn_wait: draw(100, 1_600),
        stt: draw(0, 900),
        llm: draw(50, 3_000),
        tts: draw(20, 900),
      },
      ++reply,
    );
    ledger.owe(facts);
    const soundMs = facts.firstSoundMs ?? saidMs;
    atMs = soundMs + draw(500, 6_000);
    ledger.bot.add(soundMs, atMs);
    facts.endedMs = atMs;
    if (random() < 0.2) ledger.gaps.add(atMs, atMs + 1_500);
    atMs += draw(100, 9_000);
    if (settles) ledger.settle(atMs);
    open = Math.max(open, ledger.count);
  }
  return { totals: ledger.totals(atMs), open };
}

t.test('the owners add up to all silence, and all of it to the length of the call', async (t) => {
  for (let seed = 1; seed <= 20; seed++) {
    const { totals } = randomCall(seed, 10, true);
    const silence = SILENCE_OWNERS.reduce((sum, owner) => sum + totals.by[owner], 0);
    t.equal(silence, totals.silence_ms, `seed ${seed}`);
    t.equal(totals.silence_ms + totals.caller_ms + totals.bot_ms + totals.both_ms, totals.total_ms);
  }
});

t.test('folding what is settled changes no sum and bounds what is kept', async (t) => {
  for (let seed = 1; seed <= 5; seed++) {
    const folded = randomCall(seed, 60, true);
    const whole = randomCall(seed, 60, false);
    for (const owner of SILENCE_OWNERS) {
      const difference = Math.abs(folded.totals.by[owner] - whole.totals.by[owner]);
      t.ok(difference <= 1, `seed ${seed}: ${owner} differs by ${difference} ms`);
    }
    t.ok(folded.open <= 96, `${folded.open} stretches were kept at most`);
    t.ok(whole.open > 400, `of ${whole.open}`);
  }
});

t.test('what becomes known late is counted all the same', async (t) => {
  const ledger = new SilenceLedger(0);
  for (let atMs = 0; atMs < 100_000; atMs += 200) {
    ledger.bot.add(atMs, atMs + 50);
    ledger.settle(atMs + 100);
  }
  // Speech that began 14 s ago, and the turn that ended with it.
  ledger.caller.open(86_000);
  ledger.caller.close(88_000);
  ledger.owe(replyTo(88_000, { carrier: 0, turn_wait: 1_000, stt: 400, llm: 2_000, tts: 0 }));
  ledger.settle(100_000);
  // A quarter of every 200 ms is the bot's.
  t.match(ledger.totals(100_000), {
    total_ms: 100_000,
    bot_ms: 25_000 - 500,
    both_ms: 500,
    caller_ms: 1_500,
    by: { turn_wait: 750, stt: 300, llm: 1_500, caller: 75_000 - 1_500 - 750 - 300 - 1_500 },
  });
});

t.test('frames that follow each other are one stretch', async (t) => {
  const ledger = new SilenceLedger(0);
  for (let atMs = 40; atMs < 10_000; atMs += 20) ledger.bot.add(atMs, atMs + 20);
  t.equal(ledger.count, 1);
  t.equal(ledger.totals(10_000).bot_ms, 9_960);
});

t.test('a reply that never ends does not keep the whole call in memory', async (t) => {
  const ledger = new SilenceLedger(0);
  const stuck = replyTo(0, { carrier: 0, turn_wait: 100, stt: 100, llm: 100, tts: 100 });
  ledger.owe(stuck);
  for (let atMs = 1_000; atMs < 4_000_000; atMs += 1_000) {
    ledger.bot.add(atMs, atMs + 400);
    ledger.settle(atMs + 500);
    if (ledger.count > 512) return t.fail(`${ledger.count} stretches are kept`);
  }
  t.equal(ledger.totals(4_000_000).total_ms, 4_000_000);
});
