import t from 'tap';
import { audioKernels } from '../../src/platform/audio-kernels.ts';
import { startBaresip } from '../stack/baresip-peer.ts';
import { uniqueNumber } from '../stack/use-stack.ts';
import { humanSpeech } from '../support/human-speech.ts';
import { ANSWER, SipHouse, SPOKEN } from './sip-house.ts';

t.setTimeout(240_000);
const house = await SipHouse.start(t, { slots: 2 });
const { appliance } = house;

t.test(
  'R11 RT-62 main is killed and started again in a telephone call: bot and caller talk on',
  async (t) => {
    const to = uniqueNumber();
    const phone = await startBaresip(t, { speech: humanSpeech('goforward.raw'), user: to });
    await house.pointTrunkAt(phone);
    const session = house.serve(house.bot({ vad: { protect_opening: true } }));
    const accepted = await house.dialout({ to_number: to });
    await phone.until('CALL_ESTABLISHED');
    await appliance.signalMain('SIGKILL');
    const heardBefore = phone.heard().length;
    await appliance.launch({ waitForSlots: false });
    const health = await appliance.until(
      ({ workers = [], fleet_available: free }) =>
        free === 1 && workers.some(({ state, call_id: id }) => state === 'orphan' && id === accepted.call_id),
      60_000,
    );
    t.equal(health.fleet_busy, 1, 'the call counts against the slots of the new main');
    // The reconciler of the new main looks every 5 s, and must find the room in order.
    await wait(12_000);
    const { level } = audioKernels();
    const since = phone.heard().subarray(heardBefore);
    t.ok(level(since) > -45, `the bot was heard after main had gone, at ${level(since).toFixed(1)} dBFS`);
    t.equal((await house.media.listRooms([accepted.room_name])).length, 1, 'the room stands');
    await phone.hangUp();

    const result = await house.resultOf(session);
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
    t.equal(house.plane.results.filter(({ session_id: id }) => id === session).length, 1, 'one result');
    await house.untilClear(accepted.room_name, 2);
  },
);

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
