import { AppError, describeError } from '../platform/app-error.ts';
import { createLogger, type Logger } from '../platform/logger.ts';
import { projectRoot } from '../platform/project-paths.ts';
import { EXIT_BAD_SETTING, hostPort, readSettings, type Settings } from '../platform/settings.ts';
import { type Main, type MainOptions, startMain } from './main.ts';

/** Exit code for everything but a wrong setting; a service manager may start us again. */
const EXIT_FAILED = 1;
const DEMO_BOT = 'demo';

/**
 * Runs the appliance in this process until a signal, then exits the process. SIGTERM or SIGINT drains; a second one
 * leaves at once, and live calls talk on until they end. A wrong setting is one sentence on stderr and exit code 78.
 */
export async function runMain(
  env: Readonly<Record<string, string | undefined>> = process.env,
  folder: string = process.cwd(),
  options: Pick<MainOptions, 'slotEntry'> = {},
): Promise<never> {
  let logger: Logger | undefined;
  let main: Main;
  // A signal that comes while everything starts drains as soon as it has.
  const signalled = firstSignal();
  try {
    const settings = readSettings(env, folder, projectRoot);
    logger = createLogger({ level: settings.logLevel, role: 'main' });
    exitOnDefect(logger);
    main = await startMain(settings, { ...options, logger });
    announce(settings, main);
  } catch (error) {
    process.stderr.write(`trunkline: ${describeError(error)}\n`);
    process.exit(isRefusal(error) ? EXIT_BAD_SETTING : EXIT_FAILED);
  }
  await signalled;
  logger.info('draining: no new calls; live calls go on. A second signal leaves at once');
  const leaveNow = () => {
    logger.info('leaving at once; live calls talk on and the next start takes their results');
    process.exit(0);
  };
  process.on('SIGTERM', leaveNow);
  process.on('SIGINT', leaveNow);
  await main.stop();
  process.exit(0);
}

/** Starting again would not help; only a person can. */
function isRefusal(error: unknown): boolean {
  return error instanceof AppError && (error.code === 'bad_setting' || error.code === 'unknown_version');
}

/** An unknown state is no state to supervise calls from: main goes, the slots talk on, the next main adopts them. */
function exitOnDefect(logger: Logger): void {
  process.on('uncaughtException', (error) => {
    logger.fatal({ err: error }, 'main failed in an unexpected way and leaves; live calls go on');
    process.exit(EXIT_FAILED);
  });
}

function announce(settings: Settings, main: Main): void {
  const lines: string[] = [];
  if (main.controlPort !== null) {
    lines.push(`control plane  http://${hostPort({ ...settings.controlListen, port: main.controlPort })}`);
  }
  if (main.setupUrl !== null) lines.push(`first admin    ${main.setupUrl}`);
  if (main.fleetPort !== null) {
    const ingress = hostPort({ ...settings.fleetListen, port: main.fleetPort });
    lines.push(`fleet ingress     http://${ingress}/health/fleet`);
    if (main.freshStore && main.controlPort !== null) {
      lines.push(`call the bot   ws://${ingress}/ws/${DEMO_BOT}`);
    }
  }
  process.stdout.write(`${lines.join('\n')}\n`);
}

function firstSignal(): Promise<void> {
  return new Promise((resolve) => {
    process.once('SIGTERM', () => resolve());
    process.once('SIGINT', () => resolve());
  });
}
