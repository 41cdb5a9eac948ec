import { createHash } from 'node:crypto';
import { accessSync, constants, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, isAbsolute, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { UNPACKED, unpackedEnvironment } from './debian-packages.mjs';
import { outputOf, PROJECT, runCommand } from './run-command.mjs';

/**
 * The programs of the media stack that tests and `demo --sip` run against. Two are Go programs without a Debian
 * package: they are built here, from the go.mod and go.sum of `test/stack/<name>`, into a folder outside the clone
 * that every clone of the machine shares. The others are Debian's.
 */
const BUILT = [
  {
    name: 'livekit-server',
    variable: 'STACK_LIVEKIT_SERVER',
    module: 'github.com/livekit/livekit-server',
    command: 'cmd/server',
  },
  {
    name: 'livekit-sip',
    variable: 'STACK_LIVEKIT_SIP',
    module: 'github.com/livekit/sip',
    command: 'cmd/livekit-sip',
  },
];
const INSTALLED = [
  { name: 'redis-server', variable: 'STACK_REDIS' },
  { name: 'sipp', variable: 'STACK_SIPP' },
  { name: 'baresip', variable: 'STACK_BARESIP' },
];

/** The modules above ask for this language version; an older Go with a pinned toolchain refuses them. */
const OLDEST_GO = [1, 26];

/**
 * Where each program is, and what is missing, as sentence parts. A variable of the environment (`STACK_LIVEKIT_SERVER`
 * and so on) names a program of one's own and goes before everything else.
 *
 * @returns {{paths: Record<string, string>, missing: string[], off: boolean, required: boolean,
 *   env: Record<string, string>}} `env` lets programs that were unpacked without root find their libraries
 */
export function stackPrograms() {
  const paths = {};
  const missing = [];
  for (const program of [...BUILT, ...INSTALLED]) {
    const own = process.env[program.variable];
    const path = own || (program.module ? builtPath(program) : installedPath(program.name));
    if (path && isProgram(path)) paths[program.name] = path;
    else if (own) missing.push(`${program.name} (${program.variable} names no program)`);
    else missing.push(program.name);
  }
  const [off, required] = ['off', 'required'].map((word) => process.env.STACK === word);
  return { paths, missing, off, required, env: unpackedEnvironment() };
}

/** Names of the programs that have to be built on this machine; those with a path in the environment do not. */
export function unbuiltPrograms() {
  return BUILT.filter((program) => !process.env[program.variable] && !isProgram(builtPath(program)));
}

/** A sentence that says why nothing can be built here, or ''. */
export function goTrouble() {
  const version = /go(\d+)\.(\d+)/.exec(outputOf('go', ['version'], goEnvironment()) ?? '');
  const wanted = `the Go toolchain ${OLDEST_GO.join('.')} or newer`;
  if (!version)
    return `${wanted} is needed to build livekit-server and livekit-sip, and there is no go in PATH`;
  const [major, minor] = [Number(version[1]), Number(version[2])];
  if (major > OLDEST_GO[0] || (major === OLDEST_GO[0] && minor >= OLDEST_GO[1])) return '';
  return `${wanted} is needed to build livekit-server and livekit-sip, and this is Go ${major}.${minor}`;
}

/** A registry that fails one of some hundred downloads answers the next time; what came is kept by Go. */
const BUILD_TRIES = 3;
const BUILD_PAUSE_MS = 5_000;

/** Builds one program into the cache; the rename at the end makes a half-built one invisible to others. */
export async function buildProgram(program, { say }) {
  const target = builtPath(program);
  const folder = join(PROJECT, 'test/stack', program.name);
  const unfinished = `${target}.${process.pid}`;
  mkdirSync(join(target, '..'), { recursive: true });
  const args = ['build', '-trimpath', '-ldflags', '-s -w', '-o', unfinished];
  const env = { ...unpackedEnvironment(), ...cgoEnvironment(), ...goEnvironment() };
  try {
    for (let tried = 1; ; tried++) {
      try {
        await runCommand('go', [...args, `${program.module}/${program.command}`], { cwd: folder, env, say });
        break;
      } catch (error) {
        if (tried === BUILD_TRIES) throw error;
        say(`the build of ${program.name} failed (${error.message.split('\n')[0]}); it is tried again`);
        await setTimeout(BUILD_PAUSE_MS);
      }
    }
    renameSync(unfinished, target);
  } finally {
    rmSync(unfinished, { force: true });
  }
}

/**
 * Everything that a build needs is named with its hash in the committed go.sum: a module that is not in there is an
 * error and never a question to the checksum database, and the toolchain is the machine's.
 */
function goEnvironment() {
  return { GOFLAGS: '-mod=readonly -buildvcs=false', GOSUMDB: 'off', GOWORK: 'off', GOTOOLCHAIN: 'local' };
}

/** Lets the C parts of livekit-sip find libraries that were unpacked without root. */
function cgoEnvironment() {
  const env = unpackedEnvironment();
  if (!env.LDFLAGS) return {};
  const folders = ['x86_64-linux-gnu', 'aarch64-linux-gnu'].map((name) =>
    join(UNPACKED, 'usr/lib', name, 'pkgconfig'),
  );
  return {
    PKG_CONFIG_PATH: [...folders, join(UNPACKED, 'usr/share/pkgconfig')].join(delimiter),
    PKG_CONFIG_SYSROOT_DIR: UNPACKED,
    CGO_CFLAGS: `-O2 ${env.CXXFLAGS}`,
    CGO_LDFLAGS: `-O2 ${env.LDFLAGS}`,
  };
}

/** The name holds the version and the hash of the pinned module list, so that two clones may differ. */
function builtPath(program) {
  const folder = join(PROJECT, 'test/stack', program.name);
  const [modules, sums] = ['go.mod', 'go.sum'].map((name) => readFileSync(join(folder, name), 'utf8'));
  const version = new RegExp(`${program.module} v(\\S+)`).exec(modules)?.[1];
  const hash = createHash('sha256').update(`${modules}\0${sums}`).digest('hex').slice(0, 12);
  return join(builtFolder(), `${program.name}-${version}-${hash}-${process.arch}`);
}

/** Outside the clone, so that every clone of the machine shares what took minutes. */
export function builtFolder() {
  const cache = process.env.XDG_CACHE_HOME;
  const root = cache && isAbsolute(cache) ? cache : join(homedir(), '.cache');
  return join(root, 'trunkline/stack');
}

function installedPath(name) {
  const folders = [...(process.env.PATH ?? '').split(delimiter).filter(Boolean), join(UNPACKED, 'usr/bin')];
  return folders.map((folder) => join(folder, name)).find(isProgram);
}

function isProgram(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
