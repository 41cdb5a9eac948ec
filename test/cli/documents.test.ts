import { parseEnv } from 'node:util';
import t from 'tap';
import { ERRORS } from '../../src/contracts/error-catalogue.ts';
import { SETTING_SECRET_NAMES, SETTING_VALUE_NAMES } from '../../src/contracts/setting-names.ts';
import { readSettings } from '../../src/platform/settings.ts';
import { projectFiles, readProjectFile } from '../harness/source-files.ts';

t.test('docs/errors.md and the error catalogue name the same codes with the same status', async (t) => {
  const rows = [
    ...readProjectFile('docs/errors.md').matchAll(
      /^\| `(\w+)` \| (\d+) \| (\w+) \| ([^|]+) \| ([^|]+) \|$/gm,
    ),
  ];
  const documented = rows.map(([, code, status, owner, title]) => ({
    code,
    status: Number(status),
    owner,
    title,
  }));
  const catalogue = Object.entries(ERRORS).map(([code, entry]) => ({ code, ...entry }));
  const byCode = (a: { code?: string | undefined }, b: { code?: string | undefined }) =>
    String(a.code) < String(b.code) ? -1 : 1;
  t.same(documented.sort(byCode), catalogue.sort(byCode));
  for (const row of rows) t.ok((row[5] ?? '').trim().length > 10, `${row[1]} says what to do`);
});

/** Names of all settings that the code reads. */
function settingsOfCode(): string[] {
  const source = readProjectFile('src/platform/settings.ts');
  const boot = [...source.matchAll(/\(\s*env,\s*'([A-Z][A-Z0-9_]+)'/g)].map((match) => match[1] as string);
  const seeds = [...SETTING_VALUE_NAMES, ...SETTING_SECRET_NAMES].map((name) => name.toUpperCase());
  return [...new Set([...boot, ...seeds])].sort();
}

t.test('settings.sample.env explains every setting and no other', async (t) => {
  const sample = readProjectFile('settings.sample.env');
  const lines = sample.split('\n');
  const named = lines.flatMap((line) => /^#?([A-Z][A-Z0-9_]+)=/.exec(line)?.[1] ?? []);
  t.ok(named.length > 10);
  t.same([...named].sort(), settingsOfCode());
  for (const [index, line] of lines.entries()) {
    if (/^#?[A-Z][A-Z0-9_]+=/.test(line))
      t.match(lines[index - 1], /^# ./, `${line} has a sentence above it`);
  }
});

t.test('the sample settings are the defaults', async (t) => {
  const sample = readSettings(parseEnv(readProjectFile('settings.sample.env')), '/folder', '/install');
  t.same(sample, readSettings({}, '/folder', '/install'));
});

t.test('every link and every path in the documents leads somewhere', async (t) => {
  const documents = projectFiles(['.md']).filter((file) => !file.startsWith('models/'));
  t.ok(documents.length >= 9);
  const files = new Set(projectFiles(['']));
  const exists = (path: string) =>
    files.has(path) || [...files].some((file) => file.startsWith(`${path.replace(/\/$/, '')}/`));
  for (const document of documents) {
    const text = readProjectFile(document);
    const folder = document.includes('/') ? document.slice(0, document.lastIndexOf('/')) : '.';
    for (const [, target = ''] of text.matchAll(/\]\(([^)#]+)[^)]*\)/g)) {
      if (/^https?:/.test(target)) continue;
      const path = new URL(target, `file:///${folder}/`).pathname.slice(1).replace(/^\.\//, '');
      if (!exists(path)) t.fail(`${document} links to ${target}, which is not there`);
    }
    for (const [, path = ''] of text.matchAll(
      /`((?:src|test|docs|systemd|native|models|bench|setup)\/[\w./-]+)`/g,
    )) {
      // What a build or a run makes is named, too.
      if (!exists(path) && !/\.onnx$|^native\/build|^bench\/results/.test(path))
        t.fail(`${document} names ${path}, which is not there`);
    }
  }
});

t.test('the README names exactly two commands to begin with, and package.json has them', async (t) => {
  const readme = readProjectFile('README.md');
  const block = /## Two commands[\s\S]*?```sh\n([\s\S]*?)```/.exec(readme)?.[1] ?? '';
  const commands = block
    .trim()
    .split('\n')
    .map((line) => line.replace(/\s+#.*$/, ''));
  t.same(commands, ['npm run demo', 'npm test']);
  const { scripts } = JSON.parse(readProjectFile('package.json')) as { scripts: Record<string, string> };
  t.ok(scripts.demo && scripts.test);
});
