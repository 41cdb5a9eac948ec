import t from 'tap';
import { createCoreSecretGuard } from '../../../src/control/http/core-secret-guard.ts';
import { AppError } from '../../../src/platform/app-error.ts';
import { equalsSecret, matchesAnySecret } from '../../../src/platform/constant-time.ts';
import { readSettings } from '../../../src/platform/settings.ts';

const read = (CORE_SECRET: string) => readSettings({ CORE_SECRET }, '/tmp', '/tmp');

t.test('CORE_SECRET holds one value, or the new and the old one while it is changed', async (t) => {
  t.match(read(''), { coreSecret: '', coreSecrets: [] });
  t.match(read('only'), { coreSecret: 'only', coreSecrets: ['only'] });
  t.match(read(' new , old '), { coreSecret: 'new', coreSecrets: ['new', 'old'] });
  for (const wrong of ['a,b,c', 'a,', ',a', ',']) {
    t.throws(() => read(wrong), { code: 'bad_setting', message: /^CORE_SECRET: / }, wrong);
  }
});

t.test('R164 R166 both live core secrets open, an earlier one does not', async (t) => {
  const { coreSecrets } = read('new,old');
  const guard = createCoreSecretGuard(coreSecrets, 'http://127.0.0.1');
  for (const secret of ['new', 'old']) {
    t.doesNotThrow(() => guard.check({ headers: { 'x-core-secret': secret } }), secret);
    t.ok(matchesAnySecret(secret, coreSecrets), secret);
  }
  for (const secret of ['older', '', 'new,old', 'ne', 'neww']) {
    t.throws(() => guard.check({ headers: { 'x-core-secret': secret } }), AppError, secret);
    t.notOk(matchesAnySecret(secret, coreSecrets), secret);
  }
  t.throws(() => guard.check({ headers: {} }), { code: 'forbidden' });
});

t.test('an unset secret, a missing header and a repeated one match nothing', async (t) => {
  t.notOk(matchesAnySecret('', ['']));
  t.notOk(matchesAnySecret(undefined, ['']));
  t.notOk(matchesAnySecret(undefined, ['a']));
  t.notOk(matchesAnySecret(['a'], ['a']));
  t.notOk(matchesAnySecret('a', []));
  t.ok(matchesAnySecret('b', ['a', 'b']));
  t.ok(equalsSecret('a', 'a'));
  t.notOk(equalsSecret('a', 'b'));
});

t.test('the time of a comparison does not tell how much of a guess is right', async (t) => {
  // Long ones, so that a comparison that stops at the first difference would be hundreds of times faster for one.
  const LENGTH = 20_000;
  const secret = 's'.repeat(LENGTH);
  const guesses = {
    firstWrong: `x${'s'.repeat(LENGTH - 1)}`,
    lastWrong: `${'s'.repeat(LENGTH - 1)}x`,
    right: secret,
  };
  const tookMs: Record<string, number[]> = { firstWrong: [], lastWrong: [], right: [] };
  // Many short batches: some of them are over before another process takes the core.
  const ROUNDS = 4;
  for (let batch = 0; batch < 600; batch++) {
    for (const [name, guess] of Object.entries(guesses)) {
      const startMs = performance.now();
      for (let i = 0; i < ROUNDS; i++) matchesAnySecret(guess, [secret]);
      tookMs[name]?.push(performance.now() - startMs);
    }
  }
  const best = Object.fromEntries(
    Object.entries(tookMs).map(([name, all]) => [name, Math.min(...all.slice(50)) / ROUNDS]),
  );
  t.comment(
    Object.entries(best)
      .map(([name, ms]) => `${name} ${(ms * 1e6).toFixed(0)} ns`)
      .join(', '),
  );
  const all = Object.values(best);
  t.ok(Math.max(...all) < 2 * Math.min(...all));
});
