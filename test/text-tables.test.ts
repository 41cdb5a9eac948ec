import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import t from 'tap';
import { ofLanguage, readLists, readTexts } from '../src/platform/text-table.ts';
import { projectFiles, readProjectFile } from './harness/source-files.ts';

const TABLES = projectFiles(['.txt'], 'src');
/** Beside the tests the compiled program stands; run from the sources, the sources do. */
const OWN_ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const at = (path: string) => pathToFileURL(join(OWN_ROOT, path)).href;
const lists = (path: string) => readLists(at(path), `./${path.split('/').at(-1)}`);
const texts = (path: string) => readTexts(at(path), `./${path.split('/').at(-1)}`);
const sorted = (keys: Iterable<string>) => [...keys].sort();

const NAMES = 'src/control/runtime-config/transliteration/known-names.txt';
const ANSWERS = 'src/slot/amd/answer-phrases.txt';
const OVERLAPS = 'src/slot/turn/phrases.txt';
const ENDINGS = 'src/slot/turn/open-endings.txt';
const ASKED_NUMBERS = 'src/slot/turn/asked-numbers.txt';
const SPOKEN_DIGITS = 'src/slot/turn/spoken-digits.txt';
const CALLER_LINES = 'src/slot/speak/caller-lines.txt';
const NUMBER_WORDS = 'src/slot/speak/text/normalise/number-words.txt';
const SHORT_FORMS = 'src/slot/speak/text/short-forms.txt';
const RESCUE_LINES = 'src/providers/spoken-lines/rescue-lines.txt';
const RE_ENGAGEMENT = 'src/slot/turn/re-engagement.txt';
const FILLER_LINES = 'src/providers/spoken-lines/filler-lines.txt';
const OF_TEXTS = [CALLER_LINES, NUMBER_WORDS, RESCUE_LINES, SPOKEN_DIGITS];

t.test('every table can be read, and the built program has it as the sources do', async (t) => {
  t.same(
    TABLES,
    sorted([
      NAMES,
      ANSWERS,
      OVERLAPS,
      ENDINGS,
      ASKED_NUMBERS,
      SHORT_FORMS,
      FILLER_LINES,
      RE_ENGAGEMENT,
      ...OF_TEXTS,
    ]),
    'a new table is checked here',
  );
  for (const path of TABLES) {
    t.ok((OF_TEXTS.includes(path) ? texts(path) : lists(path)).size > 1, path);
    t.equal(readFileSync(join(OWN_ROOT, path), 'utf8'), readProjectFile(path), `${path} was copied`);
  }
});

