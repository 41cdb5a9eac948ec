import { spawn } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { userCommand } from '../../../src/cli/user.ts';
import { auditTables } from '../../../src/control/audit/verify-chain.ts';
import { openKeyValueStore } from '../../../src/platform/key-value-store.ts';
import { firstAdmin, loggedIn, PASSWORD, runAccounts } from '../../harness/accounts-harness.ts';
import { tempFolder } from '../../harness/temp-folder.ts';

const own = import.meta.url.endsWith('.ts') ? '.ts' : '.js';
const entry = fileURLToPath(new URL(`./fixtures/operator-command${own}`, import.meta.url));

async function run(dataDir: string, args: string[], input = '') {
  const child = spawn(process.execPath, [entry, ...args], {
    env: { ...process.env, DATA_DIR: dataDir, BASE_URL: 'https://calls.example.org' },
  });
  child.stdin.end(input);
  const [out, err, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise<number | null>((resolve) => child.once('exit', resolve)),
  ]);
  return { out, err, code };
}

t.test('without a running plane users are managed on the store itself', async (t) => {
  const dataDir = tempFolder();
  const nothing = await run(dataDir, ['user', 'list']);
  t.equal(nothing.code, 1);
  t.match(nothing.err, /there is no store/);
  await openKeyValueStore(join(dataDir, 'store')).close();
  t.match(await run(dataDir, ['user', 'list']), { code: 0, out: /no users yet/ });

  const create = ['user', 'create', '--email', 'Asha@example.org', '--name', 'Asha', '--role'];
  const made = await run(dataDir, [...create, 'admin', '--password-stdin'], `${PASSWORD}\n`);
  t.match(made, { code: 0, out: 'created asha@example.org\n', err: '' });
  const twice = await run(dataDir, [...create, 'agent']);
  t.match(twice, { code: 1, err: /belongs to another user/ });
  t.match(await run(dataDir, [...create, 'owner']), { code: 1, err: /no role/ });
  const invited = await run(dataDir, [
    'user',
    'create',
    '--email',
    'ravi@example.org',
    '--name',
    'Ravi',
    '--role',
    'agent',
  ]);
  t.match(invited.out, /https:\/\/calls\.example\.org\/choose-password#token=tko_[\w-]{43}\n/);
  t.match(await run(dataDir, ['user', 'disable', 'RAVI@example.org']), { code: 0, out: /is disabled/ });
  t.match(await run(dataDir, ['user', 'disable', 'asha@example.org']), { code: 1, err: /last active admin/ });
  t.match(await run(dataDir, ['user', 'reset', 'asha@example.org']), { code: 0, out: /token=tko_/ });
  t.match(await run(dataDir, ['user', 'reset', 'x@example.org']), { code: 1, err: /there is no user/ });
  const listed = await run(dataDir, ['user', 'list', '--json']);
  t.match(JSON.parse(listed.out), [
    { email: 'asha@example.org', role: 'admin', state: 'reset' },
    { email: 'ravi@example.org', role: 'agent', state: 'disabled' },
  ]);
  for (const args of [[], ['list', 'x'], ['create'], ['reset'], ['fly', 'x'], ['list', '--what']]) {
    t.equal(await userCommand(args), 2, args.join(' '));
  }
});

t.test('the audit log is proved from the command line, and a change in it is found', async (t) => {
  const dataDir = tempFolder();
  await openKeyValueStore(join(dataDir, 'store')).close();
  for (const name of ['a', 'b', 'c']) {
    const email = `${name}@example.org`;
    await run(dataDir, ['user', 'create', '--email', email, '--name', name, '--role', 'agent']);
  }
  const proof = await run(dataDir, ['audit', 'verify']);
  t.match(proof, { code: 0, out: /3 entries were read; the chain holds/ });
  const anchor = /anchor (\d+:[0-9a-f]{64})/.exec(proof.out)?.[1] ?? '';
  t.equal((await run(dataDir, ['audit', 'verify', '--anchor', anchor])).code, 0);
  const other = `3:${'a'.repeat(64)}`;
  t.match(await run(dataDir, ['audit', 'verify', '--anchor', other]), { code: 1, out: /not the one/ });
  t.equal((await run(dataDir, ['audit', 'verify', '--anchor', 'x'])).code, 2);
  t.equal((await run(dataDir, ['audit'])).code, 2);

  const store = openKeyValueStore(join(dataDir, 'store'));
  const { entries } = auditTables(store);
  const second = entries.get(2);
  if (second) await entries.put(2, { ...second, action: 'nothing' });
  await store.close();
  t.match(await run(dataDir, ['audit', 'verify']), { code: 1, out: /PROBLEM: entry 2 was changed/ });
});

t.test('while a plane runs the command line goes through it', async (t) => {
  const plane = await runAccounts();
  t.teardown(() => plane.stop());
  await firstAdmin(plane);
  t.equal(
    statSync(join(plane.dataDir, 'operator.json')).mode & 0o777,
    0o600,
    'the file is for its user only',
  );
  const create = ['user', 'create', '--email', 'ravi@example.org', '--name', 'Ravi', '--role', 'agent'];
  const made = await run(plane.dataDir, [...create, '--password-stdin'], PASSWORD);
  t.match(made, { code: 0, out: 'created ravi@example.org\n', err: '' });
  const as = await loggedIn(plane, 'ravi@example.org');
  t.match(await run(plane.dataDir, ['user', 'list']), { code: 0, out: /ravi@example\.org +agent +active/ });
  t.match(await run(plane.dataDir, ['user', 'disable', 'ravi@example.org']), { code: 0 });
  t.equal((await plane.call('GET', '/api/v1/auth/me', { as })).status, 401);
  t.match(await run(plane.dataDir, ['user', 'disable', 'asha@example.org']), {
    code: 1,
    err: /last active admin/,
  });
  t.match(await run(plane.dataDir, ['user', 'reset', 'asha@example.org']), { code: 0, out: /token=tko_/ });
  t.match(await run(plane.dataDir, ['audit', 'verify']), { code: 0, out: /the chain holds/ });
  const { items } = await plane.audit.list({ actorId: 'operator', limit: 9 });
  t.same(
    items.map(({ action }) => action),
    ['user.reset', 'user.update', 'user.create'],
    'and the log says who it was',
  );
});
