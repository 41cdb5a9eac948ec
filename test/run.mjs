// Runs every check: format and lint, types, then the compiled tests. The last line is "N passed, N failed".
//
//   ./trunkline node test/run.mjs [FILTER]...     a filter is a part of a test file's path; with one, tests only
//
// Each test file is a node-tap program and runs by itself, two at a time. tap's own runner would add loaders to
// every process that a test starts, and the tests here start real slots and measure them.
//
// Many tests let real time pass on a machine that others may load. A file that failed therefore runs once more at the
// end, alone; it counts as passed when that run is clean, and what failed first is printed all the same.
//
// The files under test/rooms share a media stack (test/stack). Where it cannot be had they are left out, the reason
// stands above the last line, and the run passes; with STACK=required that is a failure.
import { spawn } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { unpackedEnvironment } from '../setup/debian-packages.mjs';
import { copyTextTables } from '../setup/text-tables.mjs';
import { stackIsRequired, stackTrouble, startSharedStack } from './stack/shared-stack.mjs';
import { readTap } from './support/read-tap.mjs';

const project = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '');
const compiled = join(project, 'dist/test');

/** Test files at work at once: the reference machine for tests has two cores. */
const JOBS = 2;
/** A test file that takes longer than this has failed; tap reports it, and the kill comes a little later. */
const FILE_TIMEOUT_S = 300;
const KILL_AFTER_MS = (FILE_TIMEOUT_S + 20) * 1000;
/** When more files than this failed, it is not the load of the machine, and none runs again. */
const MAX_SECOND_RUNS = 4;
/** Most output of one file that is kept; a file that prints more has failed anyway. */
const MAX_OUTPUT_CHARS = 8_000_000;

const running = new Set();
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, () => {
    for (const child of running) killGroup(child);
    process.exit(130);
  });
}

const filters = process.argv.slice(2);
const totals = { passed: 0, failed: 0 };
const failures = [];
const secondRuns = [];
let sharedStack;

if (filters.length === 0) {
  await check('format and lint', ['node_modules/@biomejs/biome/bin/biome', 'check', '.']);
  await check('types', ['node_modules/typescript-7/bin/tsc', '--noEmit']);
}
// The compiler alone may have run since a table was edited.
copyTextTables();
const files = testFiles(filters);
if (files.length === 0) {
  totals.failed += 1;
  failures.push({
    title: 'test files',
    text: `no compiled test file fits "${filters.join(' ')}"; run "npm run build" first`,
  });
}
const inRooms = files.filter((file) => file.startsWith('rooms/'));
const leftOut = inRooms.length > 0 ? await provideStack() : '';
const queue = leftOut ? files.filter((file) => !inRooms.includes(file)) : [...files];
await Promise.all(Array.from({ length: JOBS }, worker));
for (const first of secondRuns) {
  const mayPass = secondRuns.length <= MAX_SECOND_RUNS;
  const last = mayPass ? await runTestFile(first.file, 'second run, alone: ') : first;
  count(last.passed, last.failures.length);
  const note = last.failures.length === 0 ? ' (the first run; the second passed)' : '';
  for (const failure of first.failures) {
    failures.push({ title: `${first.title}: ${failure.name}${note}`, text: failure.diagnostics });
  }
}

if (sharedStack) await checkLeftovers();

for (const failure of failures) process.stdout.write(`\n---- ${failure.title}\n${failure.text}\n`);
process.exitCode = totals.failed === 0 ? 0 : 1;
if (leftOut) {
  const howMany = `${inRooms.length} test file${inRooms.length === 1 ? '' : 's'}`;
  process.stdout.write(`\nleft out: ${howMany} of rooms and SIP, because ${leftOut}\n`);
}
process.stdout.write(`\n${totals.passed} passed, ${totals.failed} failed\n`);

async function check(title, args) {
  const ended = await runNode(args, {});
  const ok = ended.code === 0;
  count(ok ? 1 : 0, ok ? 0 : 1);
  report(ok, title, ended.seconds, '');
  if (!ok) failures.push({ title, text: ended.output.trimEnd() });
}

