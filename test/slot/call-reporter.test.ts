import t from 'tap';
import { CallReporter, type UserTurn } from '../../src/slot/call/call-reporter.ts';
import { CallLog } from '../../src/slot/record/call-log.ts';
import { SpeechLedger } from '../../src/slot/speak/speech-ledger.ts';
import { judgeEnd } from '../../src/slot/wrap-up/end-arbiter.ts';

const turn = (text: string, toSample: number): UserTurn => ({
  id: toSample,
  text,
  confidence: null,
  fromSample: 0,
  toSample,
  decidedAtSample: toSample + 800,
  decidedAtMs: 0,
  decidedBy: 'model',
  probability: 0.9,
  ruleReason: null,
  endpointMs: 100,
  transcribeMs: 400,
});

/** A reporter by a hand clock: `at` sets it, in milliseconds from call start. */
function reporting() {
  let nowMs = 0;
  const log = new CallLog({ journal: () => undefined, now: () => nowMs });
  const engine = { name: 'scripted', model: null };
  const engines = { stt: engine, llm: engine, tts: engine };
  const reporter = new CallReporter({ log, ledger: new SpeechLedger(), ...engines, cacheVersion: null });
  const events = () =>
    log.events.map(({ event, text, ts, ended_at, note }) => ({ event, text, ts, ended_at, note }));
  return {
    reporter,
    events,
    at: (ms: number) => {
      nowMs = ms;
    },
  };
}

t.test('R167 user_turn tells when the turn ended, however late the model begins to answer', async (t) => {
  const { reporter, events, at } = reporting();
  const said = turn('are you open?', 36_000);
  at(5_000);
  reporter.turn(said, 40_000);
  at(8_000);
  reporter.turnTaken(said, 'rule');
  t.same(events(), [{ event: 'user_turn', text: 'are you open?', ts: 8, ended_at: 4.5, note: 'rule' }]);
});

t.test(
  'R167 user_turn is there where the model never answers, once, and before the end of the call',
  async (t) => {
    const { reporter, events, at } = reporting();
    at(5_000);
    reporter.turn(turn('hello?', 36_000), 40_000);
    at(9_000);
    const second = turn('is anybody there?', 68_000);
    reporter.turn(second, 72_000);
    at(20_000);
    reporter.disconnected(judgeEnd({ kind: 'stop', reason: '' }, true));
    t.same(
      events().map(({ event, text, ended_at }) => [event, text, ended_at]),
      [
        ['user_turn', 'hello?', 4.5],
        ['user_turn', 'is anybody there?', 8.5],
        ['disconnected', undefined, undefined],
      ],
    );
  },
);

t.test('a turn that the caller takes back has no event of its own', async (t) => {
  const { reporter, events } = reporting();
  reporter.turn(turn('I want', 8_000), 9_000);
  reporter.withdrawn(1);
  reporter.turn(turn('I want to pay', 16_000), 17_000);
  reporter.turnUnanswered();
  t.same(
    events().map(({ event, text }) => [event, text]),
    [
      ['turn_withdrawn', undefined],
      ['user_turn', 'I want to pay'],
    ],
  );
});
