import t from 'tap';
import { alignName } from '../../../src/control/runtime-config/transliteration/align-name.ts';
import {
  soundsOf,
  writeSounds,
} from '../../../src/control/runtime-config/transliteration/devanagari-letters.ts';
import {
  KNOWN_NAMES,
  NAME_ELEMENTS,
} from '../../../src/control/runtime-config/transliteration/known-names.ts';

t.test('every known name is the same after it was taken apart and written again', async (t) => {
  const changed = [...KNOWN_NAMES, ...NAME_ELEMENTS].filter(([, devanagari]) => {
    const sounds = soundsOf(devanagari);
    return sounds === null || writeSounds(sounds) !== devanagari;
  });
  t.same(changed, []);
  t.equal(soundsOf('Asha'), null, 'Latin letters are no sounds');
  t.same(soundsOf('राजेश'), ['र', 'आ', 'ज', 'ए', 'श']);
});

t.test('nearly every known name can be cut into pieces that spell it', async (t) => {
  const cut = KNOWN_NAMES.filter(([latin, devanagari]) => alignName(latin, devanagari) !== null);
  t.comment(`${cut.length} of ${KNOWN_NAMES.length} known spellings teach the model`);
  t.ok(cut.length > KNOWN_NAMES.length * 0.95);
  for (const [latin, devanagari] of cut.slice(0, 200)) {
    t.equal(
      alignName(latin, devanagari)
        ?.map((piece) => piece.latin)
        .join(''),
      latin,
    );
  }
});

t.test('known spellings are lower-case letters a-z, each once', async (t) => {
  const spellings = KNOWN_NAMES.map(([latin]) => latin);
  t.same(
    spellings.filter((latin) => !/^[a-z]+$/.test(latin)),
    [],
  );
  t.equal(new Set(spellings).size, spellings.length);
});
