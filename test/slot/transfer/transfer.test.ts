import fc from 'fast-check';
import t from 'tap';
import { transferFields } from '../../../src/contracts/assemble-results.ts';
import type { CallEvent } from '../../../src/contracts/call-events.ts';
import { CallTransfer } from '../../../src/slot/transfer/call-transfer.ts';
import {
  TRANSFER_START,
  type TransferInput,
  type TransferPhase,
  transferStep,
} from '../../../src/slot/transfer/transfer-machine.ts';
import { chooseTransfer, type TransferOrder } from '../../../src/slot/transfer/transfer-order.ts';
import type { TransferRequest, TransferResult } from '../../../src/slot/transport/call-transport.ts';

const ORDER: TransferOrder = {
  destination: '+912240000001',
  target: 'desk',
  reason: 'angry',
  headers: { 'X-A': '1' },
  message: 'Please hold.',
};
const OK: TransferResult = { status: 'ok', reason: '', sipCode: 200, sipStatus: 'OK' };
const BUSY: TransferResult = { status: 'failed', reason: 'busy', sipCode: 486, sipStatus: 'Busy Here' };

/** A transfer on a line that does what `how` says; `timeScale` keeps its waits far from the events of a test. */
function transferHarness(how: 'asked' | 'by_close' | 'impossible' = 'asked', timeScale = 1) {
  const events: CallEvent[] = [];
  const sent: TransferRequest[] = [];
  const transfer = new CallTransfer({
    transport: {
      sendTransfer: (request) => {
        sent.push(request);
        return how;
      },
    },
    report: (event, detail) => events.push({ event, ts: events.length + 1, ...detail }),
    timeScale,
  });
  t.teardown(() => transfer.stop());
  return { transfer, events, sent, names: () => events.map(({ event }) => event) };
}

t.test('R12 R116 RT-35 a transfer that is answered ok is sent; the line may close then', async (t) => {
  const { transfer, events, sent, names } = transferHarness();
  const outcome = transfer.start(ORDER);
  t.ok(transfer.isPending);
  t.same(sent, [{ destination: '+912240000001', target: 'desk', reason: 'angry', headers: { 'X-A': '1' } }]);
  transfer.onResult(OK);
  t.ok(transfer.isMoved);
  t.ok(transfer.lineGone(), 'the close is no hang-up of the caller');
  t.same(await outcome, { kind: 'sent' });
  t.same(names(), ['transfer_requested', 'transfer_sent']);
  t.match(events[1], {
    transfer_number: '+912240000001',
    transfer_headers: { 'X-A': '1' },
    transfer_target: 'desk',
    transfer_method: 'websocket_reverse_transfer',
    reason: 'angry',
    sip_code: 200,
    sip_status: 'OK',
  });
  t.same(transferFields(events), {
    was_transferred: true,
    transfer_destination: '+912240000001',
    transfer_target: 'desk',
    transfer_reason: 'angry',
    transfer_method: 'websocket_reverse_transfer',
    transfer_at: 2,
    transfer_failed_reason: null,
  });
});

t.test('R114 R115 R170 R172 a transfer that fails tells why, and where it should have gone', async (t) => {
  const { transfer, events, names } = transferHarness();
  const outcome = transfer.start(ORDER);
  transfer.onResult(BUSY);
  t.same(await outcome, { kind: 'failed', reason: 'busy', sipCode: 486, sipStatus: 'Busy Here' });
  t.notOk(transfer.isPending);
  t.same(names(), ['transfer_requested', 'transfer_failed']);
  t.match(events[1], { reason: 'busy', sip_code: 486, sip_status: 'Busy Here' });
  t.match(transferFields(events), {
    was_transferred: false,
    transfer_destination: '+912240000001',
    transfer_reason: 'angry',
    transfer_at: null,
    transfer_failed_reason: 'busy',
  });
  t.notOk(transfer.onResult(OK), 'what comes late changes nothing');
  t.notOk(transfer.lineGone(), 'the next close is the caller');
});

