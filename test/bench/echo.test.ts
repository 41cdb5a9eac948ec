import t from 'tap';
import { benchEcho, describeEcho } from '../../bench/echo.ts';

t.setTimeout(290_000);

t.test('RT-18 a share of the echo bench: short answers are heard, and echoes stop nobody', async (t) => {
  const figures = await benchEcho({ answers: 30, echoes: 8, bargeIns: 3, seed: 1 }, (sentence) =>
    t.comment(sentence),
  );
  for (const line of describeEcho(figures)) t.comment(line);
  t.equal(figures.takenForEcho, 0);
  t.equal(figures.lost.count, 0, 'every answer became a turn');
  t.ok((figures.cutByEcho.share ?? 1) <= 0.15, 'the bot is cut by echoes that drown in noise at the most');
  t.ok((figures.nobodysTurns.share ?? 1) <= 0.06);
  t.ok(
    figures.bargeIns.every(({ missed }) => missed.count <= 1),
    'callers break in',
  );
  t.ok((figures.bargeIns[0]?.cutAfterMsP50 ?? 9_999) < 900, 'and on a line without an echo at once');
});
