import { spawn, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** The folder that holds package.json. */
export const PROJECT = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '');

/** Lines of a command's output that are kept for the case that it fails. */
const KEPT_LINES = 25;
/** A step that is silent for longer than this looks hung, so it says how long it has been at work. */
const SIGN_OF_LIFE_MS = 10_000;

/** A command that ended with anything but 0. */
export class CommandFailed extends Error {
  constructor(command, outcome, lastLines) {
    super(`${command}: ${outcome}`);
    this.command = command;
    this.outcome = outcome;
    this.lastLines = lastLines;
  }
}

/**
 * Runs a program to its end in the project folder; its output is kept and shown only if it fails, or as it comes
 * where `show` says so. Rejects with {@link CommandFailed}.
 */
export function runCommand(
  program,
  args,
  { env = {}, say = () => undefined, show = false, cwd = PROJECT } = {},
) {
  const startedMs = Date.now();
  const shown = [program, ...args].join(' ');
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      cwd,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const kept = [];
    const keep = (line) => {
      if (line.trim() === '') return;
      kept.push(line.slice(0, 400));
      if (kept.length > KEPT_LINES) kept.shift();
      if (show) say(line);
    };
    for (const stream of [child.stdout, child.stderr]) eachLine(stream, keep);
    const sign = setInterval(() => say(`still at it after ${secondsSince(startedMs)} s`), SIGN_OF_LIFE_MS);
    child.on('error', (error) => {
      clearInterval(sign);
      reject(
        new CommandFailed(
          shown,
          error.code === 'ENOENT' ? 'the program is not installed' : error.message,
          kept,
        ),
      );
    });
    child.on('close', (code, signal) => {
      clearInterval(sign);
      if (code === 0) resolve();
      else
        reject(
          new CommandFailed(shown, signal ? `ended by ${signal}` : `ended with exit code ${code}`, kept),
        );
    });
  });
}

/** What a short program prints, or null when it fails. */
export function outputOf(program, args, env = {}) {
  const result = spawnSync(program, args, {
    cwd: PROJECT,
    env: { ...process.env, LC_ALL: 'C', ...env },
    encoding: 'utf8',
    maxBuffer: 16 * 1_048_576,
  });
  return result.status === 0 ? result.stdout : null;
}

export function secondsSince(startedMs) {
  return ((Date.now() - startedMs) / 1000).toFixed(1);
}

function eachLine(stream, take) {
  let rest = '';
  stream.setEncoding('utf8');
  stream.on('data', (text) => {
    // Progress bars rewrite their line with carriage returns; each state counts as a line.
    const lines = (rest + text).split(/\r?\n|\r/);
    rest = lines.pop() ?? '';
    for (const line of lines) take(line);
  });
  stream.on('end', () => take(rest));
}
