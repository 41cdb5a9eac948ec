import { spawn } from 'node:child_process';
import { chmodSync, readFileSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import t from 'tap';
import { createAuditLog } from '../../../src/control/audit/audit-log.ts';
import { finishRotation, rotateKey } from '../../../src/control/settings/rotate-key.ts';
import { openSecretBox, sealedWith } from '../../../src/control/settings/secret-box.ts';
import { createSettingsStore } from '../../../src/control/settings/settings-store.ts';
import { AppError } from '../../../src/platform/app-error.ts';
import { isoNow } from '../../../src/platform/clock.ts';
import { type KeyValueStore, openKeyValueStore } from '../../../src/platform/key-value-store.ts';
import { tempFolder } from '../../harness/temp-folder.ts';
import { settingsStoreConformance } from './settings-store-conformance.ts';

const root = tempFolder();
const opened: KeyValueStore[] = [];
const fresh = () => {
  const folder = join(root, String(opened.length));
  const store = openKeyValueStore(join(folder, 'store'));
  opened.push(store);
  return {
    folder,
    store,
    file: join(folder, 'secrets.key'),
    open: () => openSecretBox(folder, store, isoNow),
  };
};
t.teardown(async () => {
  for (const store of opened) await store.close();
});

async function refusal(open: () => Promise<unknown>): Promise<AppError> {
  try {
    await open();
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
  throw new Error('it was opened');
}

t.test('the LMDB settings store keeps the promises of a settings store', (t) =>
  settingsStoreConformance(t, () => {
    const { store } = fresh();
    const audit = createAuditLog(store, isoNow);
    return {
      settings: createSettingsStore(store, audit),
      audited: async () => (await audit.list({ limit: 10 })).items.length,
    };
  }),
);

t.test('what was sealed opens again, also after a restart, and no two sealed texts are alike', async (t) => {
  const { open } = fresh();
  const box = await open();
  const again = await open();
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), (text) => {
      const sealed = box.seal(text);
      return again.open(sealed) === text && box.seal(text) !== sealed && sealedWith(sealed) !== null;
    }),
    { numRuns: 100, seed: 3 },
  );
  t.pass('100 texts of every script');
});

t.test('a sealed text that was changed in any place does not open', async (t) => {
  const box = await fresh().open();
  const sealed = box.seal('a key of some provider');
  const start = sealed.lastIndexOf('.') + 1;
  for (let at = start; at < sealed.length - 1; at++) {
    const other = sealed[at] === 'A' ? 'B' : 'A';
    const changed = `${sealed.slice(0, at)}${other}${sealed.slice(at + 1)}`;
    t.throws(() => box.open(changed), { code: 'internal' }, `place ${at}`);
  }
  t.throws(() => box.open('plain text'), { code: 'internal' });
  t.throws(() => box.open(sealed.replace(/s1\.k.{8}/, 's1.k00000000')), { code: 'internal' });
});

t.test('the key file is made for its owner alone', async (t) => {
  const { file, open } = fresh();
  await open();
  t.equal(statSync(file).mode & 0o777, 0o600);
});

t.test('a key file that others may use stops the start with a sentence that says what to run', async (t) => {
  const { file, open } = fresh();
  await open();
  for (const mode of [0o644, 0o640, 0o606, 0o700, 0o660]) {
    chmodSync(file, mode);
    const error = await refusal(open);
    t.equal(error.code, 'bad_setting');
    t.match(error.message, /secrets\.key has mode 0\d{3}, so others may use it; run "chmod 600" on it/);
  }
  for (const mode of [0o600, 0o400]) {
    chmodSync(file, mode);
    t.ok(await open(), `mode ${mode.toString(8)} is fine`);
  }
});

t.test('a key file that is missing, foreign, damaged or a link stops the start', async (t) => {
  const { file, open, folder } = fresh();
  await open();
  const content = readFileSync(file, 'utf8');
  rmSync(file);
  t.match((await refusal(open)).message, /is missing, and secrets in the store were sealed with it; restore/);
  const other = fresh();
  await other.open();
  writeFileSync(file, readFileSync(other.file), { mode: 0o600 });
  t.match((await refusal(open)).message, /is not the one that sealed the secrets in the store/);
  for (const damaged of [
    '',
    '{}',
    '{"v":1,"keys":[]}',
    '{"v":1,"keys":[{"id":"k1","key":"AA=="}]}',
    'null',
  ]) {
    writeFileSync(file, damaged, { mode: 0o600 });
    t.match((await refusal(open)).message, /is damaged|another version/, damaged);
  }
  const elsewhere = join(folder, 'elsewhere');
  writeFileSync(elsewhere, content, { mode: 0o600 });
  rmSync(file);
  symlinkSync(elsewhere, file);
  t.match((await refusal(open)).message, /it is a link/);
  rmSync(file);
  renameSync(elsewhere, file);
  t.ok(await open(), 'with its own file it starts again');
});

