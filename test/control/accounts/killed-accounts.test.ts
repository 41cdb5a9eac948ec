import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { createUserStore } from '../../../src/control/accounts/user-store.ts';
import { createApiKeyStore } from '../../../src/control/api-keys/api-key-store.ts';
import { createAuditLog } from '../../../src/control/audit/audit-log.ts';
import { isoNow } from '../../../src/platform/clock.ts';
import { openKeyValueStore } from '../../../src/platform/key-value-store.ts';
import { hashSecret } from '../../../src/platform/secret-token.ts';
import { tempFolder } from '../../harness/temp-folder.ts';

t.setTimeout(280_000);

const CALLERS = 4;
/** Kill times, one for each round, in ms after the first request; fixed, so that every run kills alike. */
const KILL_AFTER_MS = [60, 100, 140, 190, 240, 300];
/** A busy machine answers little in one round: there are more of them, and longer ones, until so many of each were answered. */
const ENOUGH = 20;
const MAX_ROUNDS = 40;
const killAfterMs = (round: number) =>
  (KILL_AFTER_MS[round % KILL_AFTER_MS.length] ?? 0) * (1 + Math.floor(round / KILL_AFTER_MS.length));

const own = import.meta.url.endsWith('.ts') ? '.ts' : '.js';
const entry = fileURLToPath(new URL(`../fixtures/control-process${own}`, import.meta.url));

t.test('users and keys that were answered with 201 survive SIGKILL, with their audit entries', async (t) => {
  const folder = tempFolder();
  const users = new Set<string>();
  const keys = new Set<string>();
  const isEnough = () => users.size > ENOUGH && keys.size > ENOUGH;
  let rounds = 0;
  for (; rounds < KILL_AFTER_MS.length || (!isEnough() && rounds < MAX_ROUNDS); rounds++) {
    const { child, port } = await start(folder);
    const { token } = JSON.parse(readFileSync(join(folder, 'data', 'operator.json'), 'utf8'));
    const callers = Array.from({ length: CALLERS }, (_, caller) =>
      create(`http://127.0.0.1:${port}/api/v1`, token, `r${rounds}c${caller}`, users, keys),
    );
    await new Promise((resolve) => setTimeout(resolve, killAfterMs(rounds)));
    const gone = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await gone;
    await Promise.all(callers);
  }

  const store = openKeyValueStore(join(folder, 'store'));
  const audit = createAuditLog(store, isoNow);
  const userStore = createUserStore(store, audit);
  const keyStore = createApiKeyStore(store, audit);
  let missing = 0;
  let silent = 0;
  const told = async (target: string) => (await audit.list({ target, limit: 9 })).items.length;
  for (const id of users) {
    const user = await userStore.get(id);
    if (user === null || (await userStore.byEmail(user.email))?.id !== id) missing++;
    if ((await told(`user:${id}`)) !== 1) silent++;
  }
  for (const secret of keys) {
    const key = await keyStore.byHash(hashSecret(secret));
    if (key === null) missing++;
    else if ((await told(`api_key:${key.id}`)) !== 1) silent++;
  }
  const all = await userStore.list({ limit: 100_000 });
  let untold = 0;
  for (const user of all) if ((await told(`user:${user.id}`)) !== 1) untold++;
  const proof = await audit.verify();
  await store.close();
  t.comment(
    `${rounds} kills, ${users.size} users and ${keys.size} keys answered, ${proof.checked} audit entries`,
  );
  t.ok(isEnough(), 'the rounds did real work');
  t.equal(missing, 0, 'nothing that was answered is missing');
  t.equal(silent, 0, 'and each of them is in the log');
  t.equal(untold, 0, 'nobody is in the store without an entry');
  t.match(proof, { ok: true, problems: [] });
});

/** A user, a key, a user, a key … until the connection breaks. */
async function create(
  api: string,
  token: string,
  name: string,
  users: Set<string>,
  keys: Set<string>,
): Promise<void> {
  const post = async (path: string, body: unknown) => {
    const answer = await fetch(`${api}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (answer.status !== 201) throw new Error(await answer.text());
    return (await answer.json()) as { user: { id: string }; key: string };
  };
  try {
    for (let i = 0; ; i++) {
      const email = `${name}n${i}@example.org`;
      users.add((await post('/users', { email, name, role: 'agent' })).user.id);
      keys.add((await post('/api-keys', { name, scopes: ['records:read'] })).key);
    }
  } catch {
    // The plane was killed, which is what this round is about.
  }
}

function start(folder: string): Promise<{ child: ChildProcess; port: number }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [entry, folder], { stdio: ['ignore', 'pipe', 'inherit'] });
    child.stdout.once('data', (data) => resolve({ child, port: Number(String(data)) }));
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`the control plane ended at its start with code ${code}`)));
  });
}
