import { parseArgs } from 'node:util';
import { AppError, describeError } from '../platform/app-error.ts';
import { type ModelEntry, type ModelStatus, modelEntry, modelStatus } from '../platform/model-files.ts';
import { projectRoot } from '../platform/project-paths.ts';
import { EXIT_BAD_SETTING, readSettings, type Settings } from '../platform/settings.ts';
import { describeWay, type ModelWay, obtainModel } from './obtain-model.ts';

const HELP = `Usage: trunkline models [--check] [--required] [--json]

Places the model files that calls use into MODEL_DIR (default: models/) and checks each against its hash.
A file that is there and right is left alone. Where the turn model cannot be had, calls end turns by silence.

  --check      only look; download and change nothing
  --required   fail when any model is missing, the optional one too (also: MODELS=required)
  --json       print the result as JSON on standard output, progress on standard error
  --help       print this text

Exit code: 0 when everything needed is in place, 1 when not, 2 for a wrong argument, ${EXIT_BAD_SETTING} for a wrong setting.
`;

/** Work that lasts longer than this says that it still goes on, and again after each such time. */
const PROGRESS_EVERY_MS = 2_000;
const EXIT_USAGE = 2;

interface ModelReport extends ModelStatus {
  placedBy: ModelWay | null;
  failures: string[];
}

/** The `models` command; `args` are what follows the command's name. Resolves with the exit code, never rejects. */
export async function modelsCommand(args: string[]): Promise<number> {
  let options: { check: boolean; required: boolean; json: boolean; help: boolean };
  try {
    options = parseArgs({ args, options: FLAGS, strict: true, allowPositionals: false }).values;
  } catch (error) {
    process.stderr.write(`trunkline models: ${describeError(error)}; see "trunkline models --help"\n`);
    return EXIT_USAGE;
  }
  if (options.help) {
    process.stdout.write(HELP);
    return 0;
  }
  const say = (line: string) => (options.json ? process.stderr : process.stdout).write(`${line}\n`);
  try {
    const settings = readSettings(process.env, process.cwd(), projectRoot);
    const required = options.required || settings.models === 'required';
    const reports = await bringAbout(settings, options.check, say);
    const ok = reports.every(
      (report) => report.state === 'present' || (report.need === 'optional' && !required),
    );
    if (options.json) process.stdout.write(`${JSON.stringify({ ok, models: reports }, null, 2)}\n`);
    say(conclusion(reports, ok));
    return ok ? 0 : 1;
  } catch (error) {
    process.stderr.write(`trunkline models: ${describeError(error)}\n`);
    return error instanceof AppError && error.code === 'bad_setting' ? EXIT_BAD_SETTING : 1;
  }
}

const FLAGS = {
  check: { type: 'boolean', default: false },
  required: { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const;

/** Looks at every model and, unless only checking, fetches what is not right. */
async function bringAbout(
  settings: Settings,
  onlyCheck: boolean,
  say: (line: string) => void,
): Promise<ModelReport[]> {
  say(`${onlyCheck ? 'Checking' : 'Placing'} models in ${settings.modelDir}`);
  const reports: ModelReport[] = [];
  for (const status of await modelStatus(settings.modelDir)) {
    const label = `${status.name} ${status.version}`;
    if (status.state === 'present' || onlyCheck) {
      say(`  ${label}: ${STATE_TEXT[status.state]}`);
      reports.push({ ...status, placedBy: null, failures: [] });
      continue;
    }
    say(`  ${label}: ${STATE_TEXT[status.state]}; fetching it`);
    const report = await fetchOne(modelEntry(status.name), status, settings.modelDir, say);
    reports.push(report);
  }
  return reports;
}

async function fetchOne(
  entry: ModelEntry,
  status: ModelStatus,
  modelDir: string,
  say: (line: string) => void,
): Promise<ModelReport> {
  const startedMs = performance.now();
  const progress = setInterval(() => {
    say(`    still at it after ${Math.round((performance.now() - startedMs) / 1000)} s`);
  }, PROGRESS_EVERY_MS);
  try {
    const outcome = await obtainModel(entry, modelDir, (line) => say(`    ${line}`));
    for (const failure of outcome.failures) say(`    failed: ${failure}`);
    if (outcome.placedBy) say(`    placed, from ${describeWay(entry, outcome.placedBy)}; its hash is right`);
    return { ...status, ...outcome, state: outcome.placedBy ? 'present' : status.state };
  } finally {
    clearInterval(progress);
  }
}

const STATE_TEXT: Record<ModelStatus['state'], string> = {
  present: 'present, its hash is right',
  missing: 'missing',
  wrong_hash: 'its hash does not match models/manifest.json',
};

function conclusion(reports: ModelReport[], ok: boolean): string {
  const lacking = reports.filter((report) => report.state !== 'present');
  if (lacking.length === 0) return 'All models are in place.';
  const names = lacking.map((report) => report.name).join(' and ');
  if (!ok)
    return `Not in place: ${names}. Calls need it; repair the cause above and run "trunkline models" again.`;
  return `WARNING: ${names} is not in place. Calls work, but end turns by silence alone; run "trunkline models" again when the network allows.`;
}
