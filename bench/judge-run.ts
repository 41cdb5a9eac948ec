import { readFileSync } from 'node:fs';
import { projectPath } from '../src/platform/project-paths.ts';
import type { BenchResult } from './bench-run.ts';

/** Limits of the ratios, from `budgets.json`: `full` for `npm run bench`, `short` for the form inside `npm test`. */
export interface Budget {
  latenessP50Ratio: number;
  latenessP99Ratio: number;
  cpuPerFrameRatio: number;
}

export interface Verdict {
  /** What fails the run, one sentence each. */
  failures: string[];
  /** What makes some figures doubtful, one sentence each. */
  warnings: string[];
}

/**
 * A dialler that is later than this itself cannot judge the pacing of others (docs/benchmarks.md, "Does it notice?").
 */
const DIALLER_P99_LIMIT_MS = 2;

/**
 * Judges a run. Frames must be whole, always. Ratios to the bare loops of the same run have limits; absolute times are
 * printed and never judged, because they are the machine's.
 */
export function judgeRun(result: BenchResult, budget: Budget): Verdict {
  const failures: string[] = [];
  const warnings: string[] = [];
  let pacingIsVoid = false;
  for (const fleet of result.fleets) {
    const { counts, ownLateness, lostCalls, missedBargeIns, unanswered } = fleet.dialler;
    const where = `${fleet.framing} frames`;
    for (const key of ['missing', 'doubled', 'afterClear', 'damaged'] as const) {
      if (counts[key] > 0)
        failures.push(`${where}: ${counts[key]} of ${counts.received} frames were ${WORDS[key]}`);
    }
    if (counts.received === 0) failures.push(`${where}: not one frame of audio came`);
    for (const reason of lostCalls) failures.push(`${where}: a call was lost: ${reason}`);
    if (fleet.resultsDelivered !== result.plan.calls) {
      failures.push(`${where}: ${fleet.resultsDelivered} of ${result.plan.calls} results were delivered`);
    }
    if (missedBargeIns > 0) warnings.push(`${where}: ${missedBargeIns} barge-ins brought no clear`);
    if (unanswered > 0) warnings.push(`${where}: ${unanswered} clips of the caller were not answered`);
    if ((ownLateness.p99 ?? 0) > DIALLER_P99_LIMIT_MS) {
      pacingIsVoid = true;
      warnings.push(
        `${where}: pacing figures are VOID, the dialler itself was ${ownLateness.p99?.toFixed(1)} ms late at p99`,
      );
    }
  }
  for (const ratios of result.ratios) {
    const where = `${ratios.framing} frames`;
    if (!(ratios.cpuPerFrame <= budget.cpuPerFrameRatio)) {
      failures.push(
        `${where}: CPU per frame is ${ratios.cpuPerFrame.toFixed(2)} times the bare loops, the limit is ${budget.cpuPerFrameRatio}`,
      );
    }
    // The median survives a busy machine, so a void run is still judged by it.
    if (!(ratios.latenessP50 <= budget.latenessP50Ratio)) {
      failures.push(
        `${where}: lateness at p50 is ${ratios.latenessP50.toFixed(1)} times the bare loop, the limit is ${budget.latenessP50Ratio}`,
      );
    }
    if (!pacingIsVoid && !(ratios.latenessP99 <= budget.latenessP99Ratio)) {
      failures.push(
        `${where}: lateness at p99 is ${ratios.latenessP99.toFixed(1)} times the bare loop, the limit is ${budget.latenessP99Ratio}`,
      );
    }
  }
  return { failures, warnings };
}

const WORDS = {
  missing: 'missing',
  doubled: 'doubled or out of order',
  afterClear: 'sent after clear',
  damaged: 'damaged',
};

/** Throws when the file lacks the form. */
export function readBudget(form: 'full' | 'short'): Budget {
  return readEntry<Budget>(form);
}

/** Limits of the control-plane part. */
export interface PlaneBudget {
  /** Requests per second of processor time, ours to Fastify's. */
  wrapperToFastifyRatio: number;
  resultsPerSecond: number;
}

export function readPlaneBudget(): PlaneBudget {
  return readEntry<PlaneBudget>('plane');
}

function readEntry<T>(name: string): T {
  const budgets = JSON.parse(readFileSync(projectPath('bench/budgets.json'), 'utf8')) as Record<string, T>;
  const budget = budgets[name];
  if (!budget) throw new Error(`bench/budgets.json has no entry "${name}"`);
  return budget;
}
