import t from 'tap';
import {
  COMFORT_EVERY_MS,
  DESK_WAIT_MS,
  GOODBYE_MS,
  GRACE_MS,
  type HandoffAction,
  type HandoffInput,
  handoffStep,
  STAY_MS,
  startHandoff,
} from '../../../src/slot/handoff/handoff-machine.ts';

const SILENT_DESK = {
  position: null,
  agentsAvailable: null,
  estimatedWaitSeconds: null,
  timeoutSeconds: null,
};

/** A handoff on a clock that is moved by hand. */
function handoff(options: { isBridge?: boolean; isRecorder?: boolean } = {}) {
  let nowMs = 1_000;
  const { isBridge = false, isRecorder = false } = options;
  const { state, actions } = startHandoff(nowMs, { isBridge, isRecorder });
  const told: HandoffAction[] = [...actions];
  const send = (input: HandoffInput) => {
    const found = handoffStep(state, input, nowMs);
    told.push(...found);
    return found.map(nameOf);
  };
  /** Lets time pass with a tick every 100 ms. */
  const pass = (ms: number) => {
    const found: string[] = [];
    for (const endMs = nowMs + ms; nowMs < endMs; ) {
      nowMs = Math.min(endMs, nowMs + 100);
      found.push(...send({ type: 'tick' }));
    }
    return found;
  };
  return { state, send, pass, told };
}

function nameOf(action: HandoffAction): string {
  switch (action.type) {
    case 'say':
      return `say ${action.line}`;
    case 'mark':
      return `mark ${action.handedOver}`;
    case 'end':
      return `end ${action.how.kind}${'by' in action.how ? ` by ${action.how.by}` : ''}`;
    default:
      return action.type;
  }
}

t.test(
  'R24 an agent joins: silence at once, the room is marked, a second later the bot leaves',
  async (t) => {
    const { send, pass, told } = handoff();
    t.strictSame(told.map(nameOf), ['hold']);
    pass(5_000);
    t.strictSame(send({ type: 'agents', count: 1 }), ['silence', 'agent_joined', 'mark true']);
    t.strictSame(pass(STAY_MS - 100), []);
    t.strictSame(pass(100), ['end handed_over by bot']);
    t.match(told.at(-1), { how: { leavesLine: true } }, 'the line of the caller is not touched');
    t.strictSame(send({ type: 'customer_left', reason: 'x' }), [], 'after the end nothing follows');
  },
);

t.test('R24 an agent who is gone within that second leaves the caller in the queue', async (t) => {
  const { send, pass } = handoff();
  send({ type: 'agents', count: 1 });
  pass(500);
  t.strictSame(send({ type: 'agents', count: 0 }), ['agent_left', 'mark false', 'hold']);
  t.strictSame(pass(5_000), []);
  t.strictSame(send({ type: 'agents', count: 1 }), ['silence', 'agent_joined', 'mark true']);
});

t.test(
  'R25 a bridge stays with the agent, however long, and holds again when the agent leaves',
  async (t) => {
    const { send, pass, state } = handoff({ isBridge: true });
    send({ type: 'agents', count: 1 });
    t.strictSame(pass(3 * 3_600_000), [], 'no timer ends a call that a person has');
    t.equal(state.phase, 'with_agent');
    t.strictSame(send({ type: 'agents', count: 2 }), [], 'a second one changes nothing');
    t.strictSame(send({ type: 'agents', count: 0 }), ['agent_left', 'hold']);
    const ended = pass(DESK_WAIT_MS + GRACE_MS + GOODBYE_MS);
    t.equal(ended.at(-1), 'end handed_over by bot', 'it was handed over once, whatever came after');
  },
);

t.test(
  'R107 RT-37 nobody comes: a line, then the hang-up; the desk has its own time and 30 s more',
  async (t) => {
    const { send, pass } = handoff();
    const lines = pass(DESK_WAIT_MS + GRACE_MS - 100);
    t.ok(
      lines.every((line) => line === 'say comfort'),
      'a comforting line now and then',
    );
    t.equal(lines.length, Math.floor((DESK_WAIT_MS + GRACE_MS - 100) / COMFORT_EVERY_MS));
    t.strictSame(pass(100), ['say nobody']);
    t.strictSame(send({ type: 'goodbye_said' }), ['end no_agent']);
  },
);

