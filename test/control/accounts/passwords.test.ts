import { parseOptions } from '@node-rs/argon2';
import t from 'tap';
import { createLoginThrottle } from '../../../src/control/accounts/login-throttle.ts';
import { createPasswords, passwordFault } from '../../../src/control/accounts/passwords.ts';
import { AppError } from '../../../src/platform/app-error.ts';

t.test('passwords are kept as Argon2id with 19 MiB, two passes and a salt of their own', async (t) => {
  const passwords = createPasswords();
  const [one, two] = await Promise.all([
    passwords.hash('same words here'),
    passwords.hash('same words here'),
  ]);
  t.match(one, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  t.match(parseOptions(one ?? ''), { memoryCost: 19_456, timeCost: 2, parallelism: 1 });
  t.not(one, two);
  t.equal(await passwords.matches('same words here', one ?? ''), true);
  t.equal(await passwords.matches('same words Here', one ?? ''), false);
  t.equal(await passwords.matches('nobody has this password', null), false, 'not even the decoy');
});

t.test('one keyboard writes é as one character and another as two: both are the same password', async (t) => {
  const passwords = createPasswords();
  t.equal(await passwords.matches('cafe\u0301 au lait', await passwords.hash('caf\u00e9 au lait')), true);
});

t.test('the main thread goes on while passwords are checked', async (t) => {
  const passwords = createPasswords();
  let turns = 0;
  let busy = true;
  const hashing = Promise.all(Array.from({ length: 6 }, () => passwords.hash('same words here'))).then(() => {
    busy = false;
  });
  while (busy) {
    turns++;
    await new Promise(setImmediate);
  }
  await hashing;
  t.ok(turns > 50, `${turns} turns of the loop meanwhile`);
});

t.test('a flood of logins is refused beyond a bound, and all that were taken are answered', async (t) => {
  const passwords = createPasswords();
  const hash = await passwords.hash('same words here');
  const tries = await Promise.allSettled(
    Array.from({ length: 60 }, () => passwords.matches('same words here', hash)),
  );
  const refused = tries.filter((one) => one.status === 'rejected');
  t.equal(refused.length, 60 - 2 - 32);
  for (const one of refused) t.equal((one.reason as AppError).code, 'at_capacity');
  t.ok(tries.every((one) => one.status === 'rejected' || one.value === true));
  t.equal(await passwords.matches('same words here', hash), true, 'and afterwards there is room again');
});

t.test('a password is long enough, is not one key held down and not the address', async (t) => {
  const fault = (password: string) => passwordFault(password, 'ashaasharao@example.org');
  t.match(fault('eleven chars'.slice(1)), /at least 12/);
  t.equal(fault('twelve chars'), null);
  t.match(fault('aaaaaaaaaaaaaaa'), /different/);
  t.match(fault('AshaAshaRao@example.org'), /address/);
  t.match(fault('ashaasharao2026'), /address/);
  t.match(fault('x y z w v'.repeat(40)), /at most/);
  t.equal(fault('पासवर्ड बारह अक्षर'), null);
});

t.test('the throttle counts by account and by address, whatever the address looks like', async (t) => {
  let nowMs = 0;
  const throttle = createLoginThrottle(() => nowMs);
  const wait = (account: string, address: string) => {
    try {
      throttle.begin(account, address);
      return 0;
    } catch (error) {
      t.ok(error instanceof AppError && error.code === 'rate_limited');
      return (error as AppError).details.retryAfterSeconds as number;
    }
  };
  for (let i = 0; i < 10; i++) t.equal(wait('one', `10.0.0.${i}`), 0);
  t.equal(wait('one', '10.0.1.1'), 60, 'the account, from anywhere');
  t.equal(wait('two', '10.0.0.1'), 0, 'another account from an address that was used once');
  for (let i = 0; i < 10; i++) t.equal(wait(`name${i}`, `2001:db8:0:7::${i}`), 0);
  t.equal(wait('name99', '2001:0db8:0000:0007:ffff:0000:0000:0001'), 60, 'the same /64, written in full');
  t.equal(wait('name99', '2001:db8:0:8::1'), 0, 'another /64');
  const waits: number[] = [];
  for (let round = 0; round < 8; round++) {
    nowMs += (waits.at(-1) ?? 60) * 1_000;
    for (let i = 0; i < 10; i++) wait('one', `10.${round}.2.${i}`);
    waits.push(wait('one', '10.9.9.9'));
  }
  t.same(waits, [120, 240, 480, 900, 900, 900, 900, 900], 'each time longer, to a quarter of an hour');
});

t.test('slow guessing at one account is held down, too', async (t) => {
  let nowMs = 0;
  const throttle = createLoginThrottle(() => nowMs);
  let tried = 0;
  const DAY_MS = 86_400_000;
  for (let i = 0; nowMs < DAY_MS; i++, nowMs += 10_000) {
    try {
      throttle.begin('asha', `10.${(i >> 16) & 255}.${(i >> 8) & 255}.${i & 255}`);
      tried++;
    } catch {
      // Refused; the next guess comes in ten seconds.
    }
  }
  t.ok(tried > 500 && tried < 1_000, `${tried} guesses in a day`);
});

t.test('many people of one address who log in at the same moment do not lock each other out', async (t) => {
  const throttle = createLoginThrottle(() => 0);
  for (let shift = 0; shift < 3; shift++) {
    const attempts = Array.from({ length: 10 }, (_, i) => throttle.begin(`agent${i}`, '10.0.0.1'));
    for (const attempt of attempts) attempt.succeeded();
  }
  t.doesNotThrow(() => throttle.begin('agent', '10.0.0.1'));
});

t.test('whoever logs in is forgiven, and does not wait for guesses that others make', async (t) => {
  const throttle = createLoginThrottle(() => 0);
  for (let i = 0; i < 200; i++) throttle.begin('asha', '10.0.0.1').succeeded();
  for (let i = 0; i < 9; i++) throttle.begin('asha', '10.0.0.1');
  throttle.begin('asha', '10.0.0.1').succeeded();
  throttle.begin('asha', '10.0.0.2').succeeded();
  t.throws(() => {
    throttle.begin('x', '10.0.0.1');
    throttle.begin('x', '10.0.0.1');
  }, 'the address keeps its nine');
});
