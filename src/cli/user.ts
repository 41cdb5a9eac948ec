import { text as readAll } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import { AppError, describeError } from '../platform/app-error.ts';
import { projectRoot } from '../platform/project-paths.ts';
import { EXIT_BAD_SETTING, readSettings } from '../platform/settings.ts';
import {
  type CliUser,
  type CliUserAndLink,
  type OperatorAccount,
  openOperatorAccount,
  roleOf,
} from './operator-access.ts';
import { environmentWith } from './settings-file.ts';

export const USER_HELP = `trunkline user: the people who may log in.

usage: trunkline user list [--json]
       trunkline user create --email ADDRESS --name NAME --role ROLE [--password-stdin]
       trunkline user reset ADDRESS
       trunkline user disable ADDRESS
       trunkline user enable ADDRESS

Works through the running control plane, or where none runs on the store in DATA_DIR; both as the
user of the service. "create" without a password and "reset" print a link, good once and for 24
hours, where the person chooses a password. "reset" takes the second factor away, too.

  --role ROLE        admin, supervisor, agent or analyst
  --password-stdin   read the password from standard input
  --settings FILE    a file of NAME=value lines, as for "trunkline start"
  --json             print JSON

examples
  trunkline user create --email asha@example.org --name "Asha Rao" --role admin
  trunkline user reset asha@example.org`;

const EXIT_USAGE = 2;
const MAX_STDIN_CHARS = 4_096;

/** `trunkline user`. Resolves with the exit code, never rejects. */
export async function userCommand(args: string[]): Promise<number> {
  let parsed: ReturnType<typeof parse>;
  try {
    parsed = parse(args);
  } catch (error) {
    process.stderr.write(`trunkline user: ${describeError(error)}\nRun "trunkline help user".\n`);
    return EXIT_USAGE;
  }
  const { values, positionals } = parsed;
  const [verb, subject] = positionals;
  try {
    const action = actionOf(verb, subject, values);
    if (action === null) {
      process.stderr.write(`trunkline user: this is not understood\nRun "trunkline help user".\n`);
      return EXIT_USAGE;
    }
    const settings = readSettings(environmentWith(values.settings), process.cwd(), projectRoot);
    const account = await openOperatorAccount(settings);
    try {
      process.stdout.write(`${await action(account)}\n`);
    } finally {
      await account.close();
    }
    return 0;
  } catch (error) {
    process.stderr.write(`trunkline user: ${describeError(error)}\n`);
    return error instanceof AppError && error.code === 'bad_setting' ? EXIT_BAD_SETTING : 1;
  }
}

function parse(args: string[]) {
  return parseArgs({
    args,
    allowPositionals: true,
    options: {
      email: { type: 'string' },
      name: { type: 'string' },
      role: { type: 'string' },
      'password-stdin': { type: 'boolean', default: false },
      settings: { type: 'string' },
      json: { type: 'boolean', default: false },
    },
  });
}

type Values = ReturnType<typeof parse>['values'];

/** What the command line asks for, or null where it cannot be understood. */
function actionOf(
  verb: string | undefined,
  subject: string | undefined,
  values: Values,
): ((account: OperatorAccount) => Promise<string>) | null {
  const { email, name, role, json } = values;
  if (verb === 'list' && subject === undefined) {
    return async (account) => {
      const users = await account.users();
      return json ? JSON.stringify(users, null, 2) : table(users);
    };
  }
  if (verb === 'create' && subject === undefined && email && name && role) {
    const known = roleOf(role);
    return async (account) => {
      const password = values['password-stdin'] ? { password: await passwordFromStdin() } : {};
      const made = await account.create({ email, name, role: known, ...password });
      return json ? JSON.stringify(made, null, 2) : withLink(`created ${made.user.email}`, made);
    };
  }
  if (subject === undefined) return null;
  if (verb === 'reset') {
    return async (account) => {
      const made = await account.reset((await find(account, subject)).id);
      return json ? JSON.stringify(made, null, 2) : withLink(`reset ${made.user.email}`, made);
    };
  }
  if (verb === 'disable' || verb === 'enable') {
    return async (account) => {
      const user = await account.setDisabled((await find(account, subject)).id, verb === 'disable');
      return json ? JSON.stringify(user, null, 2) : `${user.email} is ${user.state}`;
    };
  }
  return null;
}

async function find(account: OperatorAccount, address: string): Promise<CliUser> {
  const wanted = address.trim().toLowerCase();
  const user = (await account.users()).find(({ email, id }) => email === wanted || id === address);
  if (!user) throw new AppError('not_found', `there is no user ${address}; "trunkline user list" shows all`);
  return user;
}

async function passwordFromStdin(): Promise<string> {
  const given = (await readAll(process.stdin)).replace(/\r?\n$/, '');
  if (given === '' || given.length > MAX_STDIN_CHARS) {
    throw new AppError('validation_error', 'standard input holds no password');
  }
  return given;
}

function withLink(sentence: string, made: CliUserAndLink): string {
  if (made.link === null) return sentence;
  return `${sentence}; the password is chosen here, once and within 24 hours:\n${made.link}`;
}

function table(users: CliUser[]): string {
  if (users.length === 0) return 'there are no users yet';
  const rows = users.map(({ email, role, state, totp_enabled, last_login_at, name }) => [
    email,
    role,
    state,
    totp_enabled ? 'second factor' : '-',
    last_login_at ?? 'never',
    name,
  ]);
  const widths = [0, 1, 2, 3, 4].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) => row.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join('  ')).join('\n');
}
