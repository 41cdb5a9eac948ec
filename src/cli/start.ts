import { parseArgs } from 'node:util';
import { describeError } from '../platform/app-error.ts';
import { EXIT_BAD_SETTING } from '../platform/settings.ts';
import { environmentWith } from './settings-file.ts';

const EXIT_USAGE = 2;

/** `trunkline start`: the appliance in the foreground, until a signal ends it. */
export async function startCommand(args: string[]): Promise<undefined | number> {
  let envFile: string | undefined;
  try {
    envFile = parseArgs({ args, options: { settings: { type: 'string' } } }).values.settings;
  } catch (error) {
    process.stderr.write(`trunkline start: ${describeError(error)}\nRun "trunkline help start".\n`);
    return EXIT_USAGE;
  }
  let environment: Record<string, string | undefined>;
  try {
    environment = environmentWith(envFile);
  } catch (error) {
    process.stderr.write(`trunkline: ${describeError(error)}\n`);
    return EXIT_BAD_SETTING;
  }
  const { runMain } = await import('../main/main-process.ts');
  await runMain(environment);
  return undefined;
}