t.test('R114 a failure after the ok undoes the transfer, and the bot goes on', async (t) => {
  const { transfer, events } = transferHarness();
  const outcome = transfer.start(ORDER);
  transfer.onResult(OK);
  transfer.onResult(BUSY);
  t.equal((await outcome).kind, 'failed');
  t.equal(transferFields(events).was_transferred, false);
  const again = transfer.start(ORDER);
  transfer.onResult(OK);
  transfer.lineGone();
  t.equal((await again).kind, 'sent');
  t.equal(transferFields(events).was_transferred, true, 'a second try that succeeds counts');
});

t.test('RT-35 a close without an answer counts as sent, whenever it comes', async (t) => {
  const { transfer, events } = transferHarness();
  const outcome = transfer.start(ORDER);
  t.ok(transfer.lineGone());
  t.same(await outcome, { kind: 'sent' });
  t.equal(transferFields(events).was_transferred, true);
  for (const phase of ['asked', 'unanswered'] as const) {
    t.match(transferStep(phase, { type: 'closed' }), { event: 'transfer_sent', outcome: { kind: 'sent' } });
  }
});

t.test('RT-35 ten seconds without an answer and thirty without a close are a failure', async (t) => {
  t.equal(TRANSFER_START.timerMs, 10_000);
  const waiting = transferStep('asked', { type: 'timer' });
  t.match(waiting, { phase: 'unanswered', timerMs: 20_000, event: null, outcome: null });
  t.match(transferStep('unanswered', { type: 'timer' }), { phase: 'failed', event: 'transfer_failed' });
  const { transfer } = transferHarness('asked', 0.005);
  t.match(await transfer.start(ORDER), { kind: 'failed', reason: /did not answer/ });
});

t.test('a line that a moved caller leaves open is given up by itself', async (t) => {
  const { transfer } = transferHarness('asked', 0.01);
  const outcome = transfer.start(ORDER);
  transfer.onResult(OK);
  t.same(await outcome, { kind: 'sent' });
});

t.test('a caller who hangs up before they were moved was not passed on', async (t) => {
  const { transfer, events } = transferHarness();
  const outcome = transfer.start(ORDER);
  t.equal(transfer.callerLeft(), false);
  t.same(await outcome, { kind: 'abandoned' });
  t.match(transferFields(events), { was_transferred: false, transfer_failed_reason: /hung up/ });
  const moved = transferHarness();
  const second = moved.transfer.start(ORDER);
  moved.transfer.onResult(OK);
  t.equal(moved.transfer.callerLeft(), true, 'after the ok a stop belongs to the transfer');
  t.same(await second, { kind: 'sent' });
});

t.test(
  'R116 RT-34 a line that always answers: its closing is no answer, and it has one wait of its own',
  async (t) => {
    const line = { sendTransfer: () => 'asked' as const, transferMethod: 'livekit_sip_refer' as const };
    const rigSip = (transferWaitMs: number) => {
      const events: CallEvent[] = [];
      const transfer = new CallTransfer({
        transport: { ...line, transferWaitMs },
        report: (event, detail) => events.push({ event, ts: 1, ...detail }),
      });
      t.teardown(() => transfer.stop());
      return { transfer, events };
    };
    const left = rigSip(75_000);
    const outcome = left.transfer.start(ORDER);
    t.equal(left.transfer.lineGone(), false, 'the end of the leg is the caller’s');
    t.same(await outcome, { kind: 'abandoned' });
    t.match(transferFields(left.events), {
      was_transferred: false,
      transfer_method: 'livekit_sip_refer',
      transfer_failed_reason: /hung up/,
    });
    const moved = rigSip(75_000);
    const second = moved.transfer.start(ORDER);
    moved.transfer.onResult({ ...OK, sipCode: null, sipStatus: null });
    t.equal(moved.transfer.callerLeft(), true);
    t.same(await second, { kind: 'sent' });
    const silent = rigSip(20);
    t.match(await silent.transfer.start(ORDER), { kind: 'failed', reason: /did not answer/ });
  },
);

