import { readFileSync } from 'node:fs';
import { dirname, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Tables that a person edits who speaks the language and knows no code. They lie beside the module that reads them;
 * the build copies them along with it (setup/text-tables.mjs). Read when the module is loaded, never during a call.
 *
 *     # A comment.
 *     [hi backchannels]                      a section, by language or by whatever the table is about
 *     हाँ | हां जी                             a list: entries on lines of their own, or with bars between them
 *     wait = कृपया लाइन पर बने रहिए।             texts: one to a line, a name before it
 *       रुकिए।                                 an indented line continues the one above
 */
interface TableLine {
  text: string;
  at: string;
}

/** The entries of each section, in their order; an entry that stands twice in a section counts once. */
export function readLists(module: string, name: string): ReadonlyMap<string, readonly string[]> {
  const lists = new Map<string, readonly string[]>();
  for (const [section, lines] of readSections(module, name)) {
    const entries = lines.flatMap(({ text }) => text.split('|').map((entry) => entry.trim()));
    lists.set(section, [...new Set(entries.filter((entry) => entry !== ''))]);
  }
  return lists;
}

/** The texts of each section by their names. */
export function readTexts(module: string, name: string): ReadonlyMap<string, ReadonlyMap<string, string>> {
  const sections = new Map<string, ReadonlyMap<string, string>>();
  for (const [section, lines] of readSections(module, name)) {
    const texts = new Map<string, string>();
    for (const { text, at } of lines) {
      const [, key, value] = /^([^=]*[^=\s])\s*=\s*(.*)$/.exec(text) ?? [];
      if (key === undefined || value === undefined) throw new Error(`${at}: there is no "name = text" here`);
      if (texts.has(key)) throw new Error(`${at}: "${key}" stands twice in [${section}]`);
      texts.set(key, value);
    }
    sections.set(section, texts);
  }
  return sections;
}

/** The one of a language (BCP 47), by the first part of its tag; undefined where the table has none. */
export function ofLanguage<T>(table: ReadonlyMap<string, T>, language: string | undefined): T | undefined {
  return table.get((language ?? '').toLowerCase().split(/[-_]/)[0] ?? '');
}

function readSections(module: string, name: string): Map<string, TableLine[]> {
  const path = fileURLToPath(new URL(name, module));
  const shown = relative(dirname(dirname(path)), path);
  const sections = new Map<string, TableLine[]>();
  let lines: TableLine[] | null = null;
  for (const [index, written] of readFileSync(path, 'utf8').normalize('NFC').split('\n').entries()) {
    const at = `${shown}:${index + 1}`;
    const text = written.trim();
    if (text === '' || text.startsWith('#')) continue;
    const section = /^\[(.*)\]$/.exec(text)?.[1]?.trim();
    if (section !== undefined) {
      if (sections.has(section)) throw new Error(`${at}: [${section}] stands twice`);
      lines = [];
      sections.set(section, lines);
      continue;
    }
    if (lines === null) throw new Error(`${at}: a "[section]" must come before the first entry`);
    const last = lines.at(-1);
    if (/^\s/.test(written) && last) last.text += ` ${text}`;
    else lines.push({ text, at });
  }
  return sections;
}
