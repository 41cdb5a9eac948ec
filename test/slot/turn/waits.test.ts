import t from 'tap';
import { PauseStatistics, waitsAfter } from '../../../src/slot/turn/turn-waits.ts';

const LINES: [line: string, rule: string | null][] = [
  ['Is that correct?', 'yes_no'],
  ['Your visit is on Monday. Does that suit you?', 'yes_no'],
  ['You live in Pune, right?', 'yes_no'],
  ['क्या आप मंगलवार को आ सकते हैं?', 'yes_no'],
  ['kya aap kal free hain?', 'yes_no'],
  ['Please tell me your account number.', 'digits'],
  ['What is your date of birth?', 'digits'],
  ['अपना मोबाइल नंबर बताइए।', 'digits'],
  ['What is your address?', 'digits'],
  ['Could you spell that for me?', 'spelling'],
  ['May I have your full name?', 'spelling'],
  ['आपका नाम क्या है?', 'spelling'],
  ['How can I help you today?', null],
  ['The weather is fine.', null],
  ['', null],
];

t.test('RT-82 what the bot asked decides how long the answer may pause', async (t) => {
  for (const [line, rule] of LINES) t.equal(waitsAfter(line)?.rule ?? null, rule, line);
  const own = [{ name: 'colour', pattern: /colour/i, waits: { silenceMs: 500, forcedEndMs: 1_000 } }];
  t.equal(waitsAfter('Is the colour right?', own)?.rule, 'colour', 'the rules of a bot come first');
  t.doesNotThrow(() => waitsAfter('number '.repeat(20_000)));
});

t.test('RT-07 the wait follows the pauses of the caller within its bounds', async (t) => {
  const slow = new PauseStatistics();
  slow.paused(500);
  slow.paused(550);
  t.equal(slow.silenceMs(700), 700, 'two pauses are not enough to know a caller');
  slow.paused(450);
  t.equal(slow.silenceMs(700), 750);
  for (let pause = 0; pause < 50; pause++) slow.paused(900);
  t.equal(slow.silenceMs(700), 900, 'never longer than the bound');
  const quick = new PauseStatistics();
  for (let pause = 0; pause < 10; pause++) quick.paused(90);
  t.equal(quick.silenceMs(700), 200, 'never shorter than the bound');
  quick.paused(60_000);
  t.equal(quick.silenceMs(700), 200, 'a minute of silence is not a pause of thought');
});
