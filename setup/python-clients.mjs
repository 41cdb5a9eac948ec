import { existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { unpackedEnvironment } from './debian-packages.mjs';
import { outputOf, PROJECT, runCommand } from './run-command.mjs';
import { fingerprint } from './stamps.mjs';

/**
 * The vendors' clients for Python, which tests run against the emulators. They lie in a folder of this clone alone:
 * Python is told of it by PYTHONPATH, and the machine's own packages stay as they are.
 */
const FOLDER = join(PROJECT, '.cache/python-clients');
const REQUIREMENTS = 'test/emulators/python/requirements.txt';

export function hasPythonClients() {
  return existsSync(FOLDER);
}

/** Changes with the packages, and with the Python and the machine that their compiled parts are for. */
export function pythonClientsInputs() {
  const version = outputOf(
    'python3',
    ['-c', 'import sys; print(*sys.version_info[:2])'],
    unpackedEnvironment(),
  );
  return `${fingerprint([REQUIREMENTS])} ${version?.trim() ?? 'no python3'} ${process.arch}`;
}

/** Wheels only, each checked by its hash, and nothing that the list does not name; some 20 MB to fetch. */
export async function installPythonClients({ say }) {
  const unfinished = `${FOLDER}.${process.pid}`;
  const options = [
    '--quiet',
    '--no-input',
    '--disable-pip-version-check',
    '--no-compile',
    '--no-deps',
    '--require-hashes',
    '--only-binary=:all:',
  ];
  try {
    const args = ['-m', 'pip', 'install', ...options, '--target', unfinished, '-r', REQUIREMENTS];
    await runCommand('python3', args, { env: unpackedEnvironment(), say });
    rmSync(FOLDER, { recursive: true, force: true });
    renameSync(unfinished, FOLDER);
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
}
