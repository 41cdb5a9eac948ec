import { readProjectFile } from './source-files.ts';

/** The ids of docs/requirements.md, in its order: first cells of its tables. */
export function requirementIds(): string[] {
  const rows = readProjectFile('docs/requirements.md').matchAll(/^\| (R\d{1,3}|RT-\d{2}) \| \S/gm);
  return [...rows].map(([, id]) => id ?? '');
}
