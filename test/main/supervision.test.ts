import t from 'tap';
import { HUNG_AFTER_MS, OVERRUN_GRACE_MS } from '../../src/contracts/limits.ts';
import {
  HANGUP_TO_KILL_MS,
  judge,
  ROOM_WAIT_MS,
  SLOT_START_TIMEOUT_MS,
  type Watched,
} from '../../src/main/slots/progress-watch.ts';
import {
  delayAfterFailure,
  freshRestartState,
  HEALTHY_AFTER_MS,
  MAX_DELAY_MS,
} from '../../src/main/slots/restart-policy.ts';

const T0 = 1_000_000;

function busy(call: Partial<NonNullable<Watched['call']>> = {}, heartbeatAtMs = T0): Watched {
  return {
    state: 'busy',
    startedAtMs: T0,
    lastHeartbeatAtMs: heartbeatAtMs,
    call: {
      callId: 'c',
      botId: 'b',
      kind: 'telephony',
      roomName: null,
      handedOverAtMs: T0,
      sinceIso: '',
      sessionId: null,
      maxCallSeconds: 60,
      hangupSentAtMs: null,
      callSid: '',
      handedOver: false,
      ...call,
    },
  };
}

t.test('RT-74 a slot is hung after three missed heartbeats, idle or busy, and not before', async (t) => {
  t.equal(judge(busy(), T0 + HUNG_AFTER_MS), 'fine');
  t.equal(judge(busy(), T0 + HUNG_AFTER_MS + 1), 'hung');
  t.equal(judge({ ...busy(), state: 'idle', call: null }, T0 + HUNG_AFTER_MS + 1), 'hung');
  const starting: Watched = { ...busy(), state: 'starting', call: null };
  t.equal(judge(starting, T0 + SLOT_START_TIMEOUT_MS), 'fine', 'loading models has its own bound');
  t.equal(judge(starting, T0 + SLOT_START_TIMEOUT_MS + 1), 'hung');
});

t.test('RT-24 main itself ends a call that overruns its maximum, whatever the slot says', async (t) => {
  const deadlineMs = T0 + 60_000 + OVERRUN_GRACE_MS;
  t.equal(judge(busy({}, deadlineMs), deadlineMs), 'fine');
  t.equal(judge(busy({}, deadlineMs + 1), deadlineMs + 1), 'overrun');
  const told = (atMs: number) => judge(busy({ hangupSentAtMs: deadlineMs }, atMs), atMs);
  t.equal(told(deadlineMs + HANGUP_TO_KILL_MS), 'fine', 'post-call work may take its minute');
  t.equal(told(deadlineMs + HANGUP_TO_KILL_MS + 1), 'ignores_hangup');
  const noSession = (atMs: number) => judge(busy({ maxCallSeconds: null }, atMs), atMs);
  t.equal(
    noSession(T0 + 15_000 + OVERRUN_GRACE_MS + 1),
    'overrun',
    'a call without a session is bounded too',
  );
});

t.test(
  'RT-24 a room call has time to ring, and none is ended for its length once the desk has it',
  async (t) => {
    const deadlineMs = T0 + 60_000 + ROOM_WAIT_MS + OVERRUN_GRACE_MS;
    const room = (atMs: number) => judge(busy({ kind: 'sip_outbound', roomName: 'call-1' }, atMs), atMs);
    t.equal(room(deadlineMs), 'fine');
    t.equal(room(deadlineMs + 1), 'overrun');
    const handedOver = (atMs: number) => judge(busy({ roomName: 'call-1', handedOver: true }, atMs), atMs);
    t.equal(handedOver(deadlineMs + 10_000_000), 'fine');
    t.equal(judge(busy({ handedOver: true }), T0 + HUNG_AFTER_MS + 1), 'hung', 'its slot is still watched');
  },
);

t.test(
  'restarts are immediate once, then back off to a bound, and forgive after a healthy minute',
  async (t) => {
    const state = freshRestartState();
    const waits = Array.from({ length: 10 }, () => delayAfterFailure(state, 100));
    t.strictSame(waits.slice(0, 5), [0, 500, 1_000, 2_000, 4_000]);
    t.equal(waits.at(-1), MAX_DELAY_MS);
    t.equal(delayAfterFailure(state, HEALTHY_AFTER_MS), 0);
    t.equal(delayAfterFailure(state, 100), 500);
  },
);
