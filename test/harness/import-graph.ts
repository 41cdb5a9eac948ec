import { dirname, join, normalize } from 'node:path';
import { projectFiles, readProjectFile } from './source-files.ts';

export interface ImportEdge {
  from: string;
  /** A project-relative file, or a package or `node:` name. */
  to: string;
  /** False for `import type`, which leaves nothing behind when the program runs. */
  runtime: boolean;
  /** How it is loaded: with the file, on demand, or as the entry of a worker or a child process. */
  kind: 'static' | 'on_demand' | 'entry';
}

/** Every import under `src`, static, dynamic, `require` of a package and the entry files of workers. */
export function readImportGraph(): ImportEdge[] {
  return projectFiles(['.ts'], 'src').flatMap((file) => importsOf(file, readProjectFile(file)));
}

/** The files and packages that loading `entry` may load, over edges that `follow` accepts; with a way to each. */
export function reachable(
  graph: readonly ImportEdge[],
  entry: string,
  follow: (edge: ImportEdge) => boolean,
): Map<string, string[]> {
  const ways = new Map<string, string[]>([[entry, [entry]]]);
  const queue = [entry];
  for (let file = queue.shift(); file !== undefined; file = queue.shift()) {
    for (const edge of graph) {
      if (edge.from !== file || ways.has(edge.to) || !follow(edge)) continue;
      ways.set(edge.to, [...(ways.get(file) ?? []), edge.to]);
      queue.push(edge.to);
    }
  }
  return ways;
}

/**
 * Where the children of a folder, its files and its folders each taken as one, import each other in a circle: a line for
 * every folder that has one.
 */
export function folderCircles(graph: readonly ImportEdge[]): string[] {
  const within = new Map<string, ImportEdge[]>();
  for (const edge of graph) {
    const from = edge.from.split('/');
    const to = edge.to.split('/');
    let depth = 0;
    while (depth < from.length - 1 && from[depth] === to[depth]) depth++;
    const folder = from.slice(0, depth).join('/');
    const [child, other] = [from[depth] ?? '', to[depth] ?? ''];
    if (depth === 0 || child === other) continue;
    within.set(folder, [...(within.get(folder) ?? []), { ...edge, from: child, to: other }]);
  }
  return [...within].flatMap(([folder, edges]) => {
    const circle = findCycle(edges);
    return circle ? [`${folder}: ${circle.join(' -> ')}`] : [];
  });
}

/** One cycle of files as a list that ends where it began, or null. */
export function findCycle(graph: readonly ImportEdge[]): string[] | null {
  const targets = new Map<string, string[]>();
  for (const edge of graph) targets.set(edge.from, [...(targets.get(edge.from) ?? []), edge.to]);
  const done = new Set<string>();
  const path: string[] = [];
  const visit = (file: string): string[] | null => {
    const at = path.indexOf(file);
    if (at !== -1) return [...path.slice(at), file];
    if (done.has(file)) return null;
    path.push(file);
    for (const next of targets.get(file) ?? []) {
      const cycle = visit(next);
      if (cycle) return cycle;
    }
    path.pop();
    done.add(file);
    return null;
  };
  for (const file of targets.keys()) {
    const cycle = visit(file);
    if (cycle) return cycle;
  }
  return null;
}

/** Imports of one source text. Written for this code base: formatted by Biome, one import a statement. */
export function importsOf(file: string, source: string): ImportEdge[] {
  const text = withoutComments(source);
  const edges: ImportEdge[] = [];
  const add = (specifier: string, runtime: boolean, kind: ImportEdge['kind']) =>
    edges.push({ from: file, to: resolveImport(file, specifier), runtime, kind });
  for (const match of text.matchAll(/^(?:import|export)\s+(type\s)?[^;'"]*?from\s+'([^']+)'/gm)) {
    add(match[2] as string, match[1] === undefined, 'static');
  }
  for (const match of text.matchAll(/^import\s+'([^']+)'/gm)) add(match[1] as string, true, 'static');
  for (const match of text.matchAll(/\bimport\(\s*'([^']+)'\s*\)/g))
    add(match[1] as string, true, 'on_demand');
  for (const match of text.matchAll(/createRequire\(import\.meta\.url\)\(\s*'([^']+)'/g)) {
    add(match[1] as string, true, 'static');
  }
  // Entries of workers and forks stand as './name.ts' or 'src/folder/name.ts' beside their compiled name.
  for (const match of text.matchAll(/[^m(]\s'(\.{1,2}\/[\w./-]+\.ts|src\/[\w./-]+\.ts)'/g)) {
    const specifier = match[1] as string;
    if (!edges.some((edge) => edge.to === resolveImport(file, specifier))) add(specifier, true, 'entry');
  }
  return edges;
}

function resolveImport(file: string, specifier: string): string {
  return specifier.startsWith('.') ? normalize(join(dirname(file), specifier)) : specifier;
}

/** Comments may show code; strings may hold what looks like one, so both are walked together. */
function withoutComments(source: string): string {
  return source.replace(
    /('(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`)|\/\*[\s\S]*?\*\/|(?<![:\\/])\/\/[^\n]*/g,
    (_whole, text: string | undefined) => text ?? '',
  );
}
