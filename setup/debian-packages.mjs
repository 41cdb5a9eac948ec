import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, join } from 'node:path';
import { CommandFailed, outputOf, PROJECT, runCommand } from './run-command.mjs';

/** Where packages are unpacked without root; src/platform/engine-programs.ts looks there too. */
export const UNPACKED = join(PROJECT, '.cache/debian');
const PRIVATE_APT = join(PROJECT, '.cache/apt');

/** A package is needed only where its program or file is missing, wherever the machine got it from. */
const NEEDED = {
  build: [
    { name: 'cmake', program: 'cmake' },
    { name: 'g++', program: 'g++' },
    { name: 'make', program: 'make' },
  ],
  engines: [
    { name: 'pocketsphinx', program: 'pocketsphinx_continuous' },
    { name: 'pocketsphinx-en-us', file: '/usr/share/pocketsphinx/model/en-us/cmudict-en-us.dict' },
    { name: 'espeak-ng', program: 'espeak-ng' },
  ],
  models: [
    { name: 'python3', program: 'python3' },
    { name: 'python3-pip', program: 'pip3' },
  ],
  recordings: [
    { name: 'pocketsphinx-testdata', file: '/usr/share/pocketsphinx/test/data/goforward.raw' },
    { name: 'sox', program: 'sox' },
  ],
  // Rooms and telephones for tests; the -dev packages are what livekit-sip is built with and bring what it runs with.
  stack: [
    { name: 'redis-server', program: 'redis-server', variable: 'STACK_REDIS' },
    { name: 'sip-tester', program: 'sipp', variable: 'STACK_SIPP' },
    { name: 'baresip-core', program: 'baresip', variable: 'STACK_BARESIP' },
    { name: 'pkg-config', program: 'pkg-config', variable: 'STACK_LIVEKIT_SIP' },
    { name: 'libopus-dev', file: '/usr/include/opus/opus.h', variable: 'STACK_LIVEKIT_SIP' },
    { name: 'libopusfile-dev', file: '/usr/include/opus/opusfile.h', variable: 'STACK_LIVEKIT_SIP' },
    { name: 'libsoxr-dev', file: '/usr/include/soxr.h', variable: 'STACK_LIVEKIT_SIP' },
  ],
};

const GROUPS = {
  start: ['build', 'engines', 'models'],
  demo: ['build', 'engines', 'models', 'recordings'],
  test: ['build', 'engines', 'models', 'recordings'],
  bench: ['build', 'engines', 'models', 'recordings'],
  stack: ['stack'],
};

/**
 * Names of the Debian packages that this purpose needs and the machine lacks. A program that the environment names
 * needs no package.
 */
export function missingPackages(purpose) {
  return GROUPS[purpose]
    .flatMap((group) => NEEDED[group])
    .filter((need) => !need.variable || !process.env[need.variable])
    .filter((need) => (need.program ? !hasProgram(need.program) : !hasFile(need.file)))
    .map((need) => need.name);
}

/** Environment in which unpacked build tools find each other, their libraries and headers. */
export function unpackedEnvironment() {
  if (!existsSync(UNPACKED)) return {};
  const triplets = ['x86_64-linux-gnu', 'aarch64-linux-gnu'];
  // The folders below a triplet are those of packages that use the alternatives system or a folder of their own.
  const libraries = triplets
    .flatMap((name) => ['', '/blas', '/lapack', '/pulseaudio'].map((own) => `usr/lib/${name}${own}`))
    .concat(
      triplets.map((name) => `lib/${name}`),
      'usr/lib',
    )
    .map((folder) => join(UNPACKED, folder))
    .filter((folder) => existsSync(folder));
  const headers = ['usr/include', ...triplets.map((name) => `usr/include/${name}`)]
    .map((folder) => join(UNPACKED, folder))
    .filter((folder) => existsSync(folder));
  // -idirafter and not CPATH: the C++ headers reach the C ones through #include_next, which only looks further down.
  const afterFlags = headers.map((folder) => `-idirafter ${folder}`).join(' ');
  const linkFlags = libraries.map((folder) => `-B${folder} -L${folder}`).join(' ');
  return {
    PATH: `${process.env.PATH}${delimiter}${join(UNPACKED, 'usr/bin')}`,
    LD_LIBRARY_PATH: [...libraries, process.env.LD_LIBRARY_PATH].filter(Boolean).join(':'),
    PYTHONPATH: [join(UNPACKED, 'usr/lib/python3/dist-packages'), process.env.PYTHONPATH]
      .filter(Boolean)
      .join(':'),
    ...(headers.length > 0 ? { CXXFLAGS: `${afterFlags} ${linkFlags}`.trim(), LDFLAGS: linkFlags } : {}),
  };
}

