import { parseArgs } from 'node:util';
import { PRODUCT_VERSION } from '../platform/version.ts';
import { commandHelp, generalHelp } from './help.ts';
import { nearest } from './nearest.ts';

/** Exit codes of every command; 78 is EX_CONFIG of sysexits.h. */
const EXIT = {
  ok: 0,
  /** The command ran and what it looked at is not right. */
  failed: 1,
  /** The command line cannot be understood. */
  usage: 2,
  /** A boot setting is wrong; a service manager must not try again. */
  badSetting: 78,
} as const;

interface Command {
  name: string;
  summary: string;
  run: (args: string[]) => Promise<number | undefined>;
}

/** Loaded on demand: `trunkline help` must not pay for the speech models, and a slot never loads this file. */
const COMMANDS: readonly Command[] = [
  {
    name: 'start',
    summary: 'run the appliance in the foreground',
    run: async (args) => (await import('./start.ts')).startCommand(args),
  },
  {
    name: 'demo',
    summary: 'run the appliance on a temporary folder and place a real call to it',
    run: async (args) => (await import('./demo.ts')).demoCommand(args),
  },
  {
    name: 'call',
    summary: 'place one call to a bot, as a dialler would',
    run: async (args) => (await import('./call.ts')).callCommand(args),
  },
  {
    name: 'turnlab',
    summary: 'what other turn settings would have changed in a recorded call',
    run: async (args) => (await import('./turnlab.ts')).turnlabCommand(args),
  },
  {
    name: 'models',
    summary: 'fetch the speech models and check their hashes',
    run: async (args) => (await import('./models.ts')).modelsCommand(args),
  },
  {
    name: 'doctor',
    summary: 'check what the appliance needs and say what to do',
    run: async (args) => (await import('./doctor.ts')).doctorCommand(args),
  },
  {
    name: 'user',
    summary: 'the people who may log in: create, list, reset, disable',
    run: async (args) => (await import('./user.ts')).userCommand(args),
  },
  {
    name: 'audit',
    summary: 'prove that the audit log is whole',
    run: async (args) => (await import('./audit.ts')).auditCommand(args),
  },
  {
    name: 'cache',
    summary: 'drop what the running control plane keeps in memory',
    run: async (args) => (await import('./cache.ts')).cacheCommand(args),
  },
  {
    name: 'help',
    summary: 'explain a command',
    run: async (args) => help(args[0]),
  },
  {
    name: 'version',
    summary: 'print the version',
    run: async () => print(PRODUCT_VERSION, EXIT.ok),
  },
];

process.exitCode = await main(process.argv.slice(2));

async function main(args: string[]): Promise<number> {
  const [name = 'help', ...rest] = args;
  if (name === '--help' || name === '-h') return help(undefined);
  if (name === '--version' || name === '-v') return print(PRODUCT_VERSION, EXIT.ok);
  const command = COMMANDS.find((known) => known.name === name);
  if (!command) return unknown(name);
  if (wantsHelp(rest)) return help(command.name);
  return (await command.run(rest)) ?? EXIT.ok;
}

function wantsHelp(args: string[]): boolean {
  const { values } = parseArgs({
    args,
    options: { help: { type: 'boolean', short: 'h' } },
    allowPositionals: true,
    strict: false,
  });
  return values.help === true;
}

async function help(name: string | undefined): Promise<number> {
  if (name === undefined) return print(generalHelp(COMMANDS), EXIT.ok);
  // This command explains itself: its options are checked against the model manifest.
  if (name === 'models') return (await import('./models.ts')).modelsCommand(['--help']);
  if (name === 'user') return print((await import('./user.ts')).USER_HELP, EXIT.ok);
  if (name === 'audit') return print((await import('./audit.ts')).AUDIT_HELP, EXIT.ok);
  if (name === 'turnlab') return print((await import('./turnlab.ts')).TURNLAB_HELP, EXIT.ok);
  if (name === 'cache') return print((await import('./cache.ts')).CACHE_HELP, EXIT.ok);
  const text = commandHelp(name);
  return text ? print(text, EXIT.ok) : unknown(name);
}

function unknown(name: string): number {
  const close = nearest(
    name,
    COMMANDS.map((command) => command.name),
  );
  process.stderr.write(
    `trunkline: there is no command "${name}"${close ? `; did you mean "${close}"?` : ''}\nRun "trunkline help" for the list.\n`,
  );
  return EXIT.usage;
}

function print(text: string, code: number): number {
  process.stdout.write(`${text}\n`);
  return code;
}
