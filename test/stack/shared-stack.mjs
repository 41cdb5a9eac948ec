import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { stackPrograms } from '../../setup/stack-programs.mjs';

/**
 * The media stack of a test run: started when the first test file asks for it, asked at the end what was left on it,
 * and gone with the run however the run ends, since it lives as long as its standard input is open.
 */
const PROGRAM = fileURLToPath(new URL('../../dist/test/stack/stack-command.js', import.meta.url));
/** A start takes about a second; a machine that needs longer than this will not run the tests either. */
const START_TIMEOUT_MS = 120_000;
/** The stack waits for rooms and calls that are on their way out before it complains of them. */
const LEFTOVERS_TIMEOUT_MS = 90_000;
/** The tests' name for the addresses of a stack; one that is set by hand is used as it is. */
const ADDRESSES = 'STACK_ADDRESSES';

/** Why the tests that need the stack have to be left out, in one sentence, or '' when they can run. */
export function stackTrouble() {
  if (process.env[ADDRESSES]) return '';
  const { missing, off } = stackPrograms();
  if (off) return 'STACK=off is set';
  if (missing.length === 0) return '';
  return `there is no ${missing.join(', no ')} here ("node setup.mjs stack" says more)`;
}

/** True when a missing stack is a failure. */
export function stackIsRequired() {
  return process.env.STACK === 'required';
}

/**
 * Resolves with the stack, or rejects with what it said when it did not start.
 *
 * @returns {Promise<{env: Record<string, string>, leftovers: () => Promise<string[] | null>}>}
 *   `env` is for the tests; `leftovers` ends the stack and tells in sentence parts what was left on it, or null where
 *   the stack is somebody else's.
 */
export async function startSharedStack() {
  if (process.env[ADDRESSES]) return { env: {}, leftovers: async () => null };
  const child = spawn(process.execPath, ['--enable-source-maps', PROGRAM], {
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true,
  });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text) => {
    said = (said + text).slice(-10_000);
  });
  child.stdin.on('error', () => undefined);
  const gone = new Promise((resolve) => {
    child.once('error', resolve);
    child.once('close', resolve);
  });
  const lines = createInterface({ input: child.stdout });
  const nextLine = (timeoutMs, what) =>
    new Promise((resolve, reject) => {
      const fail = () => reject(new Error(`${what}\n${said}`));
      const timer = setTimeout(fail, timeoutMs);
      void gone.then(fail);
      lines.once('line', (line) => {
        clearTimeout(timer);
        resolve(line);
      });
    });
  const kill = () => {
    try {
      process.kill(child.pid, 'SIGKILL');
    } catch {
      // It ended in this moment.
    }
  };
  const addresses = await nextLine(START_TIMEOUT_MS, 'the media stack did not start').catch((error) => {
    kill();
    throw error;
  });
  return {
    env: { [ADDRESSES]: addresses },
    async leftovers() {
      const answer = nextLine(LEFTOVERS_TIMEOUT_MS, 'the media stack did not say what is left on it');
      child.stdin.end('leftovers\n');
      try {
        const { rooms, calls } = JSON.parse(await answer);
        await gone;
        return [...rooms.map((room) => `room ${room}`), ...(calls ? [`calls: ${calls}`] : [])];
      } finally {
        kill();
      }
    },
  };
}
