import t from 'tap';
import { FarEndDelay } from '../../../src/slot/speak/far-end-delay.ts';

t.test('RT-14 how far the ear is behind is learned from the quickest of the latest echoes', async (t) => {
  const delay = new FarEndDelay();
  t.equal(delay.ms, 80, 'a usual buffer, before anything is known');
  for (const ms of [130, 104, 390]) delay.echoed(ms);
  t.equal(delay.ms, 104);
  delay.echoed(-35);
  t.equal(delay.ms, 0, 'a far end may be ahead of the clock');
  for (let at = 0; at < 8; at++) delay.echoed(80);
  t.equal(delay.ms, 80, 'what is long ago is forgotten');
  for (let at = 0; at < 8; at++) delay.echoed(60_000);
  t.equal(delay.ms, 400, 'a stall is no buffer');
});
