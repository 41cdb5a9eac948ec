import { parseArgs } from 'node:util';
import { API_PREFIX, CORE_SECRET_HEADER } from '../contracts/http-names.ts';
import { AppError, describeError } from '../platform/app-error.ts';
import { httpCall } from '../platform/http-client.ts';
import { projectRoot } from '../platform/project-paths.ts';
import { EXIT_BAD_SETTING, hostPort, readSettings } from '../platform/settings.ts';
import { environmentWith } from './settings-file.ts';

export const CACHE_HELP = `trunkline cache: drop what the running control plane keeps in memory.

usage: trunkline cache clear KEY [--url URL] [--settings FILE] [--json]

Calls read bots and system settings through a cache (BOT_CACHE_TTL, an hour). Edits through the API
clear it; a change made directly in the store does not, and this does. Keys are bot:BOT_ID and
system:settings. The core secret comes from CORE_SECRET.

  --url URL          where the control plane is (CONTROL_LISTEN)
  --settings FILE    a file of NAME=value lines, as for "trunkline start"
  --json             print JSON

example
  trunkline cache clear bot:demo`;

const EXIT_USAGE = 2;
const ANSWER_MS = 10_000;
const MAX_ANSWER_BYTES = 65_536;

/** `trunkline cache`. Resolves with the exit code, never rejects. */
export async function cacheCommand(args: string[]): Promise<number> {
  let key: string;
  let values: { url?: string | undefined; settings?: string | undefined; json: boolean };
  try {
    const parsed = parseArgs({ args, allowPositionals: true, options: OPTIONS });
    values = parsed.values;
    const [what, named, ...more] = parsed.positionals;
    if (what !== 'clear' || named === undefined || more.length > 0) {
      throw new Error('there is one thing to do: clear KEY');
    }
    key = named;
  } catch (error) {
    process.stderr.write(`trunkline cache: ${describeError(error)}\nRun "trunkline help cache".\n`);
    return EXIT_USAGE;
  }
  try {
    const settings = readSettings(environmentWith(values.settings), process.cwd(), projectRoot);
    const base = values.url ?? `http://${hostPort(settings.controlListen)}`;
    const cleared = await clearKey(base, key, settings.coreSecret);
    process.stdout.write(
      values.json
        ? `${JSON.stringify({ key, cleared })}\n`
        : `${key} ${cleared ? 'is cleared; the next call reads the store' : 'was not in the cache'}\n`,
    );
    return 0;
  } catch (error) {
    process.stderr.write(`trunkline cache: ${describeError(error)}\n`);
    return error instanceof AppError && error.code === 'bad_setting' ? EXIT_BAD_SETTING : 1;
  }
}

const OPTIONS = {
  url: { type: 'string' },
  settings: { type: 'string' },
  json: { type: 'boolean', default: false },
} as const;

/** Whether there was such an entry. Throws with the sentence of the plane where it refuses. */
async function clearKey(base: string, key: string, coreSecret: string): Promise<boolean> {
  const url = `${base.replace(/\/+$/, '')}${API_PREFIX}/caches/${encodeURIComponent(key)}`;
  const answer = await httpCall(url, {
    method: 'DELETE',
    headers: coreSecret === '' ? {} : { [CORE_SECRET_HEADER]: coreSecret },
    timeoutMs: ANSWER_MS,
    maxBytes: MAX_ANSWER_BYTES,
  });
  const told = JSON.parse(answer.body) as { cleared?: boolean; detail?: string };
  if (answer.status !== 200) throw new Error(told.detail ?? `the plane answered ${answer.status}`);
  return told.cleared === true;
}
