import t from 'tap';
import { AppError } from '../../src/platform/app-error.ts';
import { plainNumber } from '../../src/platform/settings.ts';
import { workerSettings } from '../harness/worker.ts';

t.test('R19 DID_MAP says which bot answers which number of a worker', async (t) => {
  const map = (text: string) => workerSettings('/folder', { DID_MAP: text }).didMap;
  t.same(map(''), {});
  t.same(map(' +911140001234=clinic , 1800 =x'.replace(' =', '=')), { 911140001234: 'clinic', 1800: 'x' });
  t.same(map('*=desk'), { '*': 'desk' });
  t.equal(plainNumber('+91 11-4000 1234'), '911140001234', 'a number is its digits, however it is written');
  for (const text of ['clinic', '+91=', '=clinic', '+91=a/b', 'abc=clinic', '**=clinic', '+91=a=b']) {
    t.throws(() => map(text), AppError, text);
    t.throws(() => map(text), { code: 'bad_setting', message: /^DID_MAP: / }, text);
  }
});
