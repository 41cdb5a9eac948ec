import { parseArgs } from 'node:util';
import { AppError, describeError } from '../platform/app-error.ts';
import { projectRoot } from '../platform/project-paths.ts';
import { EXIT_BAD_SETTING, readSettings } from '../platform/settings.ts';
import { openOperatorAccount } from './operator-access.ts';
import { environmentWith } from './settings-file.ts';

export const AUDIT_HELP = `trunkline audit: prove that the audit log is whole.

usage: trunkline audit verify [--anchor SEQ:HASH] [--json]

Reads the log from its first entry to its last and checks that each follows from the one before.
Works through the running control plane, or where none runs on the store in DATA_DIR. The last line
is the anchor: write it down on another machine and give it the next time, then even a log that was
written anew as a whole is found out. Exit code 1 when something does not hold.

  --anchor SEQ:HASH  an anchor that was written down
  --settings FILE    a file of NAME=value lines, as for "trunkline start"
  --json             print JSON`;

const EXIT_USAGE = 2;

/** `trunkline audit`. Resolves with the exit code, never rejects. */
export async function auditCommand(args: string[]): Promise<number> {
  let values: { anchor?: string | undefined; settings?: string | undefined; json: boolean };
  let anchor: { seq: number; hash: string } | undefined;
  try {
    const parsed = parseArgs({
      args,
      allowPositionals: true,
      options: {
        anchor: { type: 'string' },
        settings: { type: 'string' },
        json: { type: 'boolean', default: false },
      },
    });
    values = parsed.values;
    if (parsed.positionals.join(' ') !== 'verify') throw new Error('there is one thing to do: verify');
    anchor = values.anchor === undefined ? undefined : readAnchor(values.anchor);
  } catch (error) {
    process.stderr.write(`trunkline audit: ${describeError(error)}\nRun "trunkline help audit".\n`);
    return EXIT_USAGE;
  }
  try {
    const settings = readSettings(environmentWith(values.settings), process.cwd(), projectRoot);
    const account = await openOperatorAccount(settings);
    try {
      const proof = await account.verifyAudit(anchor);
      const lines = values.json
        ? [JSON.stringify(proof, null, 2)]
        : [
            ...proof.problems.map(({ sentence }) => `PROBLEM: ${sentence}`),
            `${proof.checked} entries were read; the chain ${proof.ok ? 'holds' : 'does not hold'}.`,
            ...(proof.head ? [`anchor ${proof.head.seq}:${proof.head.hash}`] : []),
          ];
      process.stdout.write(`${lines.join('\n')}\n`);
      return proof.ok ? 0 : 1;
    } finally {
      await account.close();
    }
  } catch (error) {
    process.stderr.write(`trunkline audit: ${describeError(error)}\n`);
    return error instanceof AppError && error.code === 'bad_setting' ? EXIT_BAD_SETTING : 1;
  }
}

function readAnchor(text: string): { seq: number; hash: string } {
  const match = /^(\d{1,15}):([0-9a-f]{64})$/.exec(text);
  if (!match) throw new Error('--anchor is a number, a colon and 64 hexadecimal digits');
  return { seq: Number(match[1]), hash: match[2] ?? '' };
}
