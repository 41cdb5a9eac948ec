import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { Check } from 'typebox/value';
import { CallResults } from '../../src/contracts/call-results.ts';
import type { SpoolResult } from '../../src/contracts/spool.ts';
import { parseJournal } from '../../src/main/outbox/journal.ts';
import { repairRecording } from '../../src/main/outbox/repair-recording.ts';
import { salvageFolder } from '../../src/main/outbox/salvage.ts';
import { readSpoolFolder } from '../../src/main/outbox/spool-reader.ts';
import { AppError } from '../../src/platform/app-error.ts';
import { readWav, wavHeader } from '../../src/platform/wav.ts';
import { tempFolder } from '../harness/temp-folder.ts';

const CALL = {
  v: 1,
  kind: 'call',
  sessionId: 'session-1',
  botId: 'demo',
  streamId: 'stream-1',
  callerId: 'caller-1',
  fromNumber: '+15550100',
  direction: 'outbound',
  transport: 'websocket',
  webhookUrl: 'https://receiver.example/results',
  recordingUrl: 'https://plane.example/recording/session-1',
  recordingKey: 'session-1.wav',
  maxCallSeconds: 600,
  startedAt: '2026-11-20T10:00:00.000Z',
};
const said = (seq: number, speaker: string, text: string, timestamp: number) => ({
  kind: 'transcript',
  seq,
  entry: { speaker, text, timestamp },
});

function lines(...values: unknown[]): string {
  return values.map((value) => `${JSON.stringify(value)}\n`).join('');
}

async function folderWith(files: Record<string, string | Uint8Array>): Promise<string> {
  const folder = tempFolder();
  for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content);
  return folder;
}

async function resultOf(folder: string): Promise<SpoolResult> {
  return JSON.parse(await readFile(join(folder, 'result.json'), 'utf8')) as SpoolResult;
}

t.test('RT-65 a torn journal and a torn recording become one whole error result', async (t) => {
  const torn = JSON.stringify(said(2, 'customer', 'this line was being wr', 3)).slice(0, -9);
  const audio = new Uint8Array(8000 * 4 * 2 + 3).fill(7);
  const folder = await folderWith({
    'journal.jsonl':
      lines(
        CALL,
        { kind: 'event', event: { event: 'call_started', ts: 0 } },
        said(1, 'customer', 'line two \u2028 goes on', 1.2),
        said(0, 'bot', 'Hello', 0.2),
        said(0, 'bot', 'Hello there', 0.2),
      ) + torn,
    'recording.wav': Buffer.concat([wavHeader({ sampleRate: 8000, channels: 2 }, 0), audio]),
  });
  t.ok(await salvageFolder(folder, 'slot_died'));
  const result = await resultOf(folder);
  t.equal(result.webhookUrl, CALL.webhookUrl);
  t.ok(Check(CallResults, result.payload), 'the receiver accepts it');
  t.strictSame(result.payload, {
    session_id: 'session-1',
    stream_id: 'stream-1',
    caller_id: 'caller-1',
    from_number: '+15550100',
    call_duration_seconds: 2,
    call_direction: 'outbound',
    disconnected_by: 'error',
    transcript: [
      { speaker: 'bot', text: 'Hello there', timestamp: 0.2 },
      { speaker: 'customer', text: 'line two \u2028 goes on', timestamp: 1.2 },
    ],
    recording_url: CALL.recordingUrl,
    recording_key: 'session-1.wav',
    post_call_analysis: {},
    usage_metrics: [],
    events: [
      { event: 'call_started', ts: 0 },
      { event: 'slot_died', ts: 2 },
    ],
    was_transferred: false,
    transfer_destination: null,
    transfer_target: null,
    transfer_reason: null,
    transfer_method: null,
    transfer_at: null,
    transfer_failed_reason: null,
    raw_duration_seconds: 2,
    billable_duration_seconds: 2,
    transport: 'websocket',
    end_detail: {
      salvaged: true,
      cause: 'slot_died',
      reason: 'the slot of the call ended without a result',
      journal_lines_lost: 1,
    },
    bot_id: 'demo',
  });
  const recording = await readFile(join(folder, 'recording.wav'));
  const wav = readWav(recording);
  t.match(wav, { sampleRate: 8000, channels: 2 });
  t.equal(wav.samples.length, 8000 * 2 * 2, 'cut to whole stereo frames');
  t.equal(recording.readUInt32LE(40), 8000 * 4 * 2, 'and the header says so');
  t.equal(recording.readUInt32LE(4), recording.length - 8);
});

t.test('RT-65 the cause that the slot had decided survives its crash', async (t) => {
  const folder = await folderWith({
    'journal.jsonl': lines(CALL, said(0, 'bot', 'Bye', 4), { kind: 'end', disconnectedBy: 'bot', ts: 5.5 }),
  });
  await salvageFolder(folder, 'slot_hung');
  const { payload } = await resultOf(folder);
  t.equal(payload.disconnected_by, 'bot');
  t.equal(payload.call_duration_seconds, 5.5);
  t.match(payload.events, [{ event: 'slot_hung', ts: 5.5 }]);
  t.equal(payload.recording_url, null, 'no recording, no address of one');
  const odd = parseJournal(Buffer.from(lines(CALL, { kind: 'end', disconnectedBy: 'gremlins', ts: 1 })));
  t.equal(odd.end?.disconnectedBy, 'gremlins');
});

