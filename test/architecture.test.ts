import t from 'tap';
import {
  findCycle,
  folderCircles,
  type ImportEdge,
  importsOf,
  reachable,
  readImportGraph,
} from './harness/import-graph.ts';

const graph = readImportGraph();
const folderOf = (path: string) => /^src\/([^/]+)\//.exec(path)?.[1] ?? null;
const isPackage = (path: string) => !path.startsWith('src/') && !path.startsWith('node:');
const isExcepted = (exception: { from: string; to: string }, edge: ImportEdge) =>
  [[exception.from, edge.from] as const, [exception.to, edge.to] as const].every(([name, path]) =>
    name.endsWith('/') ? path.startsWith(name) : path === name,
  );
const show = (edge: ImportEdge) => `${edge.from} imports ${edge.to}`;

/** Which folder of `src` may import which others (ARCHITECTURE.md, "Who may import whom"). */
const ALLOWED: Record<string, readonly string[]> = {
  contracts: [],
  platform: ['contracts'],
  providers: ['contracts', 'platform'],
  slot: ['contracts', 'platform', 'providers'],
  control: ['contracts', 'platform', 'providers'],
  main: ['contracts', 'platform'],
  cli: ['contracts', 'platform'],
};

/** Imports that the table forbids and a reason allows; a name that ends in `/` stands for the files of a folder. */
const EXCEPTIONS: readonly { from: string; to: string; why: string }[] = [
  { from: 'src/main/main.ts', to: 'src/control/control.ts', why: 'main hosts the control plane' },
  {
    from: 'src/cli/operator-access.ts',
    to: 'src/control/accounts/offline-accounts.ts',
    why: 'without a running plane the command line works on the store',
  },
  {
    from: 'src/cli/turnlab/',
    to: 'src/slot/listen/',
    why: 'recorded calls are heard again by the code that heard them',
  },
  {
    from: 'src/cli/turnlab/',
    to: 'src/slot/turn/',
    why: 'and decided again by the machine that decided them',
  },
  { from: 'src/cli/start.ts', to: 'src/main/main-process.ts', why: 'the start command runs main' },
];

t.test('each folder of src imports only the folders below it', async (t) => {
  t.ok(graph.length > 100, `${graph.length} imports were read`);
  for (const edge of graph) {
    const from = folderOf(edge.from);
    const to = folderOf(edge.to);
    if (from === null || to === null || from === to) continue;
    if (!(from in ALLOWED)) t.fail(`${from} is a new folder: say in this test what it may import`);
    if (EXCEPTIONS.some((exception) => isExcepted(exception, edge))) continue;
    // Main forks a slot by the path of its entry and shares no code with it.
    if (from === 'main' && edge.to === 'src/slot/slot.ts' && edge.kind === 'entry') continue;
    if (!ALLOWED[from]?.includes(to)) t.fail(show(edge));
  }
  for (const exception of EXCEPTIONS) {
    t.ok(
      graph.some((edge) => isExcepted(exception, edge)),
      `${exception.why}: the exception is still used`,
    );
  }
});

t.test('slot and control never import each other, types included', async (t) => {
  const wrong = graph.filter((edge) => {
    const pair = [folderOf(edge.from), folderOf(edge.to)].sort().join();
    return pair === 'control,slot';
  });
  t.same(wrong.map(show), []);
});

t.test('contracts use the schema library and nothing else from outside', async (t) => {
  const foreign = graph.filter(
    (edge) => folderOf(edge.from) === 'contracts' && !edge.to.startsWith('src/contracts/'),
  );
  t.same([...new Set(foreign.map((edge) => edge.to))], ['typebox']);
});

t.test('a slot loads no schema library, HTTP server, database or cloud SDK', async (t) => {
  const ways = reachable(graph, 'src/slot/slot.ts', (edge) => edge.runtime);
  t.ok(ways.size > 30, `the slot entry reaches ${ways.size} files and packages`);
  for (const banned of ['typebox', 'uWebSockets.js', 'lmdb', 'undici', 'piscina']) {
    t.equal(ways.get(banned)?.join(' -> '), undefined, `${banned} stays out`);
  }
  t.same(
    [...ways.keys()].filter((name) => name.startsWith('@aws-sdk/')),
    [],
  );
});

t.test('what is known of the vendors loads none of their clients, and no package', async (t) => {
  const isStatic = (edge: ImportEdge) => edge.runtime && edge.kind === 'static';
  const reached = [...reachable(graph, 'src/providers/open-providers.ts', isStatic).keys()];
  const clients = reached.filter((path) => /\/vendors\/[^/]+\/(?!vendor\.ts$)/.test(path));
  t.same(clients, [], 'a client comes with the first call that opens it');
  t.same(reached.filter(isPackage), []);
  t.ok(reached.filter((path) => path.endsWith('/vendor.ts')).length > 8);
  const sdks = ['openai', '@google/genai', '@anthropic-ai/sdk', 'ws'];
  const control = reachable(graph, 'src/control/control.ts', isStatic);
  for (const sdk of sdks) t.equal(control.get(sdk)?.join(' -> '), undefined, `control loads no ${sdk}`);
});

t.test('uWebSockets.js and lmdb have one importer each', async (t) => {
  const importers = (name: string) => [
    ...new Set(graph.filter((edge) => edge.to === name && edge.runtime).map((edge) => edge.from)),
  ];
  t.ok(importers('uWebSockets.js').length > 0 && importers('lmdb').length > 0);
  for (const file of importers('uWebSockets.js')) t.match(file, /^src\/platform\/http-server(\.ts|\/)/);
  for (const file of importers('lmdb')) t.match(file, /^src\/platform\/key-value-store(\.ts|\/)/);
});

