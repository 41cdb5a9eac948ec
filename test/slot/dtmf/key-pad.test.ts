import t from 'tap';
import { COLLECT_DEFAULTS } from '../../../src/slot/dtmf/collect-digits.ts';
import { digitTools, dtmfTones } from '../../../src/slot/dtmf/digit-tools.ts';
import { KeyPad } from '../../../src/slot/dtmf/key-pad.ts';
import { silence } from '../../harness/line-sounds.ts';
import { undocumentedKeys } from '../../harness/undocumented-keys.ts';

const SECOND = 8_000;
const FRAME = 160;
const NEVER = new AbortController().signal;

t.test('RT-32 keys in the audio are collected for a tool, and a secret shows nowhere', async (t) => {
  const { pad, events, keys, play, active } = makePad();
  play(silence(100));
  const waiting = pad.collect({ ...COLLECT_DEFAULTS, isSecret: true }, NEVER);
  t.ok(pad.isCollecting);
  play(dtmfTones('4711#'));
  const result = await waiting;
  t.match(result, { status: 'complete', endedBy: 'terminator', digits: '4711', shown: '••••' });
  t.notOk(pad.isCollecting);
  t.equal(keys.length, 0, 'digits of an entry are no keys of the conversation');
  const written = JSON.stringify(events);
  t.notMatch(written, /"[0-9]+"/, 'no event holds a digit');
  t.match(
    events.filter(({ event }) => event === 'dtmf'),
    [{ digit: '••••', source: 'in_band' }],
    'not even how many there are',
  );
  t.match(events.at(-1), {
    event: 'digits_collected',
    digits: '••••',
    status: 'complete',
    ended_by: 'terminator',
  });
  t.same(events.flatMap(undocumentedKeys), [], 'events have the keys of their catalogue');
  play(dtmfTones('9'));
  t.same(keys, ['9'], 'afterwards a key is a key');
  t.equal(active(), 6, 'each says that the caller is there');
});

t.test('RT-32 an entry ends by its pause, its limit, a new entry or a cancelled call', async (t) => {
  const { pad, play } = makePad();
  const paused = pad.collect(COLLECT_DEFAULTS, NEVER);
  pad.signalled('5', 0);
  pad.signalled('6', SECOND / 2);
  play(silence(3_000));
  t.match(await paused, { status: 'complete', endedBy: 'pause', digits: '56' });

  const silent = pad.collect({ ...COLLECT_DEFAULTS, totalMs: 1_000 }, NEVER);
  pad.tick(10 * SECOND);
  t.match(await silent, { status: 'no_input', endedBy: 'total_time' });

  const replaced = pad.collect(COLLECT_DEFAULTS, NEVER);
  const abort = new AbortController();
  const aborted = pad.collect(COLLECT_DEFAULTS, abort.signal);
  t.match(await replaced, { status: 'cancelled' });
  abort.abort();
  t.match(await aborted, { status: 'cancelled' });
  t.match(
    await pad.collect(COLLECT_DEFAULTS, abort.signal),
    { status: 'cancelled' },
    'cancelled before it began',
  );
  t.notOk(pad.isCollecting);
  pad.cancel();
});

t.test('RT-32 a line that signals its keys is not searched for them any more', async (t) => {
  const { pad, keys, events, play } = makePad();
  pad.signalled('1', 0);
  play(dtmfTones('123'));
  t.same(keys, ['1']);
  pad.signalled('what', 10);
  t.equal(keys.length, 1);
  play(silence(2_500));
  t.same(events, [{ event: 'dtmf', digit: '1', source: 'signalled' }]);
});

t.test('RT-32 keys in a burst are one event for each entry', async (t) => {
  const { pad, keys, events, play, active } = makePad();
  const told = () => events.splice(0).map(({ event, digit, duration_ms }) => [event, digit, duration_ms]);
  for (const [place, digit] of [...'12345678901234567890'].entries()) pad.signalled(digit, place * 800);
  t.equal(keys.length, 20, 'each is a key at once');
  t.equal(active(), 20, 'and a sign of life');
  t.same(told(), [], 'more may come');
  pad.tick(19 * 800 + 2 * SECOND);
  t.same(told(), [['dtmf', '12345678901234567890', 1_900]]);

  pad.signalled('7', 10 * SECOND);
  const entry = pad.collect({ ...COLLECT_DEFAULTS, interDigitMs: 5_000 }, NEVER);
  t.same(told(), [['dtmf', '7', undefined]], 'what came before the entry is none of it');
  pad.signalled('4', 11 * SECOND);
  pad.signalled('2', 15 * SECOND);
  pad.signalled('#', 15.5 * SECOND);
  pad.signalled('9', 15.6 * SECOND);
  t.match(await entry, { digits: '42' });
  t.same(told(), [
    ['dtmf', '42#', 4_500],
    ['digits_collected', undefined, 5_500],
  ]);
  pad.cancel();
  t.same(told(), [['dtmf', '9', undefined]], 'nor is what comes behind it, and none is lost at the end');

  for (let key = 0; key < 70; key++) pad.signalled('0', 20 * SECOND + key);
  play(silence(30_000));
  t.same(
    told().map(([, digit]) => String(digit).length),
    [64, 6],
    'a line that sends keys without end is told of in pieces',
  );
});

