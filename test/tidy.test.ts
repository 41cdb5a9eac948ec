import t from 'tap';
import { projectFiles, readProjectFile } from './harness/source-files.ts';

/**
 * House rules that a reader of one file cannot see being broken in another. Each rule names what to write instead.
 * Words that a rule forbids are put together from parts here, so that this file keeps the rules too.
 */
interface Rule {
  name: string;
  files: RegExp;
  except?: RegExp;
  forbidden: RegExp;
  instead: string;
}

const word = (...parts: string[]) => parts.join('');

const RULES: readonly Rule[] = [
  {
    name: 'slots keep time by absolute deadlines',
    files: /^src\/slot\//,
    forbidden: new RegExp(word('set', 'Interval\\(')),
    instead: 'a timer for the next absolute deadline; an interval drifts and bunches up',
  },
  {
    name: 'nothing but the command line prints',
    files: /^src\//,
    except: /^src\/cli\//,
    forbidden: new RegExp(word('\\bcons', 'ole\\.')),
    instead: 'the logger of platform/logger.ts',
  },
  {
    name: 'slots do not use fetch',
    files: /^src\/(slot|providers)\//,
    // The SDKs of the language models are built on it; a slot pays only for a bot that uses one.
    except: /^src\/providers\/llm\/vendor-connection\.ts$/,
    forbidden: /(?<![.\w])fetch\(/,
    instead: 'httpCall of platform/http-client.ts: the first fetch costs 6 MB in each slot',
  },
  {
    name: 'no leftovers',
    files: /\.(ts|mjs|cc|h|md|txt|service|env|sh)$/,
    // It reads the word in the output of tests.
    except: /^test\/harness\/read-tap\.mjs$/,
    forbidden: new RegExp(
      `\\b(${word('TO', 'DO')}|${word('FIX', 'ME')}|${word('XX', 'X')}|${word('HA', 'CK')})\\b`,
    ),
    instead: 'do it now, or open an issue',
  },
  {
    name: 'tests run',
    files: /^test\/.*\.ts$/,
    forbidden: new RegExp(`\\.(${word('sk', 'ip')}|${word('on', 'ly')}|${word('to', 'do')})\\(`),
    instead: 'a test that runs, or none',
  },
  {
    name: 'no registry host stands in a file',
    files: /./,
    except: /^(test\/tidy\.test\.ts)$/,
    forbidden: new RegExp(
      `${word('npm', 'js\\.(org|com)')}|${word('py', 'pi\\.org')}|${word('python', 'hosted')}|${word('yarn', 'pkg\\.com')}|${word('arti', 'factory')}`,
      'i',
    ),
    instead: 'the name of the package; which registry serves it is the machine’s business',
  },
  {
    name: 'no path of one machine stands in a file',
    files: /./,
    forbidden: new RegExp(`${word('/wo', 'rk/')}(main|shared|briefs)|${word('/ro', 'ot/')}`),
    instead: 'a path from projectPath, a setting or a temporary folder',
  },
  {
    name: 'no environment is read but at the edges',
    files: /^src\/(slot|control|main|providers|contracts)\//,
    except: /^src\/(main\/main-process|main\/slots\/slot-process)\.ts$/,
    forbidden: /process\.env\b/,
    instead: 'a setting, read once in platform/settings.ts and passed on',
  },
];

const TEXT = [
  '.ts',
  '.mjs',
  '.json',
  '.md',
  '.txt',
  '.cc',
  '.h',
  '.env',
  '.service',
  '.sh',
  '.conf',
  '.yaml',
  'CMakeLists.txt',
  '.npmrc',
  '.taprc',
  'Caddyfile',
];

t.test('the house rules hold in every file', async (t) => {
  const files = projectFiles(TEXT);
  t.ok(files.length > 100, `${files.length} files were read`);
  for (const file of files) {
    const lines = readProjectFile(file).split('\n');
    for (const rule of RULES) {
      if (!rule.files.test(file) || rule.except?.test(file)) continue;
      const at = lines.findIndex((line) => rule.forbidden.test(line));
      if (at !== -1) t.fail(`${file}:${at + 1}: ${rule.name}; instead: ${rule.instead}`);
    }
  }
});

t.test('every rule is able to fail', async (t) => {
  const samples: Record<string, string> = {
    'slots keep time by absolute deadlines': word('set', 'Interval(() => 1, 20);'),
    'nothing but the command line prints': word('cons', 'ole.log(1);'),
    'slots do not use fetch': 'await fetch(url);',
    'no leftovers': word('// TO', 'DO later'),
    'tests run': word('t.sk', "ip('x')"),
    'no registry host stands in a file': word('https://registry.npm', 'js.org/x'),
    'no path of one machine stands in a file': word('/ro', 'ot/x'),
    'no environment is read but at the edges': 'process.env.HOME',
  };
  for (const rule of RULES) t.match(samples[rule.name] ?? '', rule.forbidden, rule.name);
});

/** A file that outgrows this has two ideas. */
const MAX_LINES = 500;

t.test('no source file is longer than 500 lines', async (t) => {
  for (const file of projectFiles(['.ts', '.mjs', '.cc', '.h'])) {
    const lines = readProjectFile(file).split('\n').length - 1;
    if (lines > MAX_LINES) t.fail(`${file} has ${lines} lines; split it`);
  }
  t.pass('all were counted');
});

t.test('files are named in kebab-case', async (t) => {
  const odd = projectFiles(['.ts', '.mjs']).filter(
    (file) => !/^[a-z0-9]+(-[a-z0-9]+)*(\.test|\.bench)?\.(ts|mjs)$/.test(file.split('/').at(-1) ?? ''),
  );
  t.same(odd, []);
});

t.test('TypeScript files import each other by their own names', async (t) => {
  for (const file of projectFiles(['.ts'], 'src').concat(projectFiles(['.ts'], 'test'))) {
    const wrong = /^import .*from '(\.[^']*(?<!\.ts|\.mjs|\.json))';/m.exec(readProjectFile(file));
    if (wrong) t.fail(`${file} imports "${wrong[1]}" without its ending`);
  }
  t.pass('all were read');
});

interface LockedPackage {
  optionalDependencies?: Record<string, string>;
  integrity?: string;
  resolved?: string;
  link?: boolean;
}

t.test('the lockfile names every optional package, so that npm ci works with any registry', async (t) => {
  const lock = JSON.parse(readProjectFile('package-lock.json')) as {
    packages: Record<string, LockedPackage>;
  };
  for (const [path, entry] of Object.entries(lock.packages)) {
    if (entry.resolved !== undefined) t.fail(`${path} names the place that served it`);
    for (const name of Object.keys(entry.optionalDependencies ?? {})) {
      const known = lock.packages[`${path}/node_modules/${name}`] ?? lock.packages[`node_modules/${name}`];
      if (!known) t.fail(`${name}, optional for ${path}, has no entry; see CONTRIBUTING.md, "The lockfile"`);
    }
  }
  t.pass(`${Object.keys(lock.packages).length} entries were read`);
});