t.test('a voice that cannot say the last line does not keep the call', async (t) => {
  const { pass } = handoff();
  pass(DESK_WAIT_MS + GRACE_MS);
  t.strictSame(pass(GOODBYE_MS), ['end no_agent']);
});

t.test('an agent who comes while the bot says goodbye has the caller', async (t) => {
  const { send, pass } = handoff();
  pass(DESK_WAIT_MS + GRACE_MS);
  t.strictSame(send({ type: 'agents', count: 1 }), ['silence', 'agent_joined', 'mark true']);
  t.strictSame(send({ type: 'goodbye_said' }), []);
  t.strictSame(pass(STAY_MS), ['end handed_over by bot']);
});

t.test('RT-37 the desk says the place in line, and how long it lets a caller wait', async (t) => {
  const { send, pass } = handoff();
  pass(2_000);
  const answer = { ...SILENT_DESK, position: 3, timeoutSeconds: 10 };
  t.strictSame(send({ type: 'desk', answer }), ['say position']);
  t.notOk(pass(10_000 + GRACE_MS - 100).includes('say nobody'));
  t.strictSame(pass(100), ['say nobody']);
});

t.test('a desk that says nothing of itself leaves the waits as they are', async (t) => {
  const { send, pass } = handoff();
  t.strictSame(send({ type: 'desk', answer: SILENT_DESK }), []);
  t.notOk(pass(DESK_WAIT_MS + GRACE_MS - 100).includes('say nobody'));
  t.strictSame(pass(100), ['say nobody']);
});

t.test('R104 who ends it says how it ended', async (t) => {
  const cases: [string, (h: ReturnType<typeof handoff>) => string[], string, { isBridge?: boolean }][] = [
    ['waiting', ({ send }) => send({ type: 'customer_left', reason: 'r' }), 'end customer', {}],
    ['waiting', ({ send }) => send({ type: 'room_ended', reason: 'r' }), 'end no_agent', {}],
    ['waiting', ({ send }) => send({ type: 'room_lost', reason: 'r' }), 'end lost', {}],
    ['waiting', ({ send }) => send({ type: 'room_lost', reason: 'r' }), 'say nobody', { isBridge: true }],
    [
      'with an agent',
      ({ send }) => send({ type: 'customer_left', reason: 'r' }),
      'end handed_over by customer',
      { isBridge: true },
    ],
    [
      'with an agent',
      ({ send }) => send({ type: 'room_ended', reason: 'r' }),
      'end handed_over by agent',
      { isBridge: true },
    ],
    ['with an agent', ({ send }) => send({ type: 'room_lost', reason: 'r' }), 'end lost', { isBridge: true }],
  ];
  for (const [when, act, expected, options] of cases) {
    const machine = handoff(options);
    if (when === 'with an agent') {
      machine.send({ type: 'agents', count: 1 });
      machine.pass(STAY_MS);
    }
    t.strictSame(act(machine), [expected], `${when}: ${expected}`);
  }
});

t.test('the caller of a bridge is hung up when the agent ends it, and never by a recorder', async (t) => {
  for (const isBridge of [true, false]) {
    const { send, told } = handoff({ isBridge, isRecorder: true });
    send({ type: 'agents', count: 1 });
    send({ type: 'room_ended', reason: 'r' });
    t.match(told.at(-1), { how: { kind: 'handed_over', by: 'agent', leavesLine: !isBridge } });
  }
});

t.test(
  'whatever comes in whatever order, a handoff ends at most once and never stays for ever',
  async (t) => {
    let seed = 7;
    const random = (below: number) => {
      seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff;
      return (seed >> 8) % below;
    };
    const inputs: HandoffInput[] = [
      { type: 'agents', count: 0 },
      { type: 'agents', count: 1 },
      { type: 'desk', answer: { ...SILENT_DESK, position: 1, timeoutSeconds: 60 } },
      { type: 'goodbye_said' },
    ];
    for (let round = 0; round < 300; round++) {
      const machine = handoff({ isBridge: random(2) === 0, isRecorder: random(2) === 0 });
      for (let move = random(12); move > 0; move--) {
        machine.send(inputs[random(inputs.length)] as HandoffInput);
        machine.pass(random(4_000));
      }
      machine.send({ type: 'agents', count: 0 });
      machine.pass(DESK_WAIT_MS + GRACE_MS + GOODBYE_MS + STAY_MS);
      const ends = machine.told.filter(({ type }) => type === 'end');
      t.equal(ends.length, 1, `round ${round}`);
    }
  },
);
