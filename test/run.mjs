// Runs every check: format and lint, types, then the compiled tests. The last line is "N passed, N failed".
//
//   ./trunkline node test/run.mjs [FILTER]...     a filter is a part of a test file's path; with one, tests only
//
// Each test file is a node-tap program and runs by itself. tap's own runner would add loaders to every process that a
// test starts, and the tests here start real slots and measure them.
//
// Most files wait far more than they work, so that five run at once as long as the cores suffice by what their last
// recorded run took (test/file-times.json; RECORD=1 writes it anew). The longest come first, and no file is left alone
// at the end. Files that measure time or put on load come before all others, and at most one runs beside them; those
// that listen to audio of the media server come next, with at most two beside them.
//
// The files under test/rooms share a media stack (test/stack). Where it cannot be had they are left out, the reason
// stands above the last line, and the run passes; with STACK=required that is a failure.
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { unpackedEnvironment } from '../setup/debian-packages.mjs';
import { copyTextTables } from '../setup/text-tables.mjs';
import { readTap } from './harness/read-tap.mjs';
import { stackIsRequired, stackTrouble, startSharedStack } from './stack/shared-stack.mjs';

const project = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '');
const compiled = join(project, 'dist/test');

/** Test files at work at once: the reference machine for tests has two cores. */
const MAX_JOBS = 5;
/** Cores that the files at work may take together, by their records. */
const MAX_CORES = 1.7;
/** So many run whatever their records say. */
const MIN_JOBS = 2;
/** Files that bear fewer neighbours: they measure time or put on load, or listen to audio of the media server. */
const FEWER_JOBS = [
  {
    files:
      /^bench\/|-bench\.test\.js$|^faults\/killed-processes|^native\/resampler|^slot\/(pacer|stalled-peer|conversation)|^control\/killed|^control\/.*\/killed/,
    jobs: 2,
  },
  { files: /^rooms\//, jobs: 3 },
];
const TIMES_FILE = join(project, 'test/file-times.json');
/** A file that is shorter is not recorded; one without a record counts as this short, and as busy all the time. */
const SHORT_S = 3;
/** Of the files that took longest, so many are named at the end. */
const SHOWN_SLOWEST = 10;
/** A test file that takes longer than this has failed; tap reports it, and the kill comes a little later. */
const FILE_TIMEOUT_S = 300;
const KILL_AFTER_MS = (FILE_TIMEOUT_S + 20) * 1000;
/** Most output of one file that is kept; a file that prints more has failed anyway. */
const MAX_OUTPUT_CHARS = 8_000_000;
/** Runs a command and tells afterwards, on a descriptor of its own, how much processor time it took. */
const MEASURED = '"$@" 3>&-; code=$?; times >&3; exit $code';

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
/** What each file took: seconds, and seconds of processor time. */
const took = new Map();
/** Files that run a second time: the real-time SDK now and then loses a part of a track on a loaded machine. */
const again = new Set();
const MAX_SECOND_RUNS = 3;
let sharedStack;

if (filters.length === 0) {
  await Promise.all([
    check('nothing that only tests use', ['node_modules/knip/bin/knip.js', '--production', '--no-progress']),
    check('format and lint', ['node_modules/@biomejs/biome/bin/biome', 'check', '.']),
    check('types', ['node_modules/typescript-7/bin/tsc', '--noEmit']),
  ]);
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
await runAll(leftOut ? files.filter((file) => !inRooms.includes(file)) : files);

await runAgainAlone();
if (sharedStack) await checkLeftovers();

for (const failure of failures) process.stdout.write(`\n---- ${failure.title}\n${failure.text}\n`);
process.exitCode = totals.failed === 0 ? 0 : 1;
if (process.env.RECORD === '1') recordTimes();
reportSlowest();
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

/** Runs these files, as many at once as may be. */
async function runAll(queue) {
  const records = existsSync(TIMES_FILE) ? JSON.parse(readFileSync(TIMES_FILE, 'utf8')) : {};
  const expected = (file) => records[nameOf(file)] ?? [SHORT_S, SHORT_S];
  const jobsOf = (file) => FEWER_JOBS.find(({ files }) => files.test(file))?.jobs ?? MAX_JOBS;
  const waiting = [...queue].sort(
    (a, b) => jobsOf(a) - jobsOf(b) || expected(b)[0] - expected(a)[0] || (a < b ? -1 : 1),
  );
  const coresOf = (file) => expected(file)[1] / expected(file)[0];
  const atWork = new Map();
  const mayStart = (file) => {
    const together = [file, ...atWork.keys()];
    const cores = together.reduce((sum, each) => sum + coresOf(each), 0);
    return (
      together.length <= Math.min(...together.map(jobsOf)) &&
      (cores <= MAX_CORES || together.length <= MIN_JOBS)
    );
  };
  while (waiting.length > 0 || atWork.size > 0) {
    for (let next = waiting.find(mayStart); next; next = waiting.find(mayStart)) {
      const file = next;
      waiting.splice(waiting.indexOf(file), 1);
      atWork.set(
        file,
        runTestFile(file).then(() => atWork.delete(file)),
      );
    }
    await Promise.race(atWork.values());
  }
}

function nameOf(file) {
  return file.replace(/\.test\.js$/, '');
}

/** What each longer file took, so that the next runs are ordered by it. Files that did not run keep their record. */
function recordTimes() {
  const before = existsSync(TIMES_FILE) ? JSON.parse(readFileSync(TIMES_FILE, 'utf8')) : {};
  const known = new Set(testFiles([]).map(nameOf));
  const all = Object.entries({ ...before, ...Object.fromEntries(took) });
  const kept = all.filter(([name, [seconds]]) => known.has(name) && seconds > SHORT_S).sort();
  const lines = kept.map(
    ([name, times]) => `  ${JSON.stringify(name)}: [${times.map(Math.round).join(', ')}]`,
  );
  writeFileSync(TIMES_FILE, `{\n${lines.join(',\n')}\n}\n`);
}

function reportSlowest() {
  const slowest = [...took].sort(([, a], [, b]) => b[0] - a[0]).slice(0, SHOWN_SLOWEST);
  const all = [...took.values()];
  const [seconds, cpu] = [0, 1].map((at) => all.reduce((sum, times) => sum + times[at], 0));
  process.stdout.write(
    `\nthe slowest of ${took.size} files (${seconds.toFixed(0)} s, ${cpu.toFixed(0)} s of processor time):\n`,
  );
  for (const [name, [fileSeconds, fileCpu]] of slowest) {
    process.stdout.write(
      `  ${name.padEnd(56)} ${fileSeconds.toFixed(0).padStart(4)} s  ${fileCpu.toFixed(0).padStart(4)} s cpu\n`,
    );
  }
}

/** A file of rooms that fails beside others runs once more at the end, alone; what failed first is printed all the same. */
async function runAgainAlone() {
  const files = [...again];
  again.clear();
  for (const file of files) await runTestFile(file, 'alone: ');
}

async function runTestFile(file, prefix = '') {
  const ended = await runNode(['--enable-source-maps', join(compiled, file)], {
    TAP_TIMEOUT: String(FILE_TIMEOUT_S),
    ...sharedStack?.env,
  });
  const result = readTap(ended.output, ended);
  const title = prefix + nameOf(file);
  const isLast = prefix !== '' || !file.startsWith('rooms/') || again.size >= MAX_SECOND_RUNS;
  if (result.failures.length > 0 && !isLast) {
    again.add(file);
    report(false, title, ended.seconds, 'runs once more, alone');
    for (const { name, diagnostics } of result.failures) {
      process.stdout.write(`       not ok: ${name}\n${diagnostics}\n`);
    }
    return;
  }
  took.set(title, [Number(ended.seconds), ended.cpuSeconds]);
  count(result.passed, result.failures.length);
  const cpu = `${ended.cpuSeconds.toFixed(1).padStart(6)} s cpu`;
  report(result.failures.length === 0, title, ended.seconds, `${cpu}  ${result.passed} passed`);
  for (const { name, diagnostics } of result.failures) {
    process.stdout.write(`       not ok: ${name}\n`);
    failures.push({ title: `${title}: ${name}`, text: diagnostics });
  }
}

/** Runs the pinned Node on a script, in a process group of its own so that a time-out takes its children along. */
function runNode(args, env) {
  const startedMs = performance.now();
  return new Promise((resolve) => {
    const child = spawn('/bin/sh', ['-c', MEASURED, 'sh', process.execPath, ...args], {
      cwd: project,
      // Without root, set-up unpacks programs that tests use, a compiler among them.
      env: { ...process.env, ...unpackedEnvironment(), ...env },
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
      detached: true,
    });
    let times = '';
    child.stdio[3].setEncoding('utf8').on('data', (text) => {
      times += text;
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
      resolve({ code, signal, timedOut, overflow, output, seconds, cpuSeconds: childrenTime(times) });
    });
  });
}

/** The second line of \`times\`: user and system time of what the shell ran, as in 1m2.34s. */
function childrenTime(times) {
  const spent = [...(times.split('\n')[1] ?? '').matchAll(/(\d+)m([\d.]+)s/g)];
  return spent.reduce((sum, [, minutes, seconds]) => sum + Number(minutes) * 60 + Number(seconds), 0);
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
