import t from 'tap';
import { requirementIds } from './harness/requirements.ts';
import { projectFiles, readProjectFile } from './harness/source-files.ts';

/**
 * Which requirements have a test that names them (`t.test('R42 overnight window ...')`). The list is printed, so that
 * nobody has to believe it; an id that does not exist fails. A requirement without a test is no failure here: several
 * belong to parts that are still to come.
 */
const ID = /\b(R\d{1,3}|RT-\d{2,3})\b/g;

/** Names of tests: the first argument of `t.test(` and `test(`. */
function testNames(source: string): string[] {
  return [...source.matchAll(/\btest\(\s*(?:'((?:\\.|[^'\\])*)'|"([^"]*)"|`([^`]*)`)/g)].map(
    (match) => match[1] ?? match[2] ?? match[3] ?? '',
  );
}

const requirements = new Set(requirementIds());

const namedBy = new Map<string, string[]>();
for (const file of projectFiles(['.ts'], 'test')) {
  // This file speaks about ids and proves none.
  if (file === 'test/requirements.test.ts') continue;
  for (const name of testNames(readProjectFile(file))) {
    for (const [id] of name.matchAll(ID)) namedBy.set(id, [...(namedBy.get(id) ?? []), file]);
  }
}

// A scenario is a test whose name is its file; what it proves stands in its key "covers".
for (const file of projectFiles(['.json'], 'test/scenarios')) {
  const { covers } = JSON.parse(readProjectFile(file)) as { covers: string[] };
  for (const [id] of covers.join(' ').matchAll(ID)) namedBy.set(id, [...(namedBy.get(id) ?? []), file]);
}

t.test('every requirement that a test name carries exists', async (t) => {
  t.equal([...requirements].filter((id) => /^R\d+$/.test(id)).length, 179);
  t.ok(namedBy.size > 0, `${namedBy.size} ids stand in test names`);
  for (const [id, files] of namedBy) {
    if (!requirements.has(id)) t.fail(`${files.join(', ')} names ${id}, which is no requirement`);
  }
});

t.test('the list of requirements with and without a test is printed', async (t) => {
  const numbered = [...requirements].filter((id) => /^R\d+$/.test(id));
  const covered = numbered.filter((id) => namedBy.has(id));
  const open = numbered.filter((id) => !namedBy.has(id));
  const runtime = [...requirements].filter((id) => id.startsWith('RT-') && namedBy.has(id));
  t.comment(`named by a test (${covered.length} of ${numbered.length}): ${covered.join(' ')}`);
  t.comment(`runtime rows named by a test: ${runtime.join(' ')}`);
  t.comment(`not named yet (${open.length}): ${open.join(' ')}`);
  t.equal(covered.length + open.length, 179);
});

t.test('the reader of test names finds them in every kind of quote', async (t) => {
  const source =
    "t.test('R1 one', f); await t.test(\n  `RT-02 two`, f); t.test(\"R3's\", f); // R4 in a comment";
  t.same(testNames(source), ['R1 one', 'RT-02 two', "R3's"]);
});
