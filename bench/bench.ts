import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { projectPath } from '../src/platform/project-paths.ts';
import { BENCH_HELP, type BenchOptions, readBenchOptions } from './bench-options.ts';
import { runBench } from './bench-run.ts';
import { benchConfigServe, describeConfigServe } from './config-serve.ts';
import { benchConversation, describeConversation } from './conversation.ts';
import { benchEcho, describeEcho } from './echo.ts';
import type { BenchFleet } from './fleet-run.ts';
import { judgeRun, readBudget, readPlaneBudget } from './judge-run.ts';
import { printTable } from './print-table.ts';
import { benchProviders, describeProviders } from './providers.ts';
import { benchRecords, describeRecords } from './records.ts';
import { benchRooms, describeRooms } from './rooms.ts';

const EXIT_FAILED = 1;
const EXIT_USAGE = 2;
const EXIT_INTERRUPTED = 130;

/** `npm run bench`: runs, prints, writes, judges. */
async function main(): Promise<number> {
  let options: BenchOptions | 'help';
  try {
    options = readBenchOptions(process.argv.slice(2));
  } catch (error) {
    process.stderr.write(`bench: ${(error as Error).message}\n\n${BENCH_HELP}\n`);
    return EXIT_USAGE;
  }
  if (options === 'help') {
    print(BENCH_HELP);
    return 0;
  }
  if (options.part === 'records') return benchCallRecords(options.records);
  if (options.part === 'conversation') return talk(options);
  if (options.part === 'echo') return hearEchoes(options);
  if (options.part === 'rooms') return callRooms(options);
  if (options.part === 'providers') {
    const figures = await benchProviders({ ...options.providersPlan, onBegin: print });
    for (const line of describeProviders(figures)) print(line);
    return 0;
  }
  const calls = options.part === 'plane' ? 0 : await benchCalls(options);
  const plane = options.part === 'calls' ? 0 : await benchPlane(options);
  return Math.max(calls, plane);
}

/** Nothing gates here: the times belong to the machine, and the suite holds the number of rows that a page touches. */
async function benchCallRecords(records: number): Promise<number> {
  print(`filling a store with ${records} call records, some 10,000 a second`);
  for (const line of describeRecords(await benchRecords({ records, rounds: 20 }))) print(line);
  return 0;
}

/** Goals are printed and gate nothing: the times belong to the machine. That nobody was answered is a fault. */
async function talk(options: BenchOptions): Promise<number> {
  const figures = await benchConversation(options.conversationPlan, print, stopFleetOnSignal);
  for (const line of describeConversation(figures)) print(line);
  const out = options.out ?? resultsPath();
  mkdirSync(dirname(out), { recursive: true });
  writeFileSync(out, `${JSON.stringify(figures, null, 2)}\n`);
  print(`readings ${out}`);
  const answered = figures.wires.every(({ replyGapMs, unanswered }) => replyGapMs.n > unanswered);
  return answered ? 0 : EXIT_FAILED;
}

/** Nothing here is a time of the machine: an answer that was taken for an echo is a fault. */
async function hearEchoes(options: BenchOptions): Promise<number> {
  const figures = await benchEcho(options.echoPlan, print);
  for (const line of describeEcho(figures)) print(line);
  return figures.takenForEcho === 0 ? 0 : EXIT_FAILED;
}

/** The times belong to the machine; that calls were lost, or none was in time, is a fault. */
async function callRooms(options: BenchOptions): Promise<number> {
  const figures = await benchRooms(options.roomsPlan, print, stopFleetOnSignal);
  print(describeRooms(figures));
  const out = options.out ?? resultsPath();
  mkdirSync(dirname(out), { recursive: true });
  writeFileSync(out, `${JSON.stringify(figures, null, 2)}\n`);
  print(`readings ${out}`);
  const whole = figures.steps.every((step) => step.results === step.calls);
  return whole && figures.largest > 0 ? 0 : EXIT_FAILED;
}

function resultsPath(startedAt = new Date().toISOString()): string {
  return projectPath(`bench/results/${startedAt.replaceAll(/[:.]/g, '-')}.json`);
}

/** The absolute goal is a warning: the machine may be small, the ratio is ours. */
async function benchPlane(options: BenchOptions): Promise<number> {
  print('');
  const figures = await benchConfigServe(options.planePlan);
  print(describeConfigServe(figures));
  const { wrapperToFastifyRatio, resultsPerSecond } = readPlaneBudget();
  if (figures.results.requestsPerSecond < resultsPerSecond) {
    print(`warning  fewer than ${resultsPerSecond} results a second were taken in`);
  }
  if (figures.wrapperToFastify >= wrapperToFastifyRatio) return 0;
  print(
    `FAILED   the HTTP server does ${figures.wrapperToFastify.toFixed(2)} times what Fastify does with the same processor time; the limit is ${wrapperToFastifyRatio}`,
  );
  return EXIT_FAILED;
}

async function benchCalls(options: BenchOptions): Promise<number> {
  const startedMs = Date.now();
  const seconds = () => ((Date.now() - startedMs) / 1000).toFixed(0).padStart(4);
  const result = await runBench(
    options.plan,
    (sentence) => print(`${seconds()} s  ${sentence}`),
    stopFleetOnSignal,
  );
  printTable(result, print);
  const verdict = judgeRun(result, readBudget(options.form));
  for (const warning of verdict.warnings) print(`warning  ${warning}`);
  for (const failure of verdict.failures) print(`FAILED   ${failure}`);
  if (verdict.failures.length === 0)
    print('passed   frames are whole and the ratios are within their limits');
  const out = options.out ?? resultsPath(result.startedAt);
  mkdirSync(dirname(out), { recursive: true });
  writeFileSync(out, `${JSON.stringify({ ...result, verdict }, null, 2)}\n`);
  print(`readings ${out}`);
  return verdict.failures.length === 0 ? 0 : EXIT_FAILED;
}

/** Slots outlive their starter by design, so a Ctrl-C has to end them by name. */
function stopFleetOnSignal(fleet: BenchFleet): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      void fleet.stop().finally(() => process.exit(EXIT_INTERRUPTED));
    });
  }
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

try {
  process.exitCode = await main();
} catch (error) {
  process.stderr.write(`bench: ${(error as Error).message}\n`);
  process.exitCode = EXIT_FAILED;
}
