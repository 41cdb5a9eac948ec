import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { HangupCause } from '../../src/contracts/hangup-orders.ts';
import { noteHangup } from '../../src/main/slots/hangup-note.ts';
import { LineClock } from '../../src/slot/audio/line-clock.ts';
import { configUrlFor, readConfig } from '../../src/slot/call/fetch-config.ts';
import { orderBehindSignal } from '../../src/slot/process/hangup-order.ts';
import { judgeEnd } from '../../src/slot/wrap-up/end-arbiter.ts';
import { tempFolder } from '../harness/temp-folder.ts';

t.test('RT-25 one arbiter names who ended the call', async (t) => {
  t.equal(judgeEnd({ kind: 'end_call', reason: '' }, true).disconnectedBy, 'bot', 'R96');
  const busy = judgeEnd({ kind: 'line_dead', reason: 'busy' }, true);
  t.match(
    busy,
    { disconnectedBy: 'customer', lineStands: true, cause: 'line_dead' },
    'RT-28 only a tone is left',
  );
  const mailbox = judgeEnd({ kind: 'voicemail', reason: 'left' }, true);
  t.match(mailbox, { disconnectedBy: 'voicemail', by: 'bot', lineStands: true }, 'R98 a mailbox');
  t.equal(judgeEnd({ kind: 'caller_silent' }, true).disconnectedBy, 'bot', 'R96 dead air after words');
  t.equal(judgeEnd({ kind: 'caller_silent' }, false).disconnectedBy, 'RNR', 'R99 not a word');
  t.equal(judgeEnd({ kind: 'stop', reason: '' }, true).disconnectedBy, 'customer', 'R97');
  t.equal(judgeEnd({ kind: 'max_duration' }, true).disconnectedBy, 'timeout', 'R103');
  t.equal(judgeEnd({ kind: 'pipeline_error', error: 'x' }, true).disconnectedBy, 'error', 'R106');
  for (const kind of ['closed', 'broken', 'vanished'] as const) {
    t.equal(
      judgeEnd({ kind: 'line_gone', loss: { kind, reason: '' } }, true).disconnectedBy,
      'customer',
      kind,
    );
  }
  for (const kind of ['protocol', 'stalled'] as const) {
    t.equal(judgeEnd({ kind: 'line_gone', loss: { kind, reason: '' } }, true).disconnectedBy, 'error', kind);
  }
});

t.test('RT-25 RT-84 who ended a call by order: a person, its length, or the host', async (t) => {
  const ordered = (cause: HangupCause) => judgeEnd({ kind: 'ordered', cause, reason: 'why' }, true);
  t.match(ordered('operator'), {
    disconnectedBy: 'bot',
    by: 'operator',
    cause: 'operator',
    reason: 'why',
    lineStands: true,
  });
  t.match(ordered('max_duration'), {
    disconnectedBy: 'timeout',
    by: 'bot',
    trigger: 'max_duration',
    cause: 'max_duration',
  });
  t.match(ordered('host'), { disconnectedBy: 'error', by: 'host', cause: 'ordered' });
});

t.test('RT-25 D-7 a slot that only a signal reaches finds in its folder who wants it to end', async (t) => {
  const dataDir = tempFolder();
  const spool = join(dataDir, 'spool');
  mkdirSync(join(spool, 'call-1'), { recursive: true });
  t.match(orderBehindSignal(dataDir, 'call-1'), { cause: 'host' }, 'the machine goes down');
  await noteHangup(spool, 'call-1', { cause: 'operator', reason: 'the wrong list' });
  t.same(orderBehindSignal(dataDir, 'call-1'), { cause: 'operator', reason: 'the wrong list' });
  await noteHangup(spool, 'call-2', { cause: 'operator', reason: 'already over' });
  t.match(orderBehindSignal(dataDir, 'call-2'), { cause: 'host' }, 'no folder is made for a note');
});

t.test('RT-03 a line without audio goes on in silence after a second, at wall speed', async (t) => {
  let nowMs = 0;
  const clock = new LineClock(() => nowMs);
  clock.received(160);
  nowMs = 900;
  t.equal(clock.gapDue().samples, 0);
  nowMs = 1100;
  t.same(clock.gapDue(), { samples: 8800, begins: true });
  nowMs = 1200;
  t.same(clock.gapDue(), { samples: 800, begins: false });
  clock.received(160);
  nowMs = 1300;
  t.equal(clock.gapDue().samples, 0, 'audio ends the gap');
  t.equal(clock.samples, 160 + 8800 + 800 + 160);
  t.equal(clock.filledSamples, 9600);
});

t.test('R148 CONFIG_URL takes a placeholder or gets the bot appended', async (t) => {
  t.equal(configUrlFor('https://x.example/c/{bot_id}/v2', 'a b'), 'https://x.example/c/a%20b/v2');
  t.equal(configUrlFor('https://x.example/c/', 'demo'), 'https://x.example/c/demo');
});

t.test('a config that a call cannot run on is refused with the field that is wrong', async (t) => {
  const good = {
    session_id: 's',
    webhook_url: 'http://127.0.0.1:1/hook',
    stt: { provider: 'scripted' },
    llm: { provider: 'scripted' },
    tts: { provider: 'scripted' },
  };
  const config = readConfig(JSON.stringify(good), 'demo');
  t.ok('config' in config && config.config.bot_id === 'demo', 'a foreign plane may leave the rest out');
  const refused = (change: object) => {
    const answer = readConfig(JSON.stringify({ ...good, ...change }), 'demo');
    return 'refusal' in answer ? answer.refusal.reason : 'accepted';
  };
  t.match(refused({ session_id: '' }), /session_id/);
  t.match(refused({ webhook_url: 'nowhere' }), /webhook_url/);
  t.match(refused({ webhook_url: 'http://example.org/hook' }), /https/, 'plain http is for loopback only');
  t.match(refused({ tts: null }), /tts/);
  t.match('refusal' in readConfig('{', 'x') ? 'refused' : '', /refused/);
});