/** Installs the missing packages: with apt as root, else by unpacking them into `.cache/debian`. */
export async function installPackages(purpose, { say }) {
  const missing = missingPackages(purpose);
  if (missing.length === 0) return;
  if (!hasProgram('apt-get') || !hasProgram('dpkg-deb')) {
    throw Object.assign(new Error('This is not Debian or Ubuntu: there is no apt-get here.'), {
      advice: `install by hand what these Debian packages hold, so that their programs are in PATH: ${missing.join(' ')}.`,
    });
  }
  if (process.getuid() === 0) await installAsRoot(missing, say);
  else await unpackAsUser(missing, say);
  const still = missingPackages(purpose);
  if (still.length > 0)
    throw new Error(`apt finished, and yet these are not to be found: ${still.join(' ')}`);
}

async function installAsRoot(missing, say) {
  const env = { DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C' };
  const install = () =>
    runCommand('apt-get', ['install', '-y', '--no-install-recommends', ...missing], { env, say });
  const update = () => {
    say('refreshing the package lists (apt-get update)');
    return runCommand('apt-get', ['update'], { env, say });
  };
  if (!hasLists('/var/lib/apt/lists')) {
    await update();
    return install();
  }
  try {
    await install();
  } catch (error) {
    // Old lists name versions that the mirror no longer has; fresh ones cure that and nothing else does.
    if (!(error instanceof CommandFailed)) throw error;
    await update();
    await install();
  }
}

/**
 * A plain user may read the package lists but not write apt's folders, so apt gets folders of its own. The system's
 * status file tells which dependencies are there already; only the missing ones are fetched and unpacked.
 */
async function unpackAsUser(missing, say) {
  for (const folder of ['lists/partial', 'cache/archives/partial', 'debs']) {
    mkdirSync(join(PRIVATE_APT, folder), { recursive: true });
  }
  mkdirSync(UNPACKED, { recursive: true });
  const ownLists = join(PRIVATE_APT, 'lists');
  const options = (lists) =>
    [
      `Dir::State=${PRIVATE_APT}`,
      `Dir::State::lists=${lists}`,
      'Dir::State::status=/var/lib/dpkg/status',
      `Dir::Cache=${join(PRIVATE_APT, 'cache')}`,
      'Debug::NoLocking=1',
      'APT::Sandbox::User=',
    ].flatMap((option) => ['-o', option]);
  const fetchFrom = async (lists) => {
    const plan = outputOf('apt-get', [
      ...options(lists),
      'install',
      '-s',
      '--no-install-recommends',
      ...missing,
    ]);
    const names = [...(plan ?? '').matchAll(/^Inst (\S+)/gm)].map((match) => match[1]);
    if (names.length === 0)
      throw new CommandFailed(`apt-get install -s ${missing.join(' ')}`, 'found no way to install', []);
    say(`fetching ${names.length} packages, to be unpacked into .cache/debian (this user is not root)`);
    await runCommand('apt-get', [...options(lists), 'download', ...names], {
      say,
      cwd: join(PRIVATE_APT, 'debs'),
    });
  };
  const refresh = async () => {
    say('refreshing the package lists into .cache/apt');
    await runCommand('apt-get', [...options(ownLists), 'update'], { say });
  };
  if (hasLists('/var/lib/apt/lists')) {
    try {
      await fetchFrom('/var/lib/apt/lists');
    } catch (error) {
      if (!(error instanceof CommandFailed)) throw error;
      await refresh();
      await fetchFrom(ownLists);
    }
  } else {
    await refresh();
    await fetchFrom(ownLists);
  }
  const debs = readdirSync(join(PRIVATE_APT, 'debs')).filter((name) => name.endsWith('.deb'));
  for (const deb of debs) {
    await runCommand('dpkg-deb', ['-x', join(PRIVATE_APT, 'debs', deb), UNPACKED], { say });
  }
  pointLinkerScriptsHere();
}

/** `libc.so` and `libm.so` are text that names absolute paths; the unpacked ones must name unpacked files. */
function pointLinkerScriptsHere() {
  for (const triplet of ['x86_64-linux-gnu', 'aarch64-linux-gnu']) {
    for (const name of ['libc.so', 'libm.so']) {
      const script = join(UNPACKED, 'usr/lib', triplet, name);
      if (!existsSync(script)) continue;
      const text = readFileSync(script, 'latin1');
      if (text.startsWith('\x7fELF')) continue;
      const pointed = text.replace(/(?<=[\s(])\/(?:usr\/)?lib(?:64)?\/[^\s)]+/g, (path) =>
        existsSync(join(UNPACKED, path)) ? join(UNPACKED, path) : path,
      );
      writeFileSync(script, pointed, 'latin1');
    }
  }
}

function hasLists(folder) {
  try {
    return readdirSync(folder).some((name) => name.includes('_Packages'));
  } catch {
    return false;
  }
}

function hasProgram(name) {
  const folders = [...(process.env.PATH ?? '').split(delimiter), join(UNPACKED, 'usr/bin')];
  return folders.some((folder) => {
    try {
      const path = realpathSync(join(folder, name));
      accessSync(path, constants.X_OK);
      return folder !== '';
    } catch {
      return false;
    }
  });
}

function hasFile(path) {
  return existsSync(path) || existsSync(join(UNPACKED, path));
}
