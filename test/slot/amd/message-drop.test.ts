import t from 'tap';
import { createMessageDrop, type DropEvent, stepMessageDrop } from '../../../src/slot/amd/message-drop.ts';
import { seededRandom } from '../../harness/seeded-random.ts';

const SECOND = 8_000;
const FRAME = 160;

t.test(
  'R74 RT-28 the message begins 300 ms after the beep, and the call ends when it was heard',
  async (t) => {
    const drop = createMessageDrop({
      nowSample: 0,
      beepEndSample: null,
      isSpeaking: true,
      lastSpeechSample: 0,
    });
    const run = runner(drop);
    run({ type: 'speech_stop', lastSample: 4 * SECOND }, 4.2 * SECOND);
    t.same(run.until(5 * SECOND), []);
    t.equal(run({ type: 'beep', endSample: 5 * SECOND }, 5.05 * SECOND), null);
    const [begun] = run.until(7 * SECOND);
    t.match(begun, { action: { type: 'speak' } });
    t.ok(Math.abs((begun?.at ?? 0) - 5.3 * SECOND) <= FRAME);
    t.equal(run({ type: 'beep', endSample: 8 * SECOND }, 8 * SECOND), null, 'a later beep changes nothing');
    t.same(run({ type: 'played' }, 9 * SECOND), { type: 'hang_up', wasLeft: true, why: 'left' });
    t.equal(run({ type: 'tick' }, 10 * SECOND), null, 'it is over');
  },
);

t.test(
  'RT-28 without a beep it begins after 2 s of silence, and once more when the beep comes late',
  async (t) => {
    const drop = createMessageDrop({
      nowSample: SECOND,
      beepEndSample: null,
      isSpeaking: false,
      lastSpeechSample: SECOND,
    });
    const run = runner(drop);
    const [begun] = run.until(4 * SECOND, SECOND);
    t.match(begun, { action: { type: 'speak' } });
    t.ok(Math.abs((begun?.at ?? 0) - 3 * SECOND) <= FRAME);
    t.same(run({ type: 'beep', endSample: 5 * SECOND }, 5 * SECOND), { type: 'speak_again' });
    t.equal(run({ type: 'beep', endSample: 6 * SECOND }, 6 * SECOND), null, 'once only');
    t.match(run({ type: 'played' }, 9 * SECOND), { wasLeft: true });
  },
);

t.test('RT-28 pauses in a greeting are waited out, and one without end is left after 20 s', async (t) => {
  const drop = createMessageDrop({
    nowSample: 0,
    beepEndSample: null,
    isSpeaking: true,
    lastSpeechSample: 0,
  });
  const run = runner(drop);
  run({ type: 'speech_stop', lastSample: 2 * SECOND }, 2.2 * SECOND);
  t.same(run.until(3.5 * SECOND, 2.2 * SECOND), []);
  run({ type: 'speech_start' }, 3.5 * SECOND);
  const [ended] = run.until(30 * SECOND, 3.5 * SECOND);
  t.match(ended, { action: { type: 'hang_up', wasLeft: false, why: 'no_beep' } });
  t.ok(Math.abs((ended?.at ?? 0) - 20 * SECOND) <= FRAME);
});

t.test(
  'RT-28 the beep of the verdict counts, and a dead line or a missing message ends the call',
  async (t) => {
    const heard = createMessageDrop({
      nowSample: SECOND,
      beepEndSample: 0.9 * SECOND,
      isSpeaking: false,
      lastSpeechSample: 0,
    });
    const [begun] = runner(heard).until(3 * SECOND, SECOND);
    t.ok(Math.abs((begun?.at ?? 0) - 1.2 * SECOND) <= FRAME);
    const start = { nowSample: 0, beepEndSample: null, isSpeaking: true, lastSpeechSample: 0 };
    t.match(stepMessageDrop(createMessageDrop(start), { type: 'line_dead' }, 10, true), { why: 'line_dead' });
    t.match(stepMessageDrop(createMessageDrop(start), { type: 'tick' }, 10, false), { why: 'no_message' });
    t.match(stepMessageDrop(createMessageDrop(start), { type: 'failed' }, 10, true), { why: 'failed' });
  },
);

t.test('RT-28 whatever a mailbox does, the message is begun at most twice and the call ends', async (t) => {
  const random = seededRandom(8);
  for (let round = 0; round < 100; round++) {
    const drop = createMessageDrop({
      nowSample: 0,
      beepEndSample: random() < 0.3 ? 0 : null,
      isSpeaking: random() < 0.5,
      lastSpeechSample: -1,
    });
    let spoken = 0;
    let ended = false;
    const isHeard = random() < 0.8;
    for (let at = 0; at < 280 * SECOND && !ended; at += FRAME) {
      const event: DropEvent =
        random() < 0.97
          ? { type: 'tick' }
          : random() < 0.3
            ? { type: 'beep', endSample: at }
            : random() < 0.5
              ? { type: 'speech_start' }
              : { type: 'speech_stop', lastSample: at };
      const action = stepMessageDrop(drop, event, at, true);
      if (action?.type === 'speak' || action?.type === 'speak_again') spoken++;
      if (action?.type === 'hang_up') ended = true;
      if (spoken > 0 && isHeard && at > 30 * SECOND)
        ended = stepMessageDrop(drop, { type: 'played' }, at, true) !== null;
    }
    if (!ended || spoken > 2) t.fail(`round ${round}: ended ${ended}, spoken ${spoken}`);
  }
  t.pass('100 mailboxes');
});

function runner(drop: ReturnType<typeof createMessageDrop>) {
  const run = (event: DropEvent, at: number) => stepMessageDrop(drop, event, at, true);
  run.until = (end: number, from = 0) => {
    const actions: { at: number; action: NonNullable<ReturnType<typeof run>> }[] = [];
    for (let at = from; at <= end; at += FRAME) {
      const action = run({ type: 'tick' }, at);
      if (action) actions.push({ at, action });
    }
    return actions;
  };
  return run;
}
