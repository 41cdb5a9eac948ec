import fc from 'fast-check';
import t from 'tap';
import { compileRulePattern, MAX_INPUT_LENGTH } from '../../src/providers/llm/rule-pattern.ts';

t.test('patterns that can take for ever are refused', (t) => {
  const dangerous = [
    '(a+)+$',
    '(a*)*',
    '(?:a|aa)+$',
    '(a?){30}',
    '((a+)b?)+',
    '(?:(?:x|y)z)*',
    '(?<word>a+)+',
    '(.*a){12}',
    '.*.*.*=',
    'a?'.repeat(20),
    '(?:a|a)'.repeat(20),
    '(a)\\1',
    '(?<w>a)\\k<w>',
    '(?=a)b',
    '(?<!a)b',
  ];
  for (const pattern of dangerous) t.type(compileRulePattern(pattern), 'string', pattern);
  t.end();
});

t.test('patterns that bots are written with pass and match without regard to case', (t) => {
  const plain: [string, string][] = [
    ['help|hello', 'oh HELP'],
    ['go (forward|backward) (\\w+) meters?', 'go forward ten meter'],
    ['^(?:my name is )?(\\w+)$', 'My name is Ann'],
    ['pay.*bill', 'I want to pay my phone bill'],
    ['[a-z]{3,5} of (?:clubs|hearts)', 'queen of hearts'],
    ['नमस्ते', 'नमस्ते जी'],
    ['\\(\\d{3}\\)', '(123)'],
    ['[(+*]', 'a+b'],
    ['(?:ab){2}', 'abab'],
  ];
  for (const [pattern, said] of plain) {
    const compiled = compileRulePattern(pattern);
    if (typeof compiled === 'string') t.fail(`${pattern} ${compiled}`);
    else t.ok(compiled.test(said), pattern);
  }
  t.end();
});

t.test('whatever passes answers within a moment, on words made to be hard for it', (t) => {
  const atom = fc.constantFrom('a', 'b', '.', '\\w', '[ab]', '(a)', '(?:a|b)', '(a+)', '(?:ab?)');
  const sign = fc.constantFrom('', '', '*', '+', '?', '{2,5}', '{3}', '*?', '{1,}');
  const patterns = fc.array(fc.tuple(atom, sign), { minLength: 1, maxLength: 9 });
  let accepted = 0;
  fc.assert(
    fc.property(patterns, fc.constantFrom('a', 'ab', 'b'), (parts, unit) => {
      const compiled = compileRulePattern(`${parts.map((part) => part.join('')).join('')}#`);
      if (typeof compiled === 'string') return true;
      accepted++;
      const hard = unit.repeat(MAX_INPUT_LENGTH).slice(0, MAX_INPUT_LENGTH);
      const startMs = performance.now();
      compiled.test(hard);
      // An exponential pattern would take minutes on 300 characters; the bound leaves room for a busy machine.
      return performance.now() - startMs < 5_000;
    }),
    { seed: 41, numRuns: 400 },
  );
  t.ok(accepted > 50, `${accepted} patterns were tried`);
  t.end();
});

t.test('no text makes the check itself throw', (t) => {
  fc.assert(
    fc.property(
      fc.string({ maxLength: 40, unit: fc.constantFrom(...'ab(|)*+?{}1,[]\\^$:<>=!k') }),
      (source) => {
        const compiled = compileRulePattern(source);
        return typeof compiled === 'string' || compiled instanceof RegExp;
      },
    ),
    { seed: 42, numRuns: 2_000 },
  );
  t.end();
});