t.test('RT-32 a caller who hangs up in an entry has hung up, and not cancelled it', async (t) => {
  const { pad, events } = makePad();
  const [collect] = digitTools({ pad, sendKeys: null, report: () => {} });
  const run = collect?.run({}, { signal: NEVER, idempotencyKey: 'k' });
  pad.signalled('4', 100);
  pad.cancel('hang_up');
  t.same(await run, { status: 'hung_up', result: { status: 'hung_up', digits: '4' } });
  t.match(events.at(-1), { event: 'digits_collected', status: 'hung_up', ended_by: 'hang_up' });
});

t.test('RT-32 the model gets digits, and of a secret a placeholder that only a tool can fill', async (t) => {
  const { pad, events, play } = makePad();
  const [collect] = digitTools({ pad, sendKeys: null, report: () => {} });
  const context = { signal: NEVER, idempotencyKey: 'k' };
  const plain = collect?.run({ max_digits: 2 }, context);
  play(dtmfTones('42'));
  t.same(await plain, { status: 'ok', result: { status: 'complete', digits: '42' } });
  const secret = collect?.run({ max_digits: 4, secret: true }, context);
  play(dtmfTones('9876'));
  const outcome = await secret;
  t.same(outcome, { status: 'ok', result: { status: 'complete', digits: '[[digits-1]]' } });
  t.equal(pad.reveal('pin=[[digits-1]]&x=[[digits-7]]'), 'pin=9876&x=[[digits-7]]');
  t.notMatch(JSON.stringify(events), /9876/);
  const nothing = collect?.run({ timeout_ms: 1_000 }, context);
  play(silence(1_500));
  t.match(await nothing, { status: 'no_input', result: { digits: '' } });
  for (let more = 0; more < 40; more++) pad.keepSecret(`${more}`);
  t.equal(pad.reveal('[[digits-20]]'), '39', 'secrets of a call are bounded');
});

t.test(
  'RT-33 keys go to the far end as a message or as tones, secrets included but never written',
  async (t) => {
    const { pad } = makePad();
    const sent: string[] = [];
    const written: unknown[] = [];
    const report = (event: string, detail: Record<string, unknown>) => written.push({ event, ...detail });
    const [, send] = digitTools({ pad, report, sendKeys: (keys) => sent.push(keys) });
    const [, sound] = digitTools({ pad, report, sendKeys: null });
    const context = { signal: NEVER, idempotencyKey: 'k' };
    const place = pad.keepSecret('5511');
    t.same(await send?.run({ keys: `1,${place}#` }, context), { status: 'ok', result: { status: 'ok' } });
    t.same(sent, ['1,5511#']);
    t.same(written, [{ event: 'dtmf_sent', digits: `1,${place}#` }]);
    const outcome = await sound?.run({ keys: `1,${place}#` }, context);
    t.equal(outcome?.sound?.length, (6 * 180 + 1_000) * 8, 'a line without such messages gets tones');
    t.match(await send?.run({ keys: 'hello' }, context), { status: 'failed', error: /digits|0 to 9/ });
    t.match(await send?.run({}, context), { status: 'failed' });
    t.equal(sent.length, 1);
  },
);

function makePad() {
  const events: { event: string; [key: string]: unknown }[] = [];
  const keys: string[] = [];
  let active = 0;
  const pad = new KeyPad({
    report: (event, detail) => {
      events.push({ event, ...detail });
    },
    onKey: (digit) => keys.push(digit),
    onActivity: () => active++,
  });
  let at = 0;
  const play = (line: Int16Array) => {
    for (let from = 0; from + FRAME <= line.length; from += FRAME, at += FRAME) {
      pad.audio(line.subarray(from, from + FRAME), at);
    }
  };
  return { pad, events, keys, play, active: () => active };
}
