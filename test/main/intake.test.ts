import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import type { OutboxRow } from '../../src/main/outbox/results-outbox.ts';
import { SpoolIntake, takeFolder } from '../../src/main/outbox/spool-intake.ts';
import { recordingPath } from '../../src/main/outbox/store-recording.ts';
import { openKeyValueStore } from '../../src/platform/key-value-store.ts';
import { readWav, wavHeader } from '../../src/platform/wav.ts';
import { tempFolder } from '../harness/temp-folder.ts';
import { fixture, idleOutbox, quietLogger } from '../harness/worker.ts';

const CALL_ID = 'call-1';
const KEY = '2026/11/session-1.wav';
/** More disk steps than an intake has; the loop ends when a child comes through alive. */
const MAX_STEPS = 40;

const recording = (frames: number, named: number) =>
  Buffer.concat([wavHeader({ sampleRate: 8000, channels: 2 }, named * 4), Buffer.alloc(frames * 4, 1)]);

/** A data folder with one call in its spool: finished by its slot, or left behind in mid-call. */
async function dataFolder(how: 'finished' | 'orphaned', key = KEY): Promise<string> {
  const dataDir = tempFolder();
  const folder = join(dataDir, 'spool', CALL_ID);
  await mkdir(join(dataDir, 'recordings'), { recursive: true });
  await mkdir(folder, { recursive: true });
  const call = {
    v: 1,
    kind: 'call',
    sessionId: 'session-1',
    webhookUrl: 'http://127.0.0.1:1/results',
    recordingUrl: null,
    recordingKey: key,
  };
  await writeFile(join(folder, 'owner.json'), '{"v":1}');
  await writeFile(join(folder, 'journal.jsonl'), `${JSON.stringify(call)}\n{"kind":"transcr`);
  await writeFile(join(folder, 'recording.wav'), recording(100, how === 'finished' ? 100 : 0));
  if (how === 'finished') {
    const payload = { session_id: 'session-1', recording_key: key };
    await writeFile(
      join(folder, 'result.json'),
      JSON.stringify({ v: 1, webhookUrl: call.webhookUrl, payload }),
    );
  }
  return dataDir;
}

async function takeIn(dataDir: string): Promise<{ row: OutboxRow | null; rows: OutboxRow[]; body: unknown }> {
  const store = openKeyValueStore(join(dataDir, 'store'));
  const outbox = idleOutbox(store);
  const row = await takeFolder(CALL_ID, 'slot_died', {
    spoolFolder: join(dataDir, 'spool'),
    recordingsFolder: join(dataDir, 'recordings'),
    outbox,
    logger: quietLogger(),
  });
  const rows: OutboxRow[] = [];
  for await (const each of outbox.queue.all()) rows.push(each);
  const body: unknown = JSON.parse(store.table<string>('results-outbox-bodies').get(CALL_ID) ?? 'null');
  await store.close();
  return { row, rows, body };
}

// Real processes on a machine that may be busy with other things.
t.setTimeout(280_000);

for (const how of ['finished', 'orphaned'] as const) {
  t.test(
    `R3 RT-75 an intake of a call that was ${how}, killed at any step, leaves one result after the next`,
    async (t) => {
      let survivedAt = 0;
      for (let step = 1; step <= MAX_STEPS && survivedAt === 0; step++) {
        const dataDir = await dataFolder(how);
        const child = spawnSync(
          process.execPath,
          [fixture('intake-victim'), dataDir, CALL_ID, String(step)],
          {
            encoding: 'utf8',
          },
        );
        if (child.status === 0) survivedAt = step;
        else if (child.signal !== 'SIGKILL') throw new Error(`the child failed by itself: ${child.stderr}`);
        const { rows, body } = await takeIn(dataDir);
        const kept = readWav(await readFile(join(dataDir, 'recordings', KEY)));
        const whole =
          rows.length === 1 &&
          rows[0]?.callId === CALL_ID &&
          (body as { session_id?: string }).session_id === 'session-1' &&
          (body as { recording_key?: string }).recording_key === KEY &&
          kept.samples.length === 200 &&
          readdirSync(join(dataDir, 'spool')).length === 0;
        if (!whole) t.fail(`killed before step ${step}`, { rows, body });
      }
      t.ok(survivedAt > 8, `killed before each of ${survivedAt - 1} steps`);
    },
  );
}

t.test('R173 a folder that is taken in twice makes one result', async (t) => {
  const dataDir = await dataFolder('finished');
  const first = await takeIn(dataDir);
  t.equal(first.rows.length, 1);
  const again = await takeIn(dataDir);
  t.equal(again.row, null, 'nothing is left to take');
  t.strictSame(again.rows, first.rows);
});

t.test('a recording key that leads out of the folder costs the recording, not the result', async (t) => {
  const dataDir = await dataFolder('finished', '../../escaped.wav');
  const { rows } = await takeIn(dataDir);
  t.equal(rows.length, 1);
  t.notOk(existsSync(join(dataDir, '..', 'escaped.wav')));
  for (const key of ['../x', '/etc/x', 'a/../../x', '', 'a\0b', 'a\\b']) {
    t.throws(() => recordingPath('/data/recordings', key), { code: 'validation_error' });
  }
  t.equal(recordingPath('/data/recordings', 'a/b.wav'), '/data/recordings/a/b.wav');
});

t.test('a folder of another version stays, is counted, and does not hold up the others', async (t) => {
  const dataDir = await dataFolder('finished');
  const foreign = join(dataDir, 'spool', 'foreign');
  await mkdir(foreign);
  await writeFile(join(foreign, 'result.json'), '{"v":7,"webhookUrl":"x","payload":{}}');
  const store = openKeyValueStore(join(dataDir, 'store'));
  const taken: string[] = [];
  const intake = new SpoolIntake({
    spoolFolder: join(dataDir, 'spool'),
    recordingsFolder: join(dataDir, 'recordings'),
    outbox: idleOutbox(store),
    onTaken: (row) => taken.push(row.callId),
    logger: quietLogger(),
  });
  intake.take('foreign', 'slot_died');
  intake.take(CALL_ID, 'slot_died');
  intake.take(CALL_ID, 'slot_died');
  await intake.settled();
  t.equal(intake.foreignFolders, 1);
  t.strictSame(taken, [CALL_ID]);
  t.strictSame(readdirSync(join(dataDir, 'spool')), ['foreign']);
  await store.close();
});

t.test('an intake that the store refuses is tried again and loses nothing', async (t) => {
  const dataDir = await dataFolder('finished');
  const store = openKeyValueStore(join(dataDir, 'store'));
  const outbox = idleOutbox(store);
  const taken: string[] = [];
  const options = {
    spoolFolder: join(dataDir, 'spool'),
    recordingsFolder: join(dataDir, 'recordings'),
    onTaken: (row: OutboxRow) => taken.push(row.callId),
    logger: quietLogger(),
  };
  await store.close();
  const failing = new SpoolIntake({ ...options, outbox });
  failing.take(CALL_ID, 'slot_died');
  await failing.settled();
  t.equal(failing.failedFolders, 1);
  t.strictSame(taken, []);
  const reopened = openKeyValueStore(join(dataDir, 'store'));
  const intake = new SpoolIntake({ ...options, outbox: idleOutbox(reopened) });
  intake.take(CALL_ID, 'slot_died');
  await intake.settled();
  t.strictSame(taken, [CALL_ID]);
  t.ok(existsSync(join(dataDir, 'recordings', KEY)));
  await reopened.close();
});
