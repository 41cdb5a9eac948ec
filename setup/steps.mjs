import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { installPackages, missingPackages, unpackedEnvironment } from './debian-packages.mjs';
import { hasPythonClients, installPythonClients, pythonClientsInputs } from './python-clients.mjs';
import { PROJECT, runCommand } from './run-command.mjs';
import { buildProgram, builtFolder, goTrouble, stackPrograms, unbuiltPrograms } from './stack-programs.mjs';
import { filesIn, fingerprint, isCurrent, writeStamp } from './stamps.mjs';
import { copyTextTables, isTextTable } from './text-tables.mjs';

/** What one can set up for; each holds what "start" needs. */
export const PURPOSES = ['start', 'demo', 'test', 'bench', 'stack'];

const at = (path) => join(PROJECT, path);
const launcher = at('trunkline');

/**
 * The steps in order. `plan` answers with a sentence part ("set-up will ...") or nothing when there is nothing to do;
 * `run` does it and may return a note for its closing line.
 */
export function setupSteps(purpose) {
  const packages = packagesStep(purpose === 'stack' ? 'demo' : purpose);
  const steps = [packages, npmStep(), nativeStep(), buildStep(), modelsStep()];
  if (purpose === 'test') steps.push(runnerStep(), pythonStep());
  if (purpose === 'test' || purpose === 'stack') steps.push(stackStep(purpose));
  return steps;
}

function packagesStep(purpose) {
  return {
    name: 'packages',
    title: 'Debian packages',
    advice:
      'look at the lines above; a machine without a package mirror needs the packages installed by hand.',
    plan() {
      const missing = missingPackages(purpose);
      if (missing.length === 0) return '';
      const way =
        process.getuid() === 0 ? 'install with apt' : 'unpack into .cache/debian, as this user is not root,';
      return `${way} the Debian packages ${missing.join(', ')}`;
    },
    run: (context) => installPackages(purpose, context),
  };
}

function npmStep() {
  const inputs = () => fingerprint(['package.json', 'package-lock.json', '.npmrc']) + process.arch;
  const present = () => existsSync(at('node_modules/.package-lock.json')) && existsSync(runtimePath());
  return {
    name: 'npm',
    title: 'npm packages, the pinned Node 22 among them (npm ci)',
    advice: 'check that the package registry can be reached ("npm ping") and that the disk has 2 GB free.',
    plan() {
      if (present() && isCurrent('npm', inputs())) return '';
      return 'install the npm packages of the lockfile into node_modules, the pinned Node 22 among them';
    },
    async run({ say }) {
      const npm = process.env.npm_execpath?.endsWith('.js')
        ? [process.execPath, process.env.npm_execpath]
        : ['npm'];
      const [program, ...first] = npm;
      await runCommand(program, [...first, 'ci', '--no-audit', '--no-fund'], {
        env: { ONNXRUNTIME_NODE_INSTALL: 'skip' },
        say,
      });
      if (!existsSync(runtimePath())) {
        throw new Error(
          `npm ci finished, but ${runtimePath()} is not there: the pinned runtime was left out.`,
        );
      }
      writeStamp('npm', inputs());
    },
  };
}

function nativeStep() {
  const inputs = () => fingerprint(['native'], (file) => !/\/(README|test)/.test(file)) + process.arch;
  const output = at('native/build/audio_kernels.node');
  return {
    name: 'native',
    title: 'audio kernels (native/, C++)',
    advice: 'read the compiler lines above; "rm -r native/build" clears a half-made build folder.',
    plan() {
      return existsSync(output) && isCurrent('native', inputs())
        ? ''
        : 'compile the audio kernels of native/';
    },
    async run({ say }) {
      const env = unpackedEnvironment();
      // A cache made in another folder or by another cmake would be refused; it costs seconds to make anew.
      rmSync(at('native/build/CMakeCache.txt'), { force: true });
      await runCommand('cmake', ['-S', 'native', '-B', 'native/build', '-DCMAKE_BUILD_TYPE=Release'], {
        env,
        say,
      });
      await runCommand('cmake', ['--build', 'native/build', '-j2'], { env, say });
      writeStamp('native', inputs());
    },
  };
}

function buildStep() {
  const sources = ['tsconfig.json', 'src', 'test', 'bench'];
  const isSource = (file) => /\.(ts|json)$/.test(file) || isTextTable(file);
  const inputs = () => fingerprint(sources, isSource);
  return {
    name: 'build',
    title: 'the program (TypeScript into dist/)',
    advice: 'the lines above name the file and line that do not compile.',
    plan() {
      const built = existsSync(at('dist/src/cli/trunkline.js'));
      return built && isCurrent('build', inputs()) ? '' : 'compile the program into dist/';
    },
    async run({ say }) {
      const before = inputs();
      // The compiler trusts its own notes and would not write again what someone deleted.
      if (!existsSync(at('dist/src/cli/trunkline.js'))) rmSync(at('.cache/tsbuildinfo'), { force: true });
      await runCommand(launcher, ['node', 'node_modules/typescript-7/bin/tsc', '-p', '.'], { say });
      copyTextTables();
      removeStaleOutputs();
      writeStamp('build', before);
    },
  };
}

