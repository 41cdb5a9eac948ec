import { execFile } from 'node:child_process';
import { projectPath } from '../../src/platform/project-paths.ts';

/** The command line's entry in the form that this test runs in: source beside source, compiled beside compiled. */
export const CLI_ENTRY = projectPath(
  import.meta.url.endsWith('.ts') ? 'src/cli/trunkline.ts' : 'dist/src/cli/trunkline.js',
);

export interface Ran {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs `trunkline` with these arguments to its end. Settings of the shell stay out. */
export function runCli(args: string[], env: Record<string, string> = {}, timeoutMs = 120_000): Promise<Ran> {
  return new Promise((resolve) => {
    const clean = { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '/tmp', ...env };
    const options = { env: clean, timeout: timeoutMs, maxBuffer: 16 * 1_048_576 };
    execFile(process.execPath, [CLI_ENTRY, ...args], options, (error, stdout, stderr) => {
      const code = error ? (typeof error.code === 'number' ? error.code : -1) : 0;
      resolve({ code, stdout, stderr });
    });
  });
}
