import t from 'tap';
import { rescueLines } from '../../src/providers/rescue-lines.ts';
import { RESCUE_AFTER_MS, RescueWatch } from '../../src/slot/call/rescue-watch.ts';

t.test('RT-59 an answer that is owed for 3 s brings a line, a second one later, then the end', async (t) => {
  const watch = new RescueWatch();
  t.equal(watch.tick(true, 0, RESCUE_AFTER_MS - 1), null);
  t.equal(watch.tick(true, 0, RESCUE_AFTER_MS), 'rescue');
  t.equal(
    watch.tick(true, 0, RESCUE_AFTER_MS + 100),
    null,
    'not again at once, even where it cannot be heard',
  );
  const heardUntil = 6_500;
  t.equal(watch.tick(true, heardUntil, heardUntil + 2_900), null, 'time counts from the end of the line');
  t.equal(watch.tick(true, heardUntil, heardUntil + 3_000), 'rescue');
  t.equal(watch.tick(true, 13_000, 16_000), 'give_up');
});

t.test('RT-59 nothing is said while nobody owes anything, and an answer settles the debt', async (t) => {
  const watch = new RescueWatch();
  t.equal(watch.tick(false, 0, 60_000), null, 'the caller thinks');
  t.equal(watch.tick(true, 59_000, 60_000), null, 'work began a second ago');
  t.equal(watch.tick(true, 59_000, 62_000), 'rescue');
  watch.settled();
  t.equal(watch.tick(true, 70_000, 73_000), 'rescue');
  t.equal(watch.tick(true, 76_000, 79_000), 'rescue', 'the next answer has both lines again');
});

t.test('RT-59 the lines are in the language of the voice, and a bot may bring its own', async (t) => {
  const stt = { provider: 'deepgram', language: 'fr' };
  const of = (language: string | undefined, own?: string) =>
    rescueLines({
      tts: { provider: 'cartesia', ...(language ? { language } : {}) },
      stt,
      ...(own ? { rescue_line: own } : {}),
    });
  t.match(of('en-IN').rescue, /technical problem/);
  t.match(of('hi-IN').rescue, /तकनीकी/);
  t.match(of('de').farewell, /Wiederhören/);
  t.match(of(undefined).rescue, /problème technique/, 'the ears know a language too');
  t.match(of('xx').rescue, /technical problem/, 'English where no line is known');
  t.equal(of('hi', 'Wait.').rescue, 'Wait.');
  t.match(of('hi', 'Wait.').farewell, /नमस्ते/);
});