t.test('R114 R115 R116 a salvaged result tells of transfers what any other tells', async (t) => {
  const sent = {
    event: 'transfer_sent',
    ts: 4,
    transfer_number: '+15550101',
    transfer_target: 'sales',
    transfer_method: 'websocket_reverse_transfer',
    reason: 'asked for a person',
  };
  const failed = { event: 'transfer_failed', ts: 6, reason: 'busy' };
  const salvaged = async (...events: object[]) => {
    const journal = lines(CALL, ...events.map((event) => ({ kind: 'event', event })));
    const folder = await folderWith({ 'journal.jsonl': journal });
    await salvageFolder(folder, 'slot_died');
    return (await resultOf(folder)).payload;
  };
  t.match(await salvaged(sent), {
    was_transferred: true,
    transfer_destination: '+15550101',
    transfer_target: 'sales',
    transfer_reason: 'asked for a person',
    transfer_method: 'websocket_reverse_transfer',
    transfer_at: 4,
    transfer_failed_reason: null,
  });
  t.match(await salvaged(sent, failed), { was_transferred: false, transfer_failed_reason: 'busy' });
});

t.test('R171 RT-31 a salvaged call is as long, and as dear, as it was', async (t) => {
  const salvaged = async (...journal: object[]) => {
    const folder = await folderWith({ 'journal.jsonl': lines(...journal) });
    await salvageFolder(folder, 'slot_died');
    return (await resultOf(folder)).payload;
  };
  const last = { kind: 'event', event: { event: 'dtmf', ts: 31.2 } };
  const billed = { ...CALL, billingStepSeconds: 30 };
  t.match(await salvaged(billed, last), { raw_duration_seconds: 31.2, billable_duration_seconds: 60 });
  const room = { ...billed, transport: 'rtc_sip', roomName: 'call-1' };
  t.match(await salvaged(room, { kind: 'answered', ringSeconds: 7.4, answeredBefore: 0 }, last), {
    call_duration_seconds: 31.2,
    raw_duration_seconds: 38.6,
    billable_duration_seconds: 60,
  });
  t.match(await salvaged(room, { kind: 'answered', ringSeconds: 1, answeredBefore: 40 }, last), {
    raw_duration_seconds: 71.2,
    billable_duration_seconds: 90,
  });
  t.match(await salvaged(room), { raw_duration_seconds: 0, billable_duration_seconds: 0 }, 'it only rang');
  const hungUp = { event: 'disconnected', ts: 30, raw_duration_seconds: 33, billable_duration_seconds: 30 };
  t.match(
    await salvaged(room, { kind: 'event', event: hungUp }, last),
    { call_duration_seconds: 30, raw_duration_seconds: 33, billable_duration_seconds: 30 },
    'it died after its hang-up',
  );
});

t.test('RT-25 RT-84 a slot that dies in spite of an order: who gave it has ended the call', async (t) => {
  const salvaged = async (order: unknown, ...journal: object[]) => {
    const folder = await folderWith({
      'journal.jsonl': lines(CALL, ...journal),
      'hangup.json': JSON.stringify(order),
    });
    await salvageFolder(folder, 'slot_hung');
    return (await resultOf(folder)).payload;
  };
  t.match(await salvaged({ cause: 'operator', reason: 'the wrong list' }), {
    disconnected_by: 'bot',
    end_detail: { cause: 'operator', reason: 'the wrong list', salvaged: true },
    events: [{ event: 'slot_hung' }],
  });
  t.match(await salvaged({ cause: 'max_duration', reason: '' }), {
    disconnected_by: 'timeout',
    end_detail: { cause: 'max_duration' },
  });
  const verdict = { kind: 'end', disconnectedBy: 'customer', cause: 'stop', reason: 'bored', ts: 3 };
  t.match(
    await salvaged({ cause: 'operator', reason: '' }, verdict),
    { disconnected_by: 'customer', end_detail: { cause: 'stop', reason: 'bored' } },
    'a verdict that was reached before stands',
  );
  for (const odd of [{ cause: 'constructor' }, null, 'operator']) {
    t.match(await salvaged(odd), { disconnected_by: 'error', end_detail: { cause: 'slot_hung' } });
  }
});

t.test(
  'RT-66 of what the bot was saying, the last that the journal knows is in the transcript',
  async (t) => {
    const spoken = (text: string) => ({
      kind: 'transcript',
      seq: 1,
      entry: { speaker: 'bot', text, timestamp: 0.3, heard: 'estimate', generated: 'Hello and welcome' },
    });
    const folder = await folderWith({
      'journal.jsonl': lines(CALL, spoken('Hello'), spoken('Hello and'), said(2, 'bot', '', 1)),
    });
    await salvageFolder(folder, 'slot_died');
    t.strictSame((await resultOf(folder)).payload.transcript, [spoken('Hello and').entry]);
  },
);

