import { createHash } from 'node:crypto';
import { createReadStream, readFileSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { AppError } from './app-error.ts';
import { projectPath } from './project-paths.ts';

/** The models that calls use; each has an entry in `models/manifest.json`. */
export type ModelName = 'silero-vad' | 'smart-turn';

/** One entry of `models/manifest.json`: what the file is, and where `trunkline models` may take it from. */
export interface ModelEntry {
  name: ModelName;
  version: string;
  file: string;
  bytes: number;
  sha256: string;
  licence: string;
  /** Calls cannot run without an `always` model; without an `optional` one they fall back to a simpler rule. */
  need: 'always' | 'optional';
  contract: string;
  origin: {
    npm?: { package: string; version: string; member: string };
    python?: { package: string; version: string; wheel: string; wheelSha256: string; member: string };
    url?: string;
  };
}

export interface ModelStatus {
  name: ModelName;
  version: string;
  path: string;
  need: ModelEntry['need'];
  state: 'present' | 'missing' | 'wrong_hash';
}

/**
 * The path of a model whose content was checked against the manifest. The check runs once per process and path.
 * Throws `model_missing` with the command that repairs it.
 */
export function loadModelPath(name: ModelName, modelDir: string): Promise<string> {
  const path = join(modelDir, modelEntry(name).file);
  let check = verified.get(path);
  if (!check) {
    check = verify(name, path);
    verified.set(path, check);
    // A failure is not kept: the file may be repaired while this process runs.
    check.catch(() => verified.delete(path));
  }
  return check;
}

/** State of every model of the manifest in `modelDir`; reads and hashes the files, changes nothing. */
export async function modelStatus(modelDir: string): Promise<ModelStatus[]> {
  const found: ModelStatus[] = [];
  for (const entry of modelManifest()) {
    const path = join(modelDir, entry.file);
    found.push({
      name: entry.name,
      version: entry.version,
      path,
      need: entry.need,
      state: await fileState(path, entry),
    });
  }
  return found;
}

/** Whether the file at `path` is exactly the entry's. The size is compared first: it spares most of the hashing. */
export async function fileState(
  path: string,
  entry: Pick<ModelEntry, 'bytes' | 'sha256'>,
): Promise<ModelStatus['state']> {
  let size: number;
  try {
    size = (await stat(path)).size;
  } catch {
    return 'missing';
  }
  if (size !== entry.bytes) return 'wrong_hash';
  return (await sha256OfFile(path)) === entry.sha256 ? 'present' : 'wrong_hash';
}

/** Lower-case hex digest, read as a stream. */
export async function sha256OfFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}

export function modelManifest(): readonly ModelEntry[] {
  if (!manifest) {
    const path = projectPath('models/manifest.json');
    manifest = (JSON.parse(readFileSync(path, 'utf8')) as { models: ModelEntry[] }).models;
  }
  return manifest;
}

export function modelEntry(name: ModelName): ModelEntry {
  const entry = modelManifest().find((candidate) => candidate.name === name);
  if (!entry) throw new AppError('internal', `models/manifest.json has no entry "${name}"; restore the file`);
  return entry;
}

let manifest: ModelEntry[] | undefined;
const verified = new Map<string, Promise<string>>();

async function verify(name: ModelName, path: string): Promise<string> {
  const state = await fileState(path, modelEntry(name));
  if (state === 'present') return path;
  const what =
    state === 'missing'
      ? `the model file ${path} is missing`
      : `the model file ${path} does not match its hash in models/manifest.json`;
  throw new AppError('model_missing', `${what}; run "trunkline models" to place it`, {
    details: { model: name, state },
  });
}
