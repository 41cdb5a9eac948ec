import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import t from 'tap';
import { realClock } from '../../../src/providers/contract/provider-clock.ts';
import { startEmulator } from '../../emulators/kit/emulator.ts';
import { until } from '../../harness/wait.ts';
import { Caller } from './caller.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const MEGABYTE = 1_048_576;
const SESSIONS = 200;
/** Sessions before the first reading, in which code is compiled and pools fill. */
const WARM_UP = 60;

const VENDORS = [
  { name: 'R8 deepgram', config: { provider: 'deepgram' }, greeting: null },
  {
    name: 'R8 deepgram_flux',
    config: { provider: 'deepgram_flux' },
    greeting: { type: 'Connected', request_id: 'r', sequence_id: 0 },
  },
  { name: 'R8 sarvam', config: { provider: 'sarvam' }, greeting: { event: 'session.begin' } },
  { name: 'R8 soniox', config: { provider: 'soniox' }, greeting: null },
];

for (const vendor of VENDORS) {
  t.test(`${vendor.name}: ${SESSIONS} sessions one after another leave nothing behind`, async (t) => {
    const emulator = await startEmulator({
      vendor: vendor.name,
      sockets: [
        {
          path: /./,
          session(socket) {
            // Every goodbye is answered, so that the sessions are short.
            socket.onText((_, text) => {
              if (/CloseStream|"end"|^$/.test(text)) socket.close(1000);
            });
            if (vendor.greeting) socket.send(vendor.greeting);
          },
        },
      ],
    });
    t.teardown(() => emulator.close());
    const audio = new Int16Array(160);

    const call = async (index: number) => {
      const caller = await Caller.calls(
        { language: 'en', api_key: 'k', base_url: emulator.wsUrl, ...vendor.config },
        realClock,
      );
      for (let frame = 0; frame < 10; frame++) caller.session.feed(audio);
      // One in four ends badly.
      if (index % 4 === 3) {
        emulator.control.latest().cut();
        await caller.failure();
      }
      await caller.session.close();
      // What the emulator remembers must not be taken for what the client keeps.
      emulator.log.entries.length = 0;
      emulator.control.sockets.length = 0;
    };
    const reading = async () => {
      await until(() => emulator.counters().openSockets === 0, 'the end of every socket');
      collectGarbage();
      await new Promise((resolve) => setImmediate(resolve));
      collectGarbage();
      const { heapUsed, external } = process.memoryUsage();
      return heapUsed + external;
    };
    const timersOf = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;

    const timersBefore = timersOf();
    for (let index = 0; index < WARM_UP; index++) await call(index);
    const before = await reading();
    for (let index = 0; index < SESSIONS; index++) await call(index);
    const grownBytes = (await reading()) - before;
    t.ok(grownBytes < 2 * MEGABYTE, `${Math.round(grownBytes / 1024)} KiB more after ${SESSIONS} sessions`);
    t.ok(grownBytes / SESSIONS < 10_000, 'less than a session’s own buffers for each');
    await until(() => timersOf() <= timersBefore + 1, 'the end of every timer');
  });
}
