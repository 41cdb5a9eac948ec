import t from 'tap';
import { projectPath } from '../../src/platform/project-paths.ts';

interface Reading {
  passed: number;
  failures: { name: string; diagnostics: string }[];
}
type Ended = { code: number | null; signal: string | null; timedOut?: boolean; overflow?: boolean };

const { readTap } = (await import(projectPath('test/harness/read-tap.mjs'))) as {
  readTap: (output: string, ended: Ended) => Reading;
};
const fine: Ended = { code: 0, signal: null };
const failed: Ended = { code: 1, signal: null };

t.test('tests are counted, and the assertions inside them are not', async (t) => {
  const output =
    'TAP version 14\n# Subtest: one\n    ok 1 - a\n    ok 2 - b\n    1..2\nok 1 - one # time=3ms\n\nok 2 - two # time=1ms\n\n1..2\n';
  t.same(readTap(output, fine), { passed: 2, failures: [] });
});

t.test('a failed test is named and shown with the assertion that failed', async (t) => {
  const output = [
    '# Subtest: bad',
    '    ok 1 - fine',
    '    not ok 2 - one is two',
    '      ---',
    '      diff: |',
    '        -2',
    '        +1',
    '      ...',
    '    1..2',
    'not ok 1 - bad # time=2ms',
    '  ---',
    '  at: x',
    '  ...',
    '1..1',
  ].join('\n');
  const { passed, failures } = readTap(output, failed);
  t.equal(passed, 0);
  t.equal(failures[0]?.name, 'bad');
  t.match(failures[0]?.diagnostics, /not ok 2 - one is two[\s\S]*-2[\s\S]*\+1/);
  t.notMatch(failures[0]?.diagnostics, /ok 1 - fine/);
});

t.test('a file that breaks off, hangs, is killed or holds nothing has failed', async (t) => {
  const one = 'ok 1 - one\n';
  for (const [output, ended, why] of [
    [one, failed, 'broke off'],
    [`${one}1..2\n`, fine, 'planned 2'],
    ['1..0\n', fine, 'no test'],
    ['', failed, 'broke off'],
    [`${one}1..1\n`, { code: 3, signal: null }, 'exit code 3'],
    [`${one}1..1\n`, { code: null, signal: 'SIGSEGV' }, 'SIGSEGV'],
    [one, { code: null, signal: 'SIGKILL', timedOut: true }, 'in time'],
    [one, { code: 0, signal: null, overflow: true }, 'printed more'],
  ] as [string, Ended, string][]) {
    const { failures } = readTap(output, ended);
    t.equal(failures.length, 1, why);
    t.match(failures[0]?.diagnostics, why);
  }
});

t.test('a test that was not run counts as failed', async (t) => {
  const { passed, failures } = readTap(`ok 1 - later # ${'SK'}IP\nok 2 - now\n1..2\n`, fine);
  t.equal(passed, 1);
  t.equal(failures.length, 1);
});
