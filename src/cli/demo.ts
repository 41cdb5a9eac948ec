import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { SOCKET_PATH } from '../contracts/http-names.ts';
import { describeError } from '../platform/app-error.ts';
import { monotonicMs } from '../platform/clock.ts';
import { projectPath } from '../platform/project-paths.ts';
import { describeEvent } from './call.ts';
import { type Appliance, freePort, startAppliance } from './demo/appliance-process.ts';
import { type ClipOutcome, converse } from './demo/conversation.ts';
import { loadClips } from './demo/load-clips.ts';
import { type ResultsReceiver, startResultsReceiver } from './demo/results-receiver.ts';
import { showOutcome } from './demo/show-outcome.ts';
import { type DiallerCall, placeCall } from './dialler-client.ts';
import { followJournal, journalView } from './journal-tail.ts';

const EXIT_USAGE = 2;
const EXIT_INTERRUPTED = 130;
/** After the last recording the bot says goodbye and ends the call. */
const GOODBYE_TIMEOUT_MS = 20_000;

/** Everything that must be gone when the demo ends, in whatever way it ends. */
interface Stage {
  folder: string;
  receiver?: ResultsReceiver;
  appliance?: Appliance;
  call?: DiallerCall;
}

/** `trunkline demo`: a whole call against a real appliance. Exit code 0 when everything that it promises held. */
export async function demoCommand(args: string[]): Promise<number> {
  let options: { keep: boolean; quiet: boolean; short: boolean; sip: boolean };
  try {
    const flags = {
      keep: { type: 'boolean', default: false },
      quiet: { type: 'boolean', default: false },
      short: { type: 'boolean', default: false },
      sip: { type: 'boolean', default: false },
    } as const;
    options = parseArgs({ args, options: flags }).values;
  } catch (error) {
    process.stderr.write(`trunkline demo: ${describeError(error)}\nRun "trunkline help demo".\n`);
    return EXIT_USAGE;
  }
  if (options.sip) return sipDemo(args.filter((arg) => arg !== '--sip'));
  const stage: Stage = { folder: await mkdtemp(join(tmpdir(), 'trunkline-demo-')) };
  const stop = new AbortController();
  const onSignal = () => {
    stop.abort();
    stage.call?.drop();
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, onSignal);
  let code = 1;
  try {
    code = await play(stage, options, stop.signal);
  } catch (error) {
    if (!stop.signal.aborted) process.stderr.write(`trunkline demo: ${describeError(error)}\n`);
  }
  if (stop.signal.aborted) code = EXIT_INTERRUPTED;
  await tearDown(stage, options.keep || code === 1);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, onSignal);
  return code;
}

/**
 * The same conversation over a telephone call: a media server, a SIP service and a SIP caller are part of the source
 * tree's tests, not of the product, so this is a program of theirs.
 */
async function sipDemo(args: string[]): Promise<number> {
  const program = projectPath('dist/test/stack/sip-demo.js');
  if (!existsSync(program)) {
    process.stderr.write('trunkline demo: --sip needs the source tree; run "npm run demo -- --sip" there\n');
    return EXIT_USAGE;
  }
  const setUp = await run([projectPath('setup.mjs'), 'stack']);
  return setUp === 0 ? run([program, ...args]) : setUp;
}

/** A Ctrl-C at the terminal reaches the child by itself. */
function run(args: string[]): Promise<number> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, args, { stdio: 'inherit' });
    const ignore = () => undefined;
    process.on('SIGINT', ignore);
    child.once('close', (code) => {
      process.off('SIGINT', ignore);
      resolve(code ?? EXIT_INTERRUPTED);
    });
  });
}

/** Rejects when the signal is aborted, or something that the demo cannot go on without is missing. */
async function play(
  stage: Stage,
  options: { quiet: boolean; short: boolean },
  stop: AbortSignal,
): Promise<number> {
  const clips = await loadClips(options.short);
  const say = (line: string) => void process.stdout.write(`${line}\n`);
  say(`Starting the appliance on a temporary folder (${stage.folder}) ...`);
  const controlPort = await freePort();
  stage.receiver = await startResultsReceiver(`http://127.0.0.1:${controlPort}`);
  stage.appliance = await startAppliance({
    folder: stage.folder,
    controlPort,
    baseUrl: stage.receiver.url,
    slots: 2,
    stop,
  });
  const { appliance, receiver } = stage;
  const turnModel = appliance.models?.['smart-turn'] ?? 'unknown';
  say(
    `It runs. Calling the bot "demo" with ${clips.length} recordings of human speech (turn model: ${turnModel}).\n`,
  );

  const url = `${appliance.fleetUrl.replace('http', 'ws')}${SOCKET_PATH}demo`;
  const startedAtMs = monotonicMs();
  const show = (text: string) => {
    if (!options.quiet && text)
      say(`${((monotonicMs() - startedAtMs) / 1000).toFixed(2).padStart(7)} s  ${text}`);
  };
  stage.call = await placeCall({
    url,
    connected: { caller_id: 'demo-caller', from_number: '+15550100', call_direction: 'inbound' },
    onEvent: (event) => show(describeEvent(event)),
  });
  const { sessionId } = stage.call;
  const stopFollowing = followJournal(
    appliance.dataDir,
    (line) => line.sessionId === sessionId,
    journalView(show),
  );
  let outcomes: ClipOutcome[];
  try {
    outcomes = await converse(stage.call, clips);
    await stage.call.until(() => false, GOODBYE_TIMEOUT_MS);
  } finally {
    stopFollowing();
  }
  stop.throwIfAborted();
  await stage.call.hangUp();

  return showOutcome({
    say,
    stage: { folder: stage.folder, dataDir: appliance.dataDir, receiver },
    clips,
    outcomes,
    sessionId: stage.call.sessionId,
    stop,
  });
}

async function tearDown(stage: Stage, keep: boolean): Promise<void> {
  stage.call?.drop();
  await stage.appliance?.stop();
  await stage.receiver?.close();
  if (keep) {
    process.stdout.write(`kept: ${stage.folder}\n`);
    return;
  }
  await rm(join(stage.folder, 'data'), { recursive: true, force: true });
  await rm(join(stage.folder, 'appliance.log'), { force: true });
}
