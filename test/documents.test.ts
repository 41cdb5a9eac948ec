import { posix } from 'node:path';
import t from 'tap';
import { requirementIds } from './harness/requirements.ts';
import { projectFiles, readProjectFile } from './harness/source-files.ts';

/** What a file may cite: requirements, decisions, documents and their headings. */
interface Citable {
  requirements: ReadonlySet<string>;
  decisions: ReadonlySet<string>;
  files: ReadonlySet<string>;
  headingsOf: (file: string) => readonly string[];
}

const CITING = [
  '.ts',
  '.mjs',
  '.md',
  '.json',
  '.cc',
  '.h',
  '.env',
  '.service',
  '.sh',
  '.txt',
  '.conf',
  '.yaml',
];
/** Citations in these are samples, or are made by a registry. */
const EXCEPT = new Set(['test/documents.test.ts', 'package-lock.json']);
/** Where the service unit finds the repository. */
const INSTALLED = '/opt/trunkline/';
/** A section of a public standard is cited with its name in front; any other section is of a page that nobody can open. */
const STANDARD =
  /(?:RFC \d+(?:bis)?|WHATWG HTML,|W3C \w+|SP 800-\d+\w?|, \d[\d.]* and|sections? [\d.]+ and) $/;

/** Comments as running text: a citation may be broken over two lines. */
function flat(text: string): string {
  return text.replace(/\n[ \t]*(?:\*(?!\/)|\/\/)?[ \t]*/g, ' ');
}

/** The address that a heading gets on the web. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}

/** The file of the repository that a name in `file` means, or null. Code names it from the root, a document from beside it too. */
function resolve(name: string, file: string, files: ReadonlySet<string>): string | null {
  const bare = name.startsWith(INSTALLED) ? name.slice(INSTALLED.length) : name;
  const beside = posix.normalize(posix.join(posix.dirname(file), bare));
  const candidates = file.endsWith('.md') ? [beside, bare] : [bare];
  return candidates.find((candidate) => files.has(candidate)) ?? null;
}

/** What a file cites that does not exist, each with a sentence. */
function brokenCitations(file: string, source: string, known: Citable): string[] {
  const text = flat(source);
  const broken: string[] = [];
  for (const [id] of text.matchAll(/\b(?:R\d{1,3}|RT-\d+)\b/g)) {
    if (!known.requirements.has(id)) broken.push(`${id} is no requirement`);
  }
  for (const [id] of text.matchAll(/\bD-\d+\b/g)) {
    if (!known.decisions.has(id)) broken.push(`${id} is no decision`);
  }
  for (const match of text.matchAll(/([\w./-]+\.md)\b(?:#([\w-]+)|\)?, "([^"]+)")?/g)) {
    const [, name = '', anchor, heading] = match;
    const cited = resolve(name, file, known.files);
    if (cited === null) {
      broken.push(`${name} is no document of the repository`);
      continue;
    }
    const headings = known.headingsOf(cited);
    if (anchor !== undefined && !headings.some((one) => anchorOf(one) === anchor)) {
      broken.push(`${cited} has no #${anchor}`);
    }
    if (heading !== undefined && !headings.includes(heading)) {
      broken.push(`${cited} has no heading "${heading}"`);
    }
  }
  for (const match of text.matchAll(/\bsections? \d/g)) {
    if (!STANDARD.test(text.slice(0, match.index))) broken.push(`"${match[0]}" is of no named standard`);
  }
  return broken;
}

const decisions = [...readProjectFile('docs/decisions.md').matchAll(/^\*\*(D-\d+)\. /gm)].map(
  ([, id]) => id ?? '',
);

const known: Citable = {
  requirements: new Set(requirementIds()),
  decisions: new Set(decisions),
  files: new Set(projectFiles(['.md'])),
  headingsOf: (file) =>
    [...readProjectFile(file).matchAll(/^#+ (.+)$/gm)].map(([, heading]) => heading ?? ''),
};

t.test('whatever a file cites is in the repository', async (t) => {
  const files = projectFiles(CITING).filter((file) => !EXCEPT.has(file));
  t.ok(files.length > 100, `${files.length} files were read`);
  for (const file of files) {
    for (const fault of brokenCitations(file, readProjectFile(file), known)) t.fail(`${file}: ${fault}`);
  }
});

t.test('decisions are numbered once each, in order', async (t) => {
  const numbers = decisions.map((id) => Number(id.slice('D-'.length)));
  t.ok(numbers.length > 20);
  t.same(
    numbers,
    [...new Set(numbers)].sort((a, b) => a - b),
  );
});

t.test('every kind of citation is able to fail', async (t) => {
  const sample: Citable = {
    requirements: new Set(['R1', 'RT-01']),
    decisions: new Set(['D-1']),
    files: new Set(['docs/calls.md', 'README.md']),
    headingsOf: () => ['Who ends `what`?'],
  };
  const faults = (file: string, text: string) => brokenCitations(file, text, sample);
  const good = [
    '/** A call ends once (R1, RT-01, D-1). */',
    '// As docs/calls.md, "Who ends `what`?" has it (RFC 9110 section 14.2, RFC 8259 sections 4 and 8).',
    '/**\n * It is closed (docs/calls.md, "Who\n * ends `what`?").\n */',
  ];
  for (const text of good) t.same(faults('src/call.ts', text), []);
  t.same(
    faults('docs/other.md', '[calls](calls.md#who-ends-what), [start](../README.md), docs/calls.md'),
    [],
  );
  t.match(faults('src/call.ts', '(R2)'), [/R2 is no requirement/]);
  t.match(faults('src/call.ts', '(RT-02)'), [/RT-02 is no requirement/]);
  t.match(faults('src/call.ts', '(D-2)'), [/D-2 is no decision/]);
  t.match(faults('src/call.ts', '(notes.md)'), [/notes.md is no document/]);
  t.match(
    faults('src/call.ts', '(calls.md)'),
    [/calls.md is no document/],
    'code names documents from the root',
  );
  t.match(faults('src/call.ts', '(docs/calls.md, "Who\n * pays?")'), [/no heading "Who pays\?"/]);
  t.match(faults('docs/other.md', '[calls](calls.md#who-pays)'), [/no #who-pays/]);
  t.match(faults('src/call.ts', '(the plan, section 8.12)'), [/"section 8" is of no named standard/]);
});

/** Files and folders as documents name them: from the root, or from `src`. */
const NAMED_PATH =
  /`((?:bench|cli|contracts|control|main|native|platform|providers|setup|slot|src|test)\/[\w./-]+)`/g;

function missingPaths(text: string, files: readonly string[]): string[] {
  const stands = (path: string) =>
    files.some((file) => file === path || file.startsWith(`${path}/`) || file.startsWith(`${path}.`));
  return [...text.matchAll(NAMED_PATH)]
    .map(([, path = '']) => path.replace(/\/$/, ''))
    .filter((path) => !stands(path) && !stands(`src/${path}`));
}

t.test('the files and folders that documents name are there', async (t) => {
  const files = projectFiles(['']);
  // What benches write is in no repository.
  const written = ['bench/results'];
  for (const file of known.files) {
    const missing = missingPaths(readProjectFile(file), files).filter((path) => !written.includes(path));
    t.same(missing, [], file);
  }
  t.same(missingPaths('`src/a`, `slot/b/c`, `cli/d.ts`', ['src/a/x.ts', 'src/slot/b/c.ts']), ['cli/d.ts']);
});
