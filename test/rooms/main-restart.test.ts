import t from 'tap';
import { audioKernels } from '../../src/platform/audio-kernels.ts';
import { sleepMs } from '../../src/platform/clock.ts';
import { humanSpeech } from '../harness/human-speech.ts';
import { ANSWER, SipHarness, SPOKEN, untilHeard, withPause } from '../harness/sip-harness.ts';
import { startBaresip } from '../stack/baresip-peer.ts';
import { uniqueNumber } from '../stack/use-stack.ts';

t.setTimeout(280_000);
/** Two looks of the reconciler and a little more. */
const LOOKS_MS = 12_000;
const harness = await SipHarness.start(t, { slots: 2 });
const { appliance } = harness;

t.test(
  'R11 RT-62 main is killed and started again in a telephone call: bot and caller talk on',
  async (t) => {
    const to = uniqueNumber();
    const phone = await startBaresip(t, { speech: withPause(humanSpeech('goforward.raw')), user: to });
    await harness.pointTrunkAt(phone);
    const session = harness.serve(harness.bot({ vad: { protect_opening: true } }));
    const accepted = await harness.dialout({ to_number: to });
    await phone.until('CALL_ESTABLISHED');
    await appliance.signalMain('SIGKILL');
    const heardBefore = phone.heard().length;
    await appliance.launch({ waitForSlots: false });
    const health = await appliance.until(
      ({ workers = [], fleet_available: free }) =>
        free === 1 && workers.some(({ state, call_id: id }) => state === 'orphan' && id === accepted.call_id),
      60_000,
    );
    const startedAtMs = performance.now();
    t.equal(health.fleet_busy, 1, 'the call counts against the slots of the new main');
    // An opening and two answers; the reconciler of the new main looks every 5 s, and must find the room in order.
    await untilHeard(() => phone.heard(), 3);
    await sleepMs(Math.max(0, startedAtMs + LOOKS_MS - performance.now()));
    const { level } = audioKernels();
    const since = phone.heard().subarray(heardBefore);
    t.ok(level(since) > -45, `the bot was heard after main had gone, at ${level(since).toFixed(1)} dBFS`);
    t.equal((await harness.media.listRooms([accepted.room_name])).length, 1, 'the room stands');
    await phone.hangUp();

    const result = await harness.resultOf(session);
    t.equal(result.disconnected_by, 'customer');
    const said = result.transcript.map(({ speaker, text }) => `${speaker}: ${text}`);
    // The hang-up may come in the middle of the answer, so its beginning counts.
    t.ok(
      said.some((line) => line.startsWith(`bot: ${ANSWER.slice(0, 9)}`)),
      said.join(' / '),
    );
    t.ok(
      said.some((line) => line.startsWith('customer') && line.includes(SPOKEN)),
      said.join(' / '),
    );
    t.equal(harness.plane.results.filter(({ session_id: id }) => id === session).length, 1, 'one result');
    await harness.untilClear(accepted.room_name, 2);
  },
);
