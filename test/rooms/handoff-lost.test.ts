import t from 'tap';
import { HandoffHarness } from '../harness/handoff-harness.ts';
import { until } from '../harness/wait.ts';
import { ownStack } from '../stack/use-stack.ts';

t.setTimeout(280_000);
const stack = await ownStack(t);
const handoff = await HandoffHarness.start(t, { slots: 2, stack });
const { desk, harness } = handoff;

t.test(
  'R25 the media server dies under callers on sockets: nobody hangs, and the desk is told',
  async (t) => {
    const [waiting, talking] = [
      await handoff.askOnSocket(),
      await handoff.askOnSocket({ record_agent_leg: true }),
    ];
    const queued = await Promise.all(
      [waiting, talking].map(async ({ number }) => (await handoff.queued(number)).queued),
    );
    const agent = await handoff.agent(t, queued[1]?.enqueue.room ?? '');
    await until(() => agent.isHeard(), 'the agent is heard');
    await talking.call.until(() => false, 1_500);
    await stack.killServer();
    await Promise.all([waiting.call.closed, talking.call.closed]);
    const [first, second] = await Promise.all(queued.map(({ enqueue }) => handoff.resultOf(enqueue.room)));
    t.match(first, { disconnected_by: 'no_agent' }, 'who waited hears that nobody comes');
    t.match(first?.transcript.at(-1)?.text, 'nobody is free');
    t.match(second, { disconnected_by: 'error', end_detail: { handoff: { had_agent: true } } });
    await desk.until('both ends', () => queued.every(({ state }) => state === 'ended'));
    await harness.appliance.until((health) => health.fleet_available === 2);
  },
);