t.test('a line where closing is the transfer, and one that knows none', async (t) => {
  const closing = transferHarness('by_close');
  t.same(await closing.transfer.start(ORDER), { kind: 'sent' });
  t.same(closing.names(), ['transfer_requested', 'transfer_sent']);
  t.notOk(closing.transfer.isMoved, 'its close is an ordinary one');
  const none = transferHarness('impossible');
  t.match(await none.transfer.start(ORDER), { kind: 'failed' });
  t.same(none.names(), ['transfer_requested', 'transfer_failed']);
  const { transfer } = transferHarness();
  void transfer.start(ORDER);
  t.match(await transfer.start(ORDER), { kind: 'failed', reason: /under way/ }, 'one at a time');
});

t.test('RT-35 whatever comes in whatever order, one outcome is reached and the machine rests', async (t) => {
  const inputs: TransferInput[] = [
    { type: 'ok', sipCode: null, sipStatus: null },
    { type: 'failed', reason: '', sipCode: null, sipStatus: null },
    { type: 'closed' },
    { type: 'caller_left' },
    { type: 'timer' },
  ];
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...inputs), { maxLength: 12 }), (sequence) => {
      let phase: TransferPhase = 'asked';
      let timerMs = TRANSFER_START.timerMs;
      let outcomes = 0;
      for (const input of [...sequence, ...Array<TransferInput>(3).fill({ type: 'timer' })]) {
        const step = transferStep(phase, input);
        if (!step) continue;
        if (outcomes > 0) throw new Error(`${phase} went on after its outcome`);
        phase = step.phase;
        timerMs = step.timerMs;
        if (step.outcome) outcomes++;
        if ((step.outcome === null) !== (timerMs !== null)) throw new Error(`${phase} waits without a timer`);
      }
      if (outcomes !== 1) throw new Error(`${outcomes} outcomes`);
    }),
    { numRuns: 2_000, seed: 35 },
  );
  t.pass('2,000 sequences');
});

t.test('R41 R63 only places of the bot are called, by name; the policy names the one to take', async (t) => {
  const config = {
    transfer_targets: [
      { name: 'Collections', destination: 'sip:c@pbx.example.com' },
      { name: 'crm', destination: '{{crm.agent}}' },
      { name: 'gone', destination: '{{crm.nobody}}' },
    ],
    transfer_numbers: { front_desk: '+912240000001' },
    pre_transfer_message: 'Please hold, {{call.name}}.',
    conversation_policy: null as Record<string, unknown> | null,
  };
  const variables = { crm: { agent: '+912240000009' }, call: { name: 'Asha' } };
  const choose = (target: string, change: Partial<typeof config> = {}) =>
    chooseTransfer({ ...config, ...change }, variables, { target, reason: 'r' });
  t.match(choose('collections'), { order: { destination: 'sip:c@pbx.example.com', target: 'Collections' } });
  t.match(choose('crm'), { order: { destination: '+912240000009' } });
  t.match(choose('front_desk'), { order: { destination: '+912240000001', message: 'Please hold, Asha.' } });
  t.match(choose('gone'), { status: 'no_number_configured' }, 'a variable without a value is no number');
  t.match(choose('+19005550100'), { status: 'unknown_target', known: ['Collections', 'crm', 'front_desk'] });
  t.match(choose(''), { status: 'unknown_target' }, 'several, and none was named');
  const policy = { escalation: { when: ['x'], target: 'front_desk' } };
  t.match(choose('', { conversation_policy: policy }), { order: { target: 'front_desk' } });
  t.match(choose('', { transfer_targets: [] }), { order: { target: 'front_desk' } }, 'the only one there is');
  t.match(choose('', { transfer_targets: [], transfer_numbers: {} } as never), {
    status: 'no_number_configured',
  });
  t.match(choose('', { transfer_targets: [], transfer_numbers: ['+911140000000'] } as never), {
    order: { destination: '+911140000000', target: null },
  });
});