/** Output whose source is gone would still be found by the test run and by imports. */
function removeStaleOutputs() {
  for (const file of filesIn('dist')) {
    const source = file.replace(/^dist\//, '').replace(/\.js(?:\.map)?$/, '.ts');
    if (/\.(ts|txt)$/.test(source) && !existsSync(at(source))) rmSync(at(file));
  }
}

function modelsStep() {
  const required = process.env.MODELS === 'required';
  const files = () =>
    readdirSync(at('models'))
      .filter((name) => name.endsWith('.onnx'))
      .sort()
      .map((name) => `${name} ${statSync(at(`models/${name}`)).size}`)
      .join('\n');
  const inputs = () => `${fingerprint(['models/manifest.json'])}\n${files()}`;
  return {
    name: 'models',
    title: 'speech models',
    advice:
      'the lines above say which way failed; without MODELS=required calls run on the silence rule instead of the turn model.',
    plan() {
      if (isCurrent('models', inputs())) return '';
      return `fetch the speech models into models/ and check their hashes${required ? ' (required)' : ''}`;
    },
    async run({ say }) {
      const args = ['models', ...(required ? ['--required'] : [])];
      await runCommand(launcher, args, { env: unpackedEnvironment(), say, show: true });
      // A model that could not be had leaves no stamp, so that the next set-up tries again.
      if (modelsComplete()) {
        writeStamp('models', inputs());
        return '';
      }
      return 'not every model could be had; the next set-up tries again';
    },
  };
}

function modelsComplete() {
  const manifest = JSON.parse(readFileSync(at('models/manifest.json'), 'utf8'));
  return manifest.models.every((model) => existsSync(at(`models/${model.file}`)));
}

/** tap keeps a generated class of its plugins; made once, so that a first "npx tap" by hand works too. */
function runnerStep() {
  const inputs = () => fingerprint(['.taprc', 'package-lock.json']);
  return {
    name: 'runner',
    title: 'test runner (tap build)',
    advice: 'remove the folder .tap and node_modules/@tapjs/test/test-built, then repeat the step npm.',
    plan: () =>
      existsSync(at('.tap/plugins')) && isCurrent('runner', inputs()) ? '' : 'prepare the test runner',
    async run({ say }) {
      await runCommand(launcher, ['node', 'node_modules/tap/dist/esm/run.mjs', 'build'], { say });
      writeStamp('runner', inputs());
    },
  };
}

function pythonStep() {
  return {
    name: 'python',
    title: "the vendors' clients for Python (pip, wheels by their hashes)",
    advice: 'check that the Python package index can be reached ("pip download websockets").',
    plan: () =>
      hasPythonClients() && isCurrent('python', pythonClientsInputs())
        ? ''
        : "install the vendors' clients for Python into .cache/python-clients (20 MB to fetch)",
    async run(context) {
      await installPythonClients(context);
      writeStamp('python', pythonClientsInputs());
    },
  };
}

/**
 * The media server and the telephones that tests of rooms and SIP run against. A machine that cannot have them can
 * still run the other tests, so that their absence is a failure only for whoever asked for them.
 */
function stackStep(purpose) {
  const { off, required } = stackPrograms();
  const mustBe = required || purpose === 'stack';
  const trouble = () => (unbuiltPrograms().length > 0 ? goTrouble() : '');
  return {
    name: 'stack',
    title: 'media stack (Redis, livekit-server, livekit-sip, sipp, baresip)',
    advice:
      'look at the lines above; STACK_LIVEKIT_SERVER and STACK_LIVEKIT_SIP may name programs of your own, and STACK=off leaves the tests of rooms and SIP out.',
    plan() {
      if (off && !mustBe) return '';
      const [missing, unbuilt] = [missingPackages('stack'), unbuiltPrograms()];
      // The test run says why it leaves tests out; set-up does not fetch what would be of no use.
      if ((missing.length === 0 && unbuilt.length === 0) || (trouble() && !mustBe)) return '';
      const plans = [];
      if (missing.length > 0) plans.push(`install or unpack the Debian packages ${missing.join(', ')}`);
      if (unbuilt.length > 0) {
        const names = unbuilt.map(({ name }) => name).join(' and ');
        plans.push(`build ${names} with Go into ${builtFolder()}, which takes a few minutes`);
      }
      return `have the media stack: ${plans.join(', and ')}`;
    },
    async run(context) {
      try {
        if (trouble()) throw new Error(`${trouble()}.`);
        await installPackages('stack', context);
        for (const program of unbuiltPrograms()) {
          context.say(`building ${program.name}`);
          await buildProgram(program, context);
        }
        return '';
      } catch (error) {
        if (mustBe) throw error;
        return `it could not be had (${error.message.split('\n')[0]}); the next set-up tries again`;
      }
    },
  };
}

function runtimePath() {
  return at(`node_modules/node-linux-${process.arch}/bin/node`);
}
