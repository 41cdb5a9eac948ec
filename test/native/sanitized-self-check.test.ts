import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import t from 'tap';
import { projectPath } from '../../src/platform/project-paths.ts';

const run = promisify(execFile);
const STEP_TIMEOUT_MS = 120_000;

t.test('the kernels keep their promises under AddressSanitizer and UBSan', async (t) => {
  const folder = projectPath('native/build-sanitize');
  const options = { timeout: STEP_TIMEOUT_MS, cwd: projectPath('.') };
  const flags = ['-DTRUNKLINE_SANITIZE=ON', '-DCMAKE_BUILD_TYPE=Release'];
  await run('cmake', ['-S', projectPath('native'), '-B', folder, ...flags], options);
  await run('cmake', ['--build', folder], options);
  // A broken promise, a read too far or an overflow ends the program with a code other than 0, which throws here.
  const { stdout, stderr } = await run(`${folder}/self_check`, [], options);
  for (const line of stdout.trim().split('\n')) t.comment(line);
  t.match(stdout, /all promises kept\n$/);
  t.equal(stderr, '');
});