t.test('a table is neat enough to be edited by hand', async (t) => {
  for (const path of TABLES) {
    const source = readProjectFile(path);
    t.equal(source, source.normalize('NFC'), `${path} is in the normal form C of Unicode`);
    t.ok(source.endsWith('\n') && !source.endsWith('\n\n'), `${path} ends with one line break`);
    for (const [index, line] of source.split('\n').entries()) {
      if (line !== line.trimEnd() || line.includes('\t') || [...line].length > 120) {
        t.fail(`${path}:${index + 1} is too long, or has tabs or spaces at its end`);
      }
    }
    if (OF_TEXTS.includes(path)) continue;
    // The reader takes a repeated entry once; what stands twice is a slip all the same.
    let entries = new Set<string>();
    for (const [index, line] of source.split('\n').entries()) {
      if (line.startsWith('[')) entries = new Set();
      if (line === '' || /^[#[]/.test(line)) continue;
      for (const entry of line.split(' | ')) {
        if (entry.trim() === '' || entries.has(entry)) t.fail(`${path}:${index + 1}: "${entry}" again`);
        entries.add(entry);
      }
    }
  }
});

t.test('each language has all that the others have', async (t) => {
  const kindsOf = (path: string) => {
    const kinds = new Map<string, string[]>();
    for (const section of lists(path).keys()) {
      const [language = '', kind = ''] = section.split(' ');
      kinds.set(language, [...(kinds.get(language) ?? []), kind]);
    }
    return kinds;
  };
  for (const [language, kinds] of kindsOf(ANSWERS)) {
    t.same(kinds, ['mailbox', 'invitation', 'announcement', 'screening', 'absence'], language);
  }
  for (const [language, kinds] of kindsOf(OVERLAPS)) {
    const own = kinds.filter((kind) => kind !== 'check-ins');
    t.same(own, ['backchannels', 'answers', 'stops'], language);
  }
  t.same(
    sorted(kindsOf(OVERLAPS).keys()).filter((name) => name !== 'every'),
    sorted(kindsOf(ANSWERS).keys()),
  );

  for (const [language, kinds] of kindsOf(ENDINGS)) t.same(kinds, ['open', 'doubtful', 'whole'], language);
  t.same(sorted(kindsOf(ENDINGS).keys()), sorted(texts(SPOKEN_DIGITS).keys()));
  for (const [language, words] of texts(SPOKEN_DIGITS)) {
    const wanted = [...'0123456789', 'two', 'double', 'months', 'between'];
    t.same(
      wanted.filter((name) => !words.has(name)),
      [],
      language,
    );
  }

  const english = texts(CALLER_LINES).get('en');
  for (const [language, lines] of texts(CALLER_LINES)) {
    t.same([...lines.keys()], [...(english?.keys() ?? [])], language);
    for (const [name, line] of lines) t.equal(line.includes('{n}'), name === 'handoff_position', line);
  }
  for (const [language, lines] of texts(RESCUE_LINES)) {
    t.same([...lines.keys()], ['rescue', 'again', 'farewell', 'goodbye', 'connecting'], language);
  }
  t.same([...lists(FILLER_LINES).keys()], [...texts(RESCUE_LINES).keys()]);
  const prompts = lists(RE_ENGAGEMENT);
  for (const [language, lines] of prompts) t.equal(lines.length, prompts.get('en')?.length, language);
  const spoken = [...texts(CALLER_LINES).keys(), ...texts(NUMBER_WORDS).keys()];
  t.same(sorted(prompts.keys()), sorted(new Set(spoken.filter((language) => language !== 'other'))));
  const known = new Set(texts(NUMBER_WORDS).get('en')?.keys()).add('letters');
  for (const [language, words] of texts(NUMBER_WORDS)) {
    const odd = [...words.keys()].filter((key) => !known.has(key) && !/^(scale|unit) \S/.test(key));
    t.same(odd, [], `${language} has names that are read`);
    t.ok((words.get('numbers') ?? '').split(' ').length >= 10, `${language} has its digits`);
    t.ok(language === 'other' || ['INR', 'percent', 'lakh'].every((key) => words.has(key)), language);
  }
});

t.test(
  'an ending stands in one list of its language, and is not longer than what is looked at',
  async (t) => {
    const kinds = new Map<string, string>();
    for (const [section, phrases] of lists(ENDINGS)) {
      const [language = '', kind = ''] = section.split(' ');
      for (const phrase of phrases) {
        const key = `${language} ${phrase}`;
        if (kinds.has(key)) t.fail(`[${section}] ${phrase} stands in ${kinds.get(key)}, too`);
        kinds.set(key, kind);
        if (phrase.split(' ').length > 4) t.fail(`[${section}] ${phrase} is longer than four words`);
      }
    }
    t.ok(kinds.size > 500);
  },
);

t.test('a name and a spelling stand once', async (t) => {
  const spelled = new Set<string>();
  for (const [section, names] of lists(NAMES)) {
    const heads = names.map((entry) => entry.split(' ')[0] ?? '');
    t.equal(new Set(heads).size, heads.length, `${section}: each name has one entry`);
    for (const entry of names) {
      const [name = '', ...spellings] = entry.split(' ');
      if (!/^[\p{Script=Devanagari}.]+$/u.test(name) || spellings.length === 0)
        t.fail(`${section}: ${entry}`);
      for (const spelling of spellings) {
        if (!/^[a-z/]+$/.test(spelling)) t.fail(`${section}: ${entry}`);
        // What names are made of are names as well, now and then.
        if (section === 'elements') continue;
        if (spelled.has(spelling)) t.fail(`${section}: ${spelling} stands twice`);
        spelled.add(spelling);
      }
    }
  }
});

t.test('comments, bars, continued lines; a slip is named by file and line', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-tables-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const module = pathToFileURL(join(folder, 'module.js')).href;
  const write = (source: string) => writeFileSync(join(folder, 'table.txt'), source);

  write('# note\n[hi]\nएक | दो \n\nतीन| एक\n[en]\n');
  t.same(
    [...readLists(module, 'table.txt')],
    [
      ['hi', ['एक', 'दो', 'तीन']],
      ['en', []],
    ],
  );
  write('[hi]\nunit km/h = a, b\nlong = one\n  two = three\n');
  const table = readTexts(module, 'table.txt');
  t.same(
    [...(table.get('hi') ?? [])],
    [
      ['unit km/h', 'a, b'],
      ['long', 'one two = three'],
    ],
  );
  t.equal(ofLanguage(table, 'hi-IN'), table.get('hi'));
  t.equal(ofLanguage(table, undefined), undefined);

  for (const [source, line] of [
    ['early\n[hi]\n', 1],
    ['[hi]\na = b\n[hi]\n', 3],
    ['[hi]\na = b\n\na = c\n', 4],
    ['[hi]\nnothing\n', 2],
  ] as const) {
    write(source);
    t.throws(() => readTexts(module, 'table.txt'), { message: new RegExp(`table\\.txt:${line}: `) });
  }
});
