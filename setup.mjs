// Sets the machine and this folder up, with nothing but Node 18 or newer: Debian packages, npm packages, the native
// audio kernels, the compiled program, the model files. A step whose inputs did not change is skipped at once.
//
//   node setup.mjs [demo|test|bench|stack] [--only STEP] [--quiet]
//
// The product itself runs on the Node 22 that the lockfile pins as an npm package; no Node is downloaded here.
import { parseArgs } from 'node:util';
import { CommandFailed, secondsSince } from './setup/run-command.mjs';
import { PURPOSES, setupSteps } from './setup/steps.mjs';

const USAGE = `usage: node setup.mjs [demo|test|bench|stack] [--only STEP] [--quiet]

  (nothing)   what "npm start" needs
  demo        and what "npm run demo" needs
  test        and what "npm test" needs
  bench       and what "npm run bench" needs
  stack       what "demo" needs, and the media stack: Redis, livekit-server, livekit-sip, SIP telephones

  --only STEP one step alone: packages, npm, native, build, models, runner, python, stack
  --quiet     say nothing unless a step fails`;

const EXIT_USAGE = 2;
const OLDEST_NODE = 18;

process.exitCode = await main();

async function main() {
  const wish = readArguments();
  if (typeof wish === 'string') {
    process.stderr.write(`${wish}\n`);
    return EXIT_USAGE;
  }
  if (wish.help) {
    process.stdout.write(`${USAGE}\n`);
    return 0;
  }
  const unsuitable = unsuitableMachine();
  if (unsuitable) {
    process.stderr.write(`set-up: ${unsuitable}\n`);
    return 1;
  }
  const say = wish.quiet ? () => undefined : (line) => process.stdout.write(`${line}\n`);
  const startedMs = Date.now();
  const steps = setupSteps(wish.purpose).filter((step) => !wish.only || step.name === wish.only);
  if (steps.length === 0) {
    process.stderr.write(`set-up: no step is called "${wish.only}" for this purpose\n\n${USAGE}\n`);
    return EXIT_USAGE;
  }
  const pending = [];
  for (const step of steps) {
    const plan = await step.plan();
    if (plan) pending.push({ step, plan });
  }
  if (pending.length === 0) {
    say(`set-up: nothing to do (${secondsSince(startedMs)} s)`);
    return 0;
  }
  say('set-up will');
  for (const { plan } of pending) say(`  - ${plan}`);
  for (const [index, { step }] of pending.entries()) {
    const stepStartedMs = Date.now();
    say(`[${index + 1}/${pending.length}] ${step.title}`);
    try {
      // An earlier step may have changed what this one has to do, so each step looks again.
      const note = await step.run({ quiet: wish.quiet, say: (line) => say(`      ${line}`) });
      say(`      done in ${secondsSince(stepStartedMs)} s${note ? `; ${note}` : ''}`);
    } catch (error) {
      explainFailure(step, error);
      // For whoever reads the count of `npm test`: set-up is its first check.
      if (wish.purpose === 'test') process.stdout.write('\n0 passed, 1 failed\n');
      return 1;
    }
  }
  say(`set-up: done in ${secondsSince(startedMs)} s`);
  return 0;
}

/** The wish of the command line, or the sentence that says what is wrong with it. */
function readArguments() {
  let parsed;
  try {
    parsed = parseArgs({
      allowPositionals: true,
      options: {
        only: { type: 'string' },
        quiet: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    });
  } catch (error) {
    return `set-up: ${error.message}\n\n${USAGE}`;
  }
  const [purpose = 'start', ...rest] = parsed.positionals;
  if (!PURPOSES.includes(purpose) || rest.length > 0) {
    return `set-up: "${parsed.positionals.join(' ')}" is not something to set up for\n\n${USAGE}`;
  }
  return { purpose, ...parsed.values };
}

function unsuitableMachine() {
  if (process.platform !== 'linux') {
    return `Trunkline runs on Linux; this is ${process.platform}. Use a Debian machine, a container or WSL 2.`;
  }
  if (process.arch !== 'x64' && process.arch !== 'arm64') {
    return `no runtime exists for ${process.arch}; x64 and arm64 are supported.`;
  }
  if (Number(process.versions.node.split('.')[0]) < OLDEST_NODE) {
    return `set-up needs Node ${OLDEST_NODE} or newer and this is ${process.version}; install Debian's package nodejs from bookworm or later.`;
  }
  return '';
}

/** The command, the last lines that it printed, and what to do. */
function explainFailure(step, error) {
  const lines = [`set-up failed at the step "${step.name}" (${step.title}).`];
  if (error instanceof CommandFailed) {
    lines.push(`  command: ${error.command}`, `  ${error.outcome}; its last lines were:`);
    lines.push(...error.lastLines.map((line) => `    ${line}`));
  } else {
    lines.push(`  ${error.message}`);
  }
  lines.push(`  What to do: ${error.advice ?? step.advice}`);
  lines.push(`  Then try again; "node setup.mjs --only ${step.name}" repeats this step alone.`);
  process.stderr.write(`${lines.join('\n')}\n`);
}
