import t from 'tap';
import { transliterateName } from '../../../src/control/runtime-config/transliterate-name.ts';
import {
  KNOWN_NAMES,
  NAME_ELEMENTS,
} from '../../../src/control/runtime-config/transliteration/known-names.ts';
import {
  createNameSpeller,
  type KnownName,
} from '../../../src/control/runtime-config/transliteration/name-speller.ts';
import { commonNames, isAccepted, isHeldOut, wilson } from './held-out.ts';

const names = commonNames();
const show = (right: number, total: number) => {
  const { rate, low, high } = wilson(right, total);
  return `${right} of ${total}, ${rate.toFixed(1)} % (95 % interval ${low.toFixed(1)} to ${high.toFixed(1)})`;
};

t.test('R84 nine in ten held-out spellings of common names come out as people write them', async (t) => {
  const heldOut = names.filter((name) => isHeldOut(name.latin));
  const spellings = new Set(heldOut.map((name) => name.latin));
  const tuning = (known: readonly KnownName[]) => known.filter(([latin]) => !spellings.has(latin));
  t.ok(names.length >= 300, `${names.length} spellings of common names`);
  t.equal(KNOWN_NAMES.length - tuning(KNOWN_NAMES).length, spellings.size, 'all of them were taken out');

  const spell = createNameSpeller(tuning(KNOWN_NAMES), tuning(NAME_ELEMENTS));
  const outcomes = heldOut.map((name) => ({ ...name, ...spell(name.latin) }));
  const right = outcomes.filter((name) => isAccepted(name.devanagari, name.accepted));
  t.comment(`held out: ${show(right.length, heldOut.length)}`);
  for (const group of ['kind', 'found'] as const) {
    for (const value of new Set(outcomes.map((name) => name[group]))) {
      const rightOnes = right.filter((name) => name[group] === value).length;
      t.comment(`  ${value}: ${show(rightOnes, outcomes.filter((name) => name[group] === value).length)}`);
    }
  }
  for (const name of outcomes.filter((name) => !right.includes(name))) {
    t.comment(`  miss: ${name.latin} gives ${name.devanagari}, not ${name.accepted.join(' or ')}`);
  }
  t.ok(right.length >= heldOut.length * 0.9, 'at least 90 %');
});

t.test('a name that stands in no table in any spelling is right in more than a third of cases', async (t) => {
  const unseen = names.filter((name) => isHeldOut(name.accepted[0] ?? ''));
  const written = new Set(unseen.flatMap((name) => name.accepted));
  const spellings = new Set(unseen.map((name) => name.latin));
  const others = (known: readonly KnownName[]) =>
    known.filter(([latin, devanagari]) => !spellings.has(latin) && !isAccepted(devanagari, [...written]));
  const spell = createNameSpeller(others(KNOWN_NAMES), others(NAME_ELEMENTS));
  const right = unseen.filter((name) => isAccepted(spell(name.latin).devanagari, name.accepted)).length;
  t.comment(`in no spelling known: ${show(right, unseen.length)}`);
  t.ok(right > unseen.length / 3, 'more than a third');
});

t.test('every name of the tables comes out as the tables have it', async (t) => {
  const wrong = names.filter((name) => !isAccepted(transliterateName(name.latin), name.accepted));
  t.same(
    wrong.map((name) => name.latin),
    [],
  );
});