t.test('a new key takes over every sealed text, wherever it stands in a row', async (t) => {
  const { store, open } = fresh();
  const box = await open();
  const [oldKey] = box.keyIds();
  const table = store.table<unknown>('webhook-endpoints');
  for (let row = 0; row < 250; row++) {
    const secrets = [{ sealed: box.seal(`first ${row}`) }, { sealed: box.seal(`second ${row}`) }];
    await table.put(`whk_${String(row).padStart(4, '0')}`, { secrets, url: 'https://example.org' });
  }
  await table.put('odd', { looks: `s1.k00000000.${'A'.repeat(60)}`, none: null, count: 3 });
  const { key_id: newKey, resealed } = await rotateKey(box, store);
  t.equal(resealed, 501, 'the texts, and the one by which store and file know each other');
  t.not(newKey, oldKey);
  for (const { key, value } of table.range({ limit: 1_000 })) {
    if (key === 'odd') {
      t.match(value, { looks: /^s1\.k00000000\./, none: null, count: 3 });
      continue;
    }
    const row = Number(String(key).slice(4));
    const { secrets } = value as { secrets: { sealed: string }[] };
    if (secrets.some(({ sealed }) => sealedWith(sealed) !== newKey)) t.fail(`row ${row} has the old key`);
    if (box.open(secrets[1]?.sealed ?? '') !== `second ${row}`) t.fail(`row ${row} does not open`);
  }
});

t.test('a rotation that was cut short at any point loses nothing, and the next start ends it', async (t) => {
  const { store, open } = fresh();
  const box = await open();
  const table = store.table<{ sealed: string }>('crm-secrets');
  await table.put(['bot', 'token'], { sealed: box.seal('kept') });
  const held = table.get(['bot', 'token']) as { sealed: string };

  // Cut off after the new key was written: nothing is sealed with it yet.
  await box.addKey();
  const second = await open();
  t.equal(second.keyIds().length, 2);
  t.equal(second.open(held.sealed), 'kept');
  t.equal(await finishRotation(second, store), true);
  t.equal(second.keyIds().length, 1);

  // A part of the plane held the old text and writes it back after the rotation.
  const before = table.get(['bot', 'token']) as { sealed: string };
  await rotateKey(second, store);
  await table.put(['bot', 'token'], before);
  const third = await open();
  t.equal(await finishRotation(third, store), true);
  const fourth = await open();
  t.equal(fourth.keyIds().length, 1);
  t.equal(fourth.open(table.get(['bot', 'token'])?.sealed ?? ''), 'kept');
  t.equal(await finishRotation(fourth, store), false, 'nothing is left to end');
});

t.test('rotations without a start in between end at a bound', async (t) => {
  const { store, open } = fresh();
  const box = await open();
  for (let turn = 1; turn < 8; turn++) await rotateKey(box, store);
  await t.rejects(rotateKey(box, store), { code: 'conflict' });
  t.equal((await open()).keyIds().length, 8);
});

t.test(
  'the appliance itself does not start on a key file that others can read, with exit code 78',
  async (t) => {
    const folder = tempFolder();
    const env = { ROLE: 'control', CONTROL_LISTEN: '127.0.0.1:0', DATA_DIR: folder, LOG_LEVEL: 'silent' };
    const first = startMain(env);
    await first.said;
    first.child.kill('SIGTERM');
    t.equal(await first.exit, 0);
    chmodSync(join(folder, 'secrets.key'), 0o644);
    const second = startMain(env);
    t.equal(await second.exit, 78);
    t.match(second.errors(), /^trunkline: DATA_DIR: the key file .* has mode 0644.*chmod 600.*\n$/);
  },
);

/** The real main process. */
function startMain(env: Record<string, string>) {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  const entry = fileURLToPath(new URL(`../../main/fixtures/main-under-test.${extension}`, import.meta.url));
  const child = spawn(process.execPath, [entry], { env: { ...process.env, ...env } });
  let errors = '';
  child.stderr.on('data', (part) => {
    errors += part;
  });
  return {
    child,
    said: new Promise((resolve) => child.stdout.once('data', resolve)),
    exit: new Promise((resolve) => child.once('exit', resolve)),
    errors: () => errors,
  };
}
