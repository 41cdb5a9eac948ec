import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import t from 'tap';
import { obtainModel } from '../../src/cli/obtain-model.ts';
import { type ModelEntry, modelEntry, sha256OfFile } from '../../src/platform/model-files.ts';
import { projectPath } from '../../src/platform/project-paths.ts';

const fixture = fileURLToPath(
  new URL(`./fixtures/run-models-command.${import.meta.url.endsWith('.ts') ? 'ts' : 'js'}`, import.meta.url),
);
const content = Buffer.from('the content of a model, as far as hashes are concerned');
const silent = () => undefined;

t.test('trunkline models places what is missing, says so, and does nothing the second time', async (t) => {
  const folder = t.testdir({});
  await copyFile(projectPath('models/smart-turn-v3.2-cpu.onnx'), join(folder, 'smart-turn-v3.2-cpu.onnx'));
  const looked = await run(['--check'], folder);
  t.equal(looked.code, 1, 'voice activity is missing');
  t.match(looked.stdout, /silero-vad 6: missing/);
  t.same(await readdir(folder), ['smart-turn-v3.2-cpu.onnx'], 'a check changes nothing');

  const placed = await run([], folder);
  t.equal(placed.code, 0, placed.stderr);
  t.match(placed.stdout, /placed, from npm package @ricky0123\/vad-web 0\.0\.31; its hash is right/);
  t.match(placed.stdout, /All models are in place/);
  t.same((await readdir(folder)).length, 2, 'no half file is left');

  const again = await run(['--json'], folder);
  t.equal(again.code, 0);
  const answer = JSON.parse(again.stdout);
  t.equal(answer.ok, true);
  t.same(
    answer.models.map((model: { state: string; placedBy: string | null }) => [model.state, model.placedBy]),
    [
      ['present', null],
      ['present', null],
    ],
  );
});

t.test('a missing turn model is a warning, and a failure where models are required', async (t) => {
  const folder = t.testdir({});
  await copyFile(projectPath('models/silero_vad_v6.onnx'), join(folder, 'silero_vad_v6.onnx'));
  const optional = await run(['--check'], folder);
  t.equal(optional.code, 0);
  t.match(
    optional.stdout,
    /WARNING: smart-turn is not in place\. Calls work, but end turns by silence alone/,
  );
  t.equal((await run(['--check', '--required'], folder)).code, 1);
  t.equal((await run(['--check'], folder, { MODELS: 'required' })).code, 1);
});

t.test('help, a wrong argument and a wrong setting have their own exit codes', async (t) => {
  const help = await run(['--help'], t.testdirName);
  t.equal(help.code, 0);
  t.match(help.stdout, /Usage: trunkline models/);
  const wrong = await run(['--bogus'], t.testdirName);
  t.equal(wrong.code, 2);
  t.match(wrong.stderr, /--bogus/);
  t.equal((await run(['--check'], t.testdirName, { MODELS: 'perhaps' })).code, 78);
});

t.test('a download is placed only when its hash is right, and each failed way has a sentence', async (t) => {
  const server = createServer((request, response) => {
    if (request.url === '/right') response.end(content);
    else if (request.url === '/wrong') response.end(Buffer.alloc(content.length));
    else if (request.url === '/endless') response.end(Buffer.alloc(5_000_000));
    else response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  const folder = t.testdir({});
  const from = (path: string) =>
    obtainModel(entryOf({ url: `http://127.0.0.1:${port}${path}` }), folder, silent);

  t.match(await from('/wrong'), { placedBy: null, failures: [/does not have the hash/] });
  t.match(await from('/endless'), { placedBy: null, failures: [/more than the expected 54 bytes/] });
  t.match(await from('/nothing'), { placedBy: null, failures: [/answered with status 404/] });
  const closed = await obtainModel(entryOf({ url: 'http://127.0.0.1:1/x' }), folder, silent);
  t.match(closed, { placedBy: null, failures: [/address http:\/\/127\.0\.0\.1:1\/x: it cannot be reached/] });
  t.same(await readdir(folder), [], 'nothing of it stays');
  t.match(await from('/right'), { placedBy: 'url', failures: [] });
  t.ok((await readFile(join(folder, 'test-model.onnx'))).equals(content));
});

t.test('the Python package is downloaded by pip, its wheel checked, and one file taken out', async (t) => {
  const wheelName = 'trunkline_test_model-1.0.0-py3-none-any.whl';
  const folder = t.testdir({ index: {}, target: {} });
  const index = join(folder, 'index');
  await makeWheel(index, wheelName);
  // pip reads its options from the environment as well: no index, only this folder.
  const before = { ...process.env };
  process.env.PIP_NO_INDEX = '1';
  process.env.PIP_FIND_LINKS = index;
  t.teardown(() => {
    process.env = before;
  });
  const python = {
    package: 'trunkline-test-model',
    version: '1.0.0',
    wheel: wheelName,
    wheelSha256: await sha256OfFile(join(index, wheelName)),
    member: 'inside/test-model.onnx',
  };
  const target = join(folder, 'target');
  t.same(await obtainModel(entryOf({ python }), target, silent), { placedBy: 'python', failures: [] });
  t.ok((await readFile(join(target, 'test-model.onnx'))).equals(content));

  const forged = await obtainModel(
    entryOf({ python: { ...python, wheelSha256: '0'.repeat(64) } }),
    target,
    silent,
  );
  t.match(forged, { placedBy: null, failures: [/does not have the hash of models\/manifest\.json/] });
  const unknown = await obtainModel(entryOf({ python: { ...python, version: '9.9.9' } }), target, silent);
  t.match(unknown, {
    placedBy: null,
    failures: [/Python package trunkline-test-model 9\.9\.9: .*ended with code 1/],
  });

  process.env.PATH = '';
  const without = await obtainModel(entryOf({ python }), target, silent);
  t.match(without, { placedBy: null, failures: [/install the Debian packages python3 and python3-pip/] });
});

/** An entry for the test's content, to be had only in the given way. */
function entryOf(origin: ModelEntry['origin']): ModelEntry {
  return {
    ...modelEntry('smart-turn'),
    file: 'test-model.onnx',
    bytes: content.length,
    sha256: createHash('sha256').update(content).digest('hex'),
    origin,
  };
}

/** A wheel as small as pip accepts, written by Python's own zip module. */
async function makeWheel(folder: string, name: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'content'), content);
  const script = `
import sys, zipfile
folder, name = sys.argv[1:]
info = "trunkline_test_model-1.0.0.dist-info"
with zipfile.ZipFile(f"{folder}/{name}", "w") as wheel:
    wheel.write(f"{folder}/content", "inside/test-model.onnx")
    wheel.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\\nName: trunkline-test-model\\nVersion: 1.0.0\\n")
    wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
    wheel.writestr(f"{info}/RECORD", "")
`;
  await promisify(execFile)('python3', ['-c', script, folder, name]);
}

function run(args: string[], modelDir: string, env: Record<string, string> = {}) {
  return new Promise<{ code: number | null; stdout: string; stderr: string }>((resolve) => {
    const child = execFile(
      process.execPath,
      [fixture, ...args],
      { env: { PATH: process.env.PATH ?? '', MODEL_DIR: modelDir, ...env } },
      (_error, stdout, stderr) => resolve({ code: child.exitCode, stdout, stderr }),
    );
  });
}
