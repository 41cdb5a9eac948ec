import t from 'tap';
import { FrameLedger } from '../../bench/frame-ledger.ts';

const CLAUSE_FRAMES = 4;

/** Takes frames written as "speak.frame" ("1.0 1.1"), `clear` and `?` (no stamp), 20 ms apart. */
function counted(script: string) {
  const ledger = new FrameLedger(CLAUSE_FRAMES);
  let atMs = 0;
  for (const word of script.split(' ')) {
    atMs += 20;
    const [speak, frame] = word.split('.').map(Number);
    if (word?.startsWith('clear')) ledger.clear(atMs, Number(word.slice('clear'.length)));
    else if (word === 'later') atMs += 1_000;
    else ledger.take(word === '?' ? null : { speak: speak as number, frame: frame as number }, atMs);
  }
  const { missing, doubled, afterClear, damaged } = ledger.counts;
  return { missing, doubled, afterClear, damaged };
}

const CLEAN = { missing: 0, doubled: 0, afterClear: 0, damaged: 0 };

t.test('whole clauses in order are clean', async (t) => {
  t.same(counted('1.0 1.1 1.2 1.3 2.0 2.1 2.2 2.3 3.0'), CLEAN);
});

t.test('a clause that was cleared may end anywhere, and unsent clauses behind it leave no gap', async (t) => {
  t.same(counted('1.0 1.1 clear later 4.0 4.1 4.2 4.3 5.0'), CLEAN);
});

t.test('missing frames are counted wherever they are missing', async (t) => {
  t.same(counted('1.0 1.2'), { ...CLEAN, missing: 1 }, 'inside a clause');
  t.same(counted('1.0 1.1 2.0'), { ...CLEAN, missing: 2 }, 'at the end of a clause that nobody cleared');
  t.same(counted('1.1'), { ...CLEAN, missing: 1 }, 'at the start of the call');
  t.same(counted('2.0'), { ...CLEAN, missing: CLAUSE_FRAMES }, 'a whole first clause');
  t.same(counted('1.0 1.1 1.2 1.3 3.1'), { ...CLEAN, missing: CLAUSE_FRAMES + 1 }, 'a clause and a start');
  t.same(counted('1.0 clear later 3.2'), { ...CLEAN, missing: 2 }, 'the start of a reply after clear');
});

t.test('doubled and reordered frames are counted', async (t) => {
  t.same(counted('1.0 1.0 1.1'), { ...CLEAN, doubled: 1 });
  t.same(counted('1.0 1.1 1.2 1.3 2.0 1.3'), { ...CLEAN, doubled: 1 });
});

t.test('frames of a cleared reply, and any frame right after clear, are counted', async (t) => {
  t.same(
    counted('1.0 1.1 1.2 clear3 later 1.3'),
    { ...CLEAN, missing: 3 },
    'the clause goes on behind what was cleared',
  );
  t.same(counted('1.0 1.1 clear 2.0 2.1'), { ...CLEAN, afterClear: 2 }, 'its next clause is sent');
});

t.test('RT-14 a paused bot may go on with what was not played, and say a little of it again', async (t) => {
  t.same(
    counted('1.0 1.1 1.2 1.3 2.0 2.1 clear3 later 1.3 2.0 2.1 2.2 2.3 3.0'),
    CLEAN,
    'from the exact frame',
  );
  t.same(counted('1.0 1.1 1.2 1.3 clear2 later ? 1.3 2.0'), CLEAN, 'its first frame fades in');
  t.same(counted('1.0 1.1 1.2 1.3 clear1 later 1.1 1.2 1.3 2.0'), CLEAN, 'a little again');
  t.same(
    counted('1.0 1.1 1.2 1.3 2.0 2.1 clear4 later 2.1'),
    { ...CLEAN, missing: 3 },
    'but nothing may be left out',
  );
});

t.test('a frame without its number is damaged', async (t) => {
  t.same(counted('1.0 ? 1.1'), { ...CLEAN, damaged: 1 });
});