/** Starts the media stack; answers with why its tests are left out, or with ''. */
async function provideStack() {
  let trouble = stackTrouble();
  if (!trouble) {
    try {
      sharedStack = await startSharedStack();
      return '';
    } catch (error) {
      // Its programs are there, so that this is a fault of ours and no missing part of the machine.
      trouble = error.message;
      fail('the media stack starts', trouble);
      return trouble.split('\n')[0];
    }
  }
  if (stackIsRequired()) fail('the media stack is there, as STACK=required asks', trouble);
  return trouble;
}

/** The last check: the media server itself is asked what the tests left behind. */
async function checkLeftovers() {
  const title = 'no room and no SIP leg is left on the media server';
  const startedMs = performance.now();
  const left = await sharedStack.leftovers().catch((error) => [error.message]);
  if (left === null) return;
  count(left.length === 0 ? 1 : 0, left.length === 0 ? 0 : 1);
  report(left.length === 0, title, ((performance.now() - startedMs) / 1000).toFixed(1), '');
  if (left.length > 0) failures.push({ title, text: left.join('\n') });
}

function fail(title, text) {
  count(0, 1);
  report(false, title, '0.0', '');
  failures.push({ title, text });
}

async function worker() {
  for (let file = queue.shift(); file; file = queue.shift()) {
    const result = await runTestFile(file, '');
    if (result.failures.length === 0) count(result.passed, 0);
    else secondRuns.push(result);
  }
}

async function runTestFile(file, prefix) {
  const ended = await runNode(['--enable-source-maps', join(compiled, file)], {
    TAP_TIMEOUT: String(FILE_TIMEOUT_S),
    ...sharedStack?.env,
  });
  const { passed, failures } = readTap(ended.output, ended);
  const title = file.replace(/\.test\.js$/, '');
  report(failures.length === 0, prefix + title, ended.seconds, `${passed} passed`);
  for (const failure of failures) process.stdout.write(`       not ok: ${failure.name}\n`);
  return { file, title, passed, failures };
}

/** Runs the pinned Node on a script, in a process group of its own so that a time-out takes its children along. */
function runNode(args, env) {
  const startedMs = performance.now();
  return new Promise((resolve) => {
    const child = spawn(process.execPath, args, {
      cwd: project,
      // Without root, set-up unpacks programs that tests use, a compiler among them.
      env: { ...process.env, ...unpackedEnvironment(), ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    running.add(child);
    let output = '';
    let overflow = false;
    const take = (text) => {
      if (output.length + text.length > MAX_OUTPUT_CHARS) overflow = true;
      else output += text;
    };
    child.stdout.setEncoding('utf8').on('data', take);
    // Diagnostics that a test prints beside TAP must not be read as TAP.
    child.stderr.setEncoding('utf8').on('data', (text) => take(text.replace(/^(?=.)/gm, '# ')));
    let timedOut = false;
    const timer = setTimeout(() => {
      timedOut = true;
      killGroup(child);
    }, KILL_AFTER_MS);
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      running.delete(child);
      const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
      resolve({ code, signal, timedOut, overflow, output, seconds });
    });
  });
}

function killGroup(child) {
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    // It ended in this moment.
  }
}

function testFiles(wanted) {
  if (!existsSync(compiled)) return [];
  return readdirSync(compiled, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.test.js'))
    .map((entry) => relative(compiled, join(entry.parentPath, entry.name)))
    .filter(
      (file) =>
        wanted.length === 0 || wanted.some((part) => `dist/test/${file}`.includes(withoutEnding(part))),
    )
    .sort();
}

/** `test/cli/call.test.ts` names the compiled file too. */
function withoutEnding(part) {
  return part.replace(/\.(test\.)?[tj]s$/, '');
}

function count(passed, failed) {
  totals.passed += passed;
  totals.failed += failed;
}

function report(ok, title, seconds, note) {
  process.stdout.write(`${ok ? 'ok    ' : 'NOT OK'} ${title.padEnd(56)} ${seconds.padStart(6)} s  ${note}\n`);
}
