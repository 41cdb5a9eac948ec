import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import type { TranscriptEntry } from '../../../src/contracts/call-results.ts';
import type { RuntimeConfig } from '../../../src/contracts/runtime-config.ts';
import { readNotes } from '../../../src/main/handoff/read-notes.ts';
import { DeskNotes, deskBase } from '../../../src/slot/handoff/desk-notes.ts';
import { enqueueBody, MAX_ENQUEUE_BYTES } from '../../../src/slot/handoff/enqueue-body.ts';
import { callerLine } from '../../../src/slot/speak/caller-lines.ts';
import { tempFolder } from '../../harness/temp-folder.ts';

const config = {
  session_id: 's-1',
  bot_id: 'b-1',
  tts: { provider: 'espeak', language: 'hi-IN' },
  stt: { provider: 'scripted' },
  call_context: { city: 'Pune' },
  crm_context: { CUSTOMERNAME: 'Asha Rao' },
  sip_context: {},
  agent_desk_context: 'For Asha',
} as unknown as RuntimeConfig;

const call = {
  callId: 'c-1',
  room: 'call-c-1',
  identity: 'caller-c-1',
  number: '+911140001234',
  reason: 'wants a person',
};

const entry = (text: string): TranscriptEntry => ({ speaker: 'customer', text, timestamp: 1 });

t.test('R47 the enqueue carries the eight names', async (t) => {
  t.strictSame(enqueueBody(config, { ...call, transcript: [entry('hello')] }), {
    call_id: 'c-1',
    session_id: 's-1',
    room: 'call-c-1',
    caller: { number: '+911140001234', name: 'Asha Rao', identity: 'caller-c-1', language: 'hi-IN' },
    bot: { bot_id: 'b-1' },
    escalation_reason: 'wants a person',
    transcript: [{ speaker: 'customer', text: 'hello', timestamp: 1 }],
    variables: { call: { city: 'Pune' }, crm: { CUSTOMERNAME: 'Asha Rao' }, sip: {} },
    context: 'For Asha',
  });
});

t.test('a conversation that is too long for the desk loses its beginning', async (t) => {
  const transcript = Array.from({ length: 400 }, (_, at) => entry(`${at} ${'x'.repeat(4_000)}`));
  const body = enqueueBody(config, { ...call, transcript });
  t.ok(Buffer.byteLength(JSON.stringify(body)) <= MAX_ENQUEUE_BYTES);
  t.match(body.transcript.at(-1)?.text, '399 ', 'the end is there');
  t.ok(body.transcript.length > 50, `${body.transcript.length} entries are left`);
});

t.test('RT-37 notes lie on disk in order, each with its number', async (t) => {
  const folder = tempFolder();
  const webhookUrl = 'https://plane.example/api/v1/call-results';
  const notes = new DeskNotes({ callId: 'c-1', folder, webhookUrl });
  const enqueue = enqueueBody(config, { ...call, transcript: [] });
  await Promise.all([
    notes.enqueue(enqueue),
    notes.event('hold_started'),
    notes.event('participant_joined', { identity: 'agent-1' }),
    notes.customerDisconnected('hung up'),
  ]);
  await notes.close();
  const found = await readNotes(folder);
  t.match(found, [
    { v: 1, seq: 1, kind: 'enqueue', origin: 'https://plane.example', body: enqueue },
    { seq: 2, kind: 'event', callId: 'c-1', body: { event: 'hold_started', at: String } },
    { seq: 3, kind: 'event', body: { event: 'participant_joined', data: { identity: 'agent-1' } } },
    { seq: 4, kind: 'customer_disconnected', callId: 'c-1', body: { reason: 'hung up', at: String } },
  ]);
});

t.test('a folder that cannot be written rejects: the bot goes on with the call', async (t) => {
  const notes = new DeskNotes({ callId: 'c-1', folder: '/nowhere/at/all', webhookUrl: 'http://127.0.0.1/' });
  await t.rejects(notes.enqueue(enqueueBody(config, { ...call, transcript: [] })));
  await notes.close();
});

t.test('a line that a crash has torn does not hide the notes around it', async (t) => {
  const folder = tempFolder();
  const notes = new DeskNotes({ callId: 'c-1', folder, webhookUrl: 'https://plane.example/x' });
  await notes.event('hold_started');
  await notes.close();
  const { appendFile } = await import('node:fs/promises');
  const whole = await readFile(join(folder, 'handoff.jsonl'), 'utf8');
  await appendFile(
    join(folder, 'handoff.jsonl'),
    `${whole.slice(0, 20)}\n${whole.replace('"seq":1', '"seq":2')}`,
  );
  await appendFile(join(folder, 'handoff.jsonl'), whole.slice(0, 30));
  t.strictSame(
    (await readNotes(folder)).map(({ seq }) => seq),
    [1, 2],
  );
});

t.test('the desk is where the results go', async (t) => {
  t.equal(deskBase('https://plane.example/api/v1/call-results'), 'https://plane.example');
  t.equal(deskBase('https://plane.example/base/api/v1/call-results'), 'https://plane.example/base');
  t.equal(deskBase('https://plane.example/elsewhere'), 'https://plane.example');
});

t.test('RT-37 lines come in the language of the voice, English where it is not known', async (t) => {
  t.equal(callerLine('en-IN', 'handoff_position'), 'You are number {n} in line.');
  t.equal(callerLine('hi_IN', 'handoff_position'), 'कतार में आपका नंबर {n} है।');
  t.equal(callerLine('xx', 'handoff_comfort'), callerLine('en', 'handoff_comfort'));
  t.equal(callerLine(undefined, 'handoff_nobody'), callerLine('en', 'handoff_nobody'));
});
