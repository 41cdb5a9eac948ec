import { generateSync, verifySync } from 'otplib';
import t, { type Test } from 'tap';
import { acceptedStep, newTotpSecret, totpCode, totpUri } from '../../../src/control/accounts/totp.ts';
import { rotateKey } from '../../../src/control/settings/rotate-key.ts';
import {
  type Client,
  cookieOf,
  firstAdmin,
  loggedIn,
  PASSWORD,
  type RunningAccounts,
  runAccounts,
} from '../../harness/accounts-harness.ts';

/** "12345678901234567890" in base32: the secret of the vectors in RFC 6238, appendix B. */
const RFC_SECRET = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';

t.test('codes are those of RFC 6238', async (t) => {
  // The vectors have eight digits; six are their end.
  for (const [second, code] of [
    [59, '94287082'],
    [1111111109, '07081804'],
    [1111111111, '14050471'],
    [1234567890, '89005924'],
    [2000000000, '69279037'],
    [20000000000, '65353130'],
  ] as const) {
    t.equal(totpCode(RFC_SECRET, Math.floor(second / 30)), code.slice(2));
  }
});

t.test('another implementation of TOTP makes and takes the same codes', async (t) => {
  for (let round = 0; round < 200; round++) {
    const secret = newTotpSecret();
    const epoch = 1_000_000_000 + round * 7_777_777;
    const code = totpCode(secret, Math.floor(epoch / 30));
    t.equal(generateSync({ secret, epoch }), code);
    t.equal(verifySync({ secret, token: code, epoch }).valid, true);
    t.equal(acceptedStep(secret, generateSync({ secret, epoch }), epoch * 1000, 0), Math.floor(epoch / 30));
  }
});

t.test('a code is right one step early or late, never twice, and never an older one after it', async (t) => {
  const nowMs = 1_700_000_000_000;
  const step = Math.floor(nowMs / 30_000);
  const code = (offset: number) => totpCode(RFC_SECRET, step + offset);
  for (const offset of [-1, 0, 1]) {
    t.equal(acceptedStep(RFC_SECRET, code(offset), nowMs, 0), step + offset);
  }
  for (const offset of [-2, 2]) t.equal(acceptedStep(RFC_SECRET, code(offset), nowMs, 0), null);
  t.equal(acceptedStep(RFC_SECRET, code(0), nowMs, step), null, 'a replay');
  t.equal(acceptedStep(RFC_SECRET, code(-1), nowMs, step), null, 'an older one');
  t.equal(acceptedStep(RFC_SECRET, code(1), nowMs, step), step + 1);
  t.equal(acceptedStep(RFC_SECRET, '', nowMs, 0), null);
});

t.test('the secret travels to the app as an otpauth link', async (t) => {
  const uri = new URL(totpUri(RFC_SECRET, 'asha@example.org', 'Trunkline'));
  t.equal(uri.pathname, '/Trunkline:asha%40example.org');
  t.equal(uri.searchParams.get('secret'), RFC_SECRET);
  t.equal(uri.searchParams.get('issuer'), 'Trunkline');
});

async function enrolled(t: Test): Promise<{
  run: RunningAccounts;
  admin: Client;
  secret: string;
  recovery: string[];
  code: () => string;
}> {
  const run = await runAccounts();
  t.teardown(() => run.stop());
  const admin = await firstAdmin(run);
  const enrol = await run.call('POST', '/api/v1/auth/totp/enrol', {
    as: admin,
    body: { password: PASSWORD },
  });
  t.equal(enrol.status, 200);
  const secret = enrol.json.secret as string;
  const code = () => totpCode(secret, Math.floor(run.clock.nowMs / 30_000));
  await loggedIn(run, 'asha@example.org');
  t.pass('enrolled alone, it asks for nothing');
  const confirm = await run.call('POST', '/api/v1/auth/totp/confirm', { as: admin, body: { code: code() } });
  t.equal(confirm.status, 200);
  return { run, admin, secret, code, recovery: confirm.json.recovery_codes };
}

function login(run: RunningAccounts, code?: string) {
  return run.call('POST', '/api/v1/auth/login', {
    body: { email: 'asha@example.org', password: PASSWORD, ...(code === undefined ? {} : { code }) },
  });
}