t.test(
  'every package that is imported is a dependency, and every import names a file that exists',
  async (t) => {
    const { readProjectFile, projectFiles } = await import('./harness/source-files.ts');
    const manifest = JSON.parse(readProjectFile('package.json')) as { dependencies: Record<string, string> };
    const files = new Set(projectFiles(['.ts'], 'src'));
    for (const edge of graph) {
      if (edge.to.startsWith('src/')) {
        if (!files.has(edge.to)) t.fail(show(edge));
      } else if (isPackage(edge.to)) {
        const name = edge.to
          .split('/')
          .slice(0, edge.to.startsWith('@') ? 2 : 1)
          .join('/');
        if (!(name in manifest.dependencies)) t.fail(`${show(edge)}, which is no dependency`);
      }
    }
    t.pass(`${graph.length} imports were followed`);
  },
);

t.test('no file imports itself by a detour', async (t) => {
  t.equal(findCycle(graph.filter((edge) => edge.runtime && edge.kind === 'static'))?.join(' -> '), undefined);
  // A worker may share code with the file that starts it; that is another process or thread.
  const together = graph.filter((edge) => edge.kind !== 'entry');
  t.equal(findCycle(together)?.join(' -> '), undefined, 'not by types or on demand either');
});

t.test('no folder imports itself by a detour', async (t) => {
  const circles = folderCircles(graph.filter((edge) => edge.kind !== 'entry'));
  t.same(circles, [], 'the files and folders of each folder import each other in one direction only');
  const back: ImportEdge = {
    from: 'src/slot/audio/a.ts',
    to: 'src/slot/call/b.ts',
    runtime: true,
    kind: 'static',
  };
  const detour = folderCircles([back, { ...back, from: back.to, to: 'src/slot/audio/c.ts' }]);
  t.same(detour, ['src/slot: audio -> call -> audio'], 'and two folders that do are told');
});

t.test('every source file is used by the program', async (t) => {
  const { projectFiles } = await import('./harness/source-files.ts');
  const used = reachable(graph, 'src/cli/trunkline.ts', () => true);
  for (const file of reachable(graph, 'src/slot/slot.ts', () => true).keys()) used.set(file, []);
  t.same(
    projectFiles(['.ts'], 'src').filter((file) => !used.has(file)),
    [],
    'a file that nothing reaches is dead',
  );
});

t.test('the reader of imports sees every kind and no comment', async (t) => {
  const source = [
    "import type { A } from './a.ts';",
    "import { b, type B } from '../b.ts';",
    "export { c } from './c.ts';",
    "import './d.ts';",
    "// import { no } from './no.ts';",
    "/* import('./never.ts') */",
    "const e = await import('./e.ts');",
    "const f = createRequire(import.meta.url)('ws');",
    "const entry = own.endsWith('.ts') ? './worker.ts' : './worker.js';",
    "const text = 'https://example.org/x'; // import './none.ts'",
  ].join('\n');
  t.same(
    importsOf('src/x/y.ts', source).map((edge) => [edge.to, edge.runtime, edge.kind]),
    [
      ['src/x/a.ts', false, 'static'],
      ['src/b.ts', true, 'static'],
      ['src/x/c.ts', true, 'static'],
      ['src/x/d.ts', true, 'static'],
      ['src/x/e.ts', true, 'on_demand'],
      ['ws', true, 'static'],
      ['src/x/worker.ts', true, 'entry'],
    ],
  );
});

/** What a file exports of its own; what it passes on from another file has its name there. */
function exportedNames(source: string): Set<string> {
  const code = source.replace(/\/\*[\s\S]*?\*\//g, '');
  const declared = code.matchAll(
    /^export (?:declare |abstract |async )*(?:function\*?|class|const|let|interface|type|enum) (\w+)/gm,
  );
  const listed = [...code.matchAll(/^export (?:type )?\{([^}]*)\}(?! from)/gm)].flatMap((match) =>
    (match[1] ?? '').split(',').map((name) => name.trim().replace(/^(type |.* as )+/, '')),
  );
  return new Set([...[...declared].map((match) => match[1] ?? ''), ...listed.filter((name) => name !== '')]);
}

/** Names that more than one of these files exports, each with its files. */
function exportedTwice(files: Iterable<readonly [path: string, source: string]>): string[] {
  const homes = new Map<string, string[]>();
  for (const [path, source] of files) {
    for (const name of exportedNames(source)) homes.set(name, [...(homes.get(name) ?? []), path]);
  }
  return [...homes]
    .filter(([, paths]) => paths.length > 1)
    .map(([name, paths]) => `${name}: ${paths.join(', ')}`);
}

t.test('no two files of src export the same name', async (t) => {
  const { projectFiles, readProjectFile } = await import('./harness/source-files.ts');
  const files = projectFiles(['.ts'], 'src').map((path) => [path, readProjectFile(path)] as const);
  const twice = exportedTwice(files);
  t.same(twice, []);
  const sample = [
    ['a.ts', "export const LIMIT = 1;\n// export const OTHER = 1;\nexport type { Call } from './c.ts';"],
    [
      'b.ts',
      'const LIMIT = 2;\nconst OTHER = 1;\nexport { LIMIT, OTHER as MORE };\nexport type Call = string;',
    ],
    ['c.ts', 'export interface Call {}\nexport async function* MORE() {}'],
  ] as const;
  t.same(exportedTwice(sample), ['LIMIT: a.ts, b.ts', 'Call: b.ts, c.ts', 'MORE: b.ts, c.ts']);
});
