/**
 * Counts the tests of one file from the TAP that it printed: each line at the outer level is one `t.test`. A file
 * that prints no test, breaks off, exits with an error or skips something has failed, whatever its lines say.
 *
 * @param {string} output
 * @param {{code: number | null, signal: string | null, timedOut?: boolean, overflow?: boolean}} ended
 * @returns {{passed: number, failures: {name: string, diagnostics: string}[]}}
 */
export function readTap(output, ended) {
  const lines = output.split('\n');
  const failures = [];
  let passed = 0;
  let planned = null;
  let blockStart = 0;
  for (let index = 0; index < lines.length; index++) {
    const line = lines[index] ?? '';
    const plan = /^1\.\.(\d+)/.exec(line);
    if (plan) planned = Number(plan[1]);
    const test = /^(not ok|ok)(?: \d+)?(?: - )?(.*)$/.exec(line);
    if (!test) continue;
    const name = (test[2] ?? '').replace(/ # time=\S+( \{)?$/, '').trim();
    const skipped = /(?:^|[^\\])# (?:SKIP|TODO)\b/i.test(name);
    if (test[1] === 'ok' && !skipped) passed += 1;
    else if (skipped)
      failures.push({ name, diagnostics: 'this test was skipped; a test runs or does not exist' });
    else failures.push({ name, diagnostics: diagnosticsOf(lines, blockStart, index) });
    blockStart = index + 1;
  }
  const whole = brokenOff(ended, planned, passed + failures.length, failures.length);
  if (whole) failures.push({ name: 'the file as a whole', diagnostics: `${whole}\n${lastLines(lines)}` });
  return { passed, failures };
}

function brokenOff(ended, planned, seen, failed) {
  if (ended.timedOut) return 'it did not end in time and was killed';
  if (ended.overflow) return 'it printed more than the test run keeps';
  if (ended.signal) return `it was ended by ${ended.signal}`;
  if (planned === null) return `it broke off before its plan (exit code ${ended.code})`;
  if (seen === 0) return 'it holds no test';
  if (planned !== seen) return `it planned ${planned} tests and ran ${seen}`;
  if (ended.code !== 0 && failed === 0)
    return `all tests passed, and yet it ended with exit code ${ended.code}`;
  return '';
}

/** Lines of diagnostics that are shown for one test; the first ones say what was wrong. */
const SHOWN_LINES = 80;

/** The inner lines of a failed test: from its first inner failure to the end of its own diagnostics. */
function diagnosticsOf(lines, from, at) {
  let start = lines.findIndex((line, index) => index >= from && index < at && /^\s+not ok/.test(line));
  if (start === -1) start = at;
  let end = at + 1;
  if (/^ {2}---/.test(lines[end] ?? '')) {
    while (end < lines.length && !/^ {2}\.\.\./.test(lines[end] ?? '')) end += 1;
  }
  const shown = lines.slice(start, end).filter((line) => line.trim() !== '' && !/^\s+ok /.test(line));
  return shown.slice(0, SHOWN_LINES).join('\n');
}

function lastLines(lines) {
  return lines
    .filter((line) => line.trim() !== '')
    .slice(-30)
    .join('\n');
}
