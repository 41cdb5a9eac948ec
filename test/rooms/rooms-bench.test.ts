import t from 'tap';
import { benchRooms, describeRooms } from '../../bench/rooms.ts';

t.test(
  'the bench of room calls dials telephones, hears every bot and counts what came',
  { timeout: 280_000 },
  async (t) => {
    const said: string[] = [];
    const figures = await benchRooms(
      { steps: [2], warmUpMs: 1_000, measureMs: 5_000 },
      (sentence) => said.push(sentence),
      () => undefined,
    );
    const [step] = figures.steps;
    if (!step) return t.fail('no step was run');
    t.equal(step.results, 2, 'both calls left their result');
    for (const { counts } of [step.caller, step.bare]) {
      t.ok(counts.voicedPackets > 100, `${counts.voicedPackets} packets of voice`);
      t.ok(counts.lostPackets < counts.packets / 20, `${counts.lostPackets} packets lost`);
    }
    t.ok(step.cpuSecondsPerCallMinute.product > 0 && step.memory.slotMedian.privateDirtyMb > 10);
    t.match(describeRooms(figures), /largest number/);
    t.match(said.join('\n'), /bare publishers\n.*the product\n2 room calls at once/);
  },
);