t.test('with a second factor the password alone opens nothing', async (t) => {
  const { run, admin, code } = await enrolled(t);
  t.equal((await run.call('GET', '/api/v1/auth/me', { as: admin })).status, 200, 'this session stays');
  t.match(await login(run), { status: 401, json: { code: 'totp_required' } });
  t.equal((await login(run, '000000')).status, 401);
  t.equal((await login(run, code())).status, 401, 'the code that confirmed it is used up');
  run.clock.nowMs += 30_000;
  const answer = await login(run, code());
  t.equal(answer.status, 200);
  t.ok(cookieOf(answer));
  t.equal((await login(run, code())).status, 401, 'a replay');
  run.clock.nowMs += 30_000;
  const at = code();
  const both = await Promise.all([login(run, at), login(run, at)]);
  t.same(both.map((one) => one.status).sort(), [200, 401], 'of two with one code one gets in');
});

t.test('whoever knows the password cannot guess codes without end', async (t) => {
  const { run } = await enrolled(t);
  let guesses = 0;
  for (let i = 0; i < 40; i++) {
    // A login without a code tells that the password is right. It must not wipe the wrong codes out.
    if (i % 3 === 0) await login(run);
    else if ((await login(run, String(100_000 + i))).status === 401) guesses++;
  }
  t.equal(guesses, 10);
});

t.test('a change of the key that seals the secrets leaves the codes as they are', async (t) => {
  const { run, code, secret } = await enrolled(t);
  const before = JSON.stringify(run.store.table('users').range({ limit: 9 }));
  t.ok((await rotateKey(run.secretBox, run.store)).resealed > 0);
  const after = JSON.stringify(run.store.table('users').range({ limit: 9 }));
  t.not(after, before);
  t.notOk(after.includes(secret));
  run.clock.nowMs += 30_000;
  t.equal((await login(run, code())).status, 200);
});

t.test('confirming ends other sessions, and a wrong code confirms nothing', async (t) => {
  const run = await runAccounts();
  t.teardown(() => run.stop());
  const admin = await firstAdmin(run);
  const other = await loggedIn(run, 'asha@example.org');
  const post = (path: string, body: unknown) =>
    run.call('POST', `/api/v1/auth/totp/${path}`, { as: admin, body });
  t.equal((await post('confirm', { code: '123456' })).status, 409, 'nothing is enrolled');
  t.equal((await post('enrol', { password: 'wrong' })).status, 403);
  const { json } = await post('enrol', { password: PASSWORD });
  t.equal((await post('confirm', { code: '000000' })).status, 422);
  const code = totpCode(json.secret, Math.floor(run.clock.nowMs / 30_000));
  t.equal((await post('confirm', { code })).status, 200);
  t.equal((await run.call('GET', '/api/v1/auth/me', { as: other })).status, 401);
  t.equal((await post('enrol', { password: PASSWORD })).status, 409, 'one is enough');
});

t.test('a recovery code opens the account once', async (t) => {
  const { run, recovery } = await enrolled(t);
  t.equal(new Set(recovery).size, 10);
  t.match(recovery[0], /^[0-9a-f]{5}(-[0-9a-f]{5}){3}$/);
  const [first = '', second = ''] = recovery;
  t.equal((await login(run, first)).status, 200);
  t.equal((await login(run, first)).status, 401);
  t.equal((await login(run, second.toUpperCase().replaceAll('-', ' '))).status, 200, 'as people type it');
});

t.test('the second factor goes with the password only', async (t) => {
  const { run, admin } = await enrolled(t);
  const disable = (password: string) =>
    run.call('POST', '/api/v1/auth/totp/disable', { as: admin, body: { password } });
  t.equal((await disable('wrong')).status, 403);
  t.match(await disable(PASSWORD), { status: 200, json: { totp_enabled: false } });
  t.equal((await disable(PASSWORD)).status, 409);
  t.equal((await login(run)).status, 200);
});

t.test('neither the secret nor the recovery codes stand in the store or in the audit log', async (t) => {
  const { run, secret, recovery } = await enrolled(t);
  const text = JSON.stringify((await run.audit.list({ limit: 200 })).items);
  t.match(text, /user\.enable_totp/);
  const stored = JSON.stringify(run.store.table('users').range({ limit: 9 }));
  t.match(stored, /recovery_hashes/);
  for (const hidden of [secret, ...recovery, PASSWORD, '$argon2']) t.notOk(text.includes(hidden));
  for (const hidden of [secret, ...recovery, PASSWORD]) t.notOk(stored.includes(hidden));
});
