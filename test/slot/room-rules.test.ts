import t from 'tap';
import { CallLog } from '../../src/slot/record/call-log.ts';
import { whyNotDialled } from '../../src/slot/room/ringing.ts';
import { referTarget } from '../../src/slot/room/sip-transfer.ts';
import { judgeEnd } from '../../src/slot/wrap-up/end-arbiter.ts';

/** A log on a clock that the test moves. */
function logAt(options: { isAnswered?: boolean; billingStepSeconds?: number }) {
  const clock = { ms: 5_000 };
  return { clock, log: new CallLog({ journal: () => undefined, now: () => clock.ms, ...options }) };
}

t.test('RT-31 time, and the bill, begin with the answer; the ringing is told apart', async (t) => {
  const { clock, log } = logAt({ isAnswered: false });
  clock.ms += 7_400;
  log.event('dialling');
  t.match(log.events[0], { ts: 0 }, 'while it rings no time passes');
  t.same(log.durations(), {
    duration_seconds: 0,
    raw_duration_seconds: 7.4,
    billable_duration_seconds: 0,
  });
  log.answered();
  clock.ms += 10_100;
  log.event('call_started');
  t.match(log.events[1], { ts: 10.1 });
  t.same(log.durations(), {
    duration_seconds: 10.1,
    raw_duration_seconds: 17.5,
    billable_duration_seconds: 11,
  });
});

t.test(
  'decisions 28: answered time is billed in the steps of the bot, also what a dialler screened',
  async (t) => {
    const { clock, log } = logAt({ billingStepSeconds: 30 });
    clock.ms += 31_000;
    t.equal(log.durations().billable_duration_seconds, 60);
    const attached = logAt({ isAnswered: false });
    attached.log.answered(4);
    attached.clock.ms += 6_000;
    t.match(attached.log.durations(), {
      duration_seconds: 6,
      raw_duration_seconds: 10,
      billable_duration_seconds: 10,
    });
  },
);

t.test('R101 R102 RT-62 SIP answers as outcomes', async (t) => {
  const by = (sipCode: number) =>
    judgeEnd({ kind: 'not_answered', sipCode, sipStatus: 'Said' }, false).disconnectedBy;
  t.same([408, 480].map(by), ['no_answer', 'no_answer']);
  t.same([486, 603].map(by), ['rejected', 'rejected']);
  t.same(
    [400, 403, 404, 410, 484, 487, 488, 500, 503, 600, 604, 606].map(by),
    Array.from({ length: 12 }, () => 'error'),
  );
  t.match(judgeEnd({ kind: 'not_answered', sipCode: 404, sipStatus: 'Not Found' }, false), {
    reason: 'the telephone answered 404 Not Found',
    cause: 'not_answered',
  });
  t.equal(judgeEnd({ kind: 'ringing_timeout' }, false).disconnectedBy, 'no_answer');
  const lost = { kind: 'broken', reason: 'the media server is gone', isOurs: true } as const;
  t.equal(
    judgeEnd({ kind: 'line_gone', loss: lost }, true).disconnectedBy,
    'error',
    'nobody is blamed for it',
  );
});

t.test('RT-34 where a caller is passed on to, as a URI', async (t) => {
  t.equal(referTarget('+912240000001'), 'tel:+912240000001');
  t.equal(referTarget('*21#'), 'tel:*21%23');
  t.equal(referTarget('SIP:desk@example.org'), 'sip:desk@example.org');
  t.equal(referTarget('sips:desk@example.org'), 'sips:desk@example.org');
  t.equal(referTarget('tel:+9122'), 'tel:+9122');
});

t.test('RT-62 a call that could not be dialled says what to look at', async (t) => {
  for (const [said, advice] of [
    ['requested sip trunk does not exist', /check the outbound trunk that/],
    ['twirp error unavailable: no response from servers', /check that the SIP service runs/],
    ['fetch failed', /check the media server/],
    ['server required auth, but no username or password was provided', /user name and password/],
    ['transaction failed to complete (0 intermediate responses)', /address of the outbound trunk/],
    ['something new', /something new$/],
  ] as const) {
    t.match(whyNotDialled(said), advice);
  }
});