t.test('RT-65 an unknown verdict in a journal is delivered as error, not as itself', async (t) => {
  const folder = await folderWith({
    'journal.jsonl': lines(CALL, { kind: 'end', disconnectedBy: 'gremlins', ts: 1 }),
  });
  await salvageFolder(folder, 'slot_died');
  t.equal((await resultOf(folder)).payload.disconnected_by, 'error');
});

t.test('without a call line there was no session, and nobody is owed a result', async (t) => {
  for (const journal of [
    '',
    '{"kind":"ca',
    lines({ kind: 'event', event: { event: 'call_started', ts: 0 } }),
  ]) {
    t.notOk(await salvageFolder(await folderWith({ 'journal.jsonl': journal }), 'slot_died'));
  }
  t.notOk(await salvageFolder(await folderWith({}), 'slot_died'), 'nor without a journal');
});

t.test('every prefix of a journal can be salvaged, wherever the write was cut', async (t) => {
  const whole = Buffer.from(
    lines(CALL, said(0, 'bot', 'Héllo — ünïcode', 0.5), { kind: 'event', event: { event: 'dtmf', ts: 1 } }),
  );
  const callEnds = whole.indexOf(0x0a);
  let faults = 0;
  for (let length = 0; length <= whole.length; length++) {
    const journal = parseJournal(whole.subarray(0, length));
    if ((journal.call !== null) !== length >= callEnds) faults += 1;
    if (journal.unreadable > 1) faults += 1;
  }
  t.equal(faults, 0);
});

t.test(
  'RT-65 recordings of every torn length are repaired, and repairing twice changes nothing',
  async (t) => {
    const header = wavHeader({ sampleRate: 8000, channels: 2 }, 0);
    for (const [length, seconds] of [
      [0, null],
      [20, null],
      [44, null],
      [47, null],
      [48, 1 / 8000],
      [44 + 32_001, 1],
    ] as const) {
      const bytes = Buffer.concat([header, Buffer.alloc(40_000, 1)]).subarray(0, length);
      const path = join(await folderWith({ 'recording.wav': bytes }), 'recording.wav');
      t.equal(await repairRecording(path), seconds, `${length} bytes`);
      const once = await readFile(path);
      t.equal(await repairRecording(path), seconds);
      t.ok(once.equals(await readFile(path)));
    }
    t.equal(await repairRecording(join(tempFolder(), 'none.wav')), null);
  },
);

t.test('a spool of another version is refused with a sentence and left as it is', async (t) => {
  const journal = await folderWith({ 'journal.jsonl': lines({ ...CALL, v: 99 }) });
  const result = await folderWith({ 'result.json': JSON.stringify({ v: 99, webhookUrl: 'x', payload: {} }) });
  for (const folder of [journal, result]) {
    const before = await readdir(folder);
    const error = await readSpoolFolder(folder, 'slot_died').catch((thrown: unknown) => thrown);
    t.ok(error instanceof AppError && error.code === 'unknown_version');
    t.match((error as Error).message, /99/);
    t.strictSame(await readdir(folder), before);
  }
});

t.test('a large call is salvaged in a worker thread with the same outcome', async (t) => {
  const many = Array.from({ length: 4_000 }, (_, seq) =>
    said(seq, 'customer', `word ${seq} ${'x'.repeat(80)}`, seq),
  );
  const large = await folderWith({ 'journal.jsonl': lines(CALL, ...many) });
  const copy = join(tempFolder(), 'copy');
  await mkdir(copy);
  await cp(large, copy, { recursive: true });
  const reading = await readSpoolFolder(large, 'slot_died');
  t.ok(reading?.salvaged);
  await salvageFolder(copy, 'slot_died');
  t.equal(reading?.body, JSON.stringify((await resultOf(copy)).payload));
  const foreign = await folderWith({ 'journal.jsonl': lines({ ...CALL, v: 99 }, ...many) });
  const error = await readSpoolFolder(foreign, 'slot_died').catch((thrown: unknown) => thrown);
  t.ok(error instanceof AppError && error.code === 'unknown_version', 'a refusal crosses the thread');
});

t.test(
  'R104 a slot that dies while it records a caller and their agent has handed the call over',
  async (t) => {
    const agent = (event: string, ts: number) => ({
      kind: 'event',
      event: { event, ts, identity: 'agent-1' },
    });
    const inRoom = { ...CALL, transport: 'rtc_sip', roomName: 'call-1' };
    for (const [journal, disconnectedBy] of [
      [lines(inRoom, agent('agent_joined', 2)), 'transfer_to_agent'],
      [lines(inRoom, agent('agent_joined', 2), agent('agent_left', 3)), 'error'],
      [lines(CALL, agent('agent_joined', 2)), 'error'],
    ] as const) {
      const folder = await folderWith({ 'journal.jsonl': journal });
      t.equal(await salvageFolder(folder, 'slot_died'), true);
      t.match((await resultOf(folder)).payload, { disconnected_by: disconnectedBy });
    }
  },
);
