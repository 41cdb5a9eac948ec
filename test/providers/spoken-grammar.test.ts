import fc from 'fast-check';
import t from 'tap';
import {
  MAX_GRAMMAR_LENGTH,
  readSpokenGrammar,
} from '../../src/providers/vendors/pocketsphinx/spoken-grammar.ts';

const read = (settings: Record<string, unknown>) =>
  readSpokenGrammar({ provider: 'pocketsphinx', ...settings });

t.test('phrases become a grammar of exactly these turns', (t) => {
  const grammar = read({ phrases: ['Yes, please.', "I don't know", 'yes  please'] });
  t.equal(
    grammar.source,
    "#JSGF V1.0;\ngrammar bot;\npublic <turn> = yes please | i don't know;\n",
    'the same phrase stands once',
  );
  t.same(grammar.words, ["don't", 'i', 'know', 'please', 'yes']);
  t.same(grammar.publicRules, ['turn']);
  t.end();
});

t.test('no phrase can smuggle grammar: it is refused, or only plain words stand in the text', (t) => {
  const nasty = fc.string({ maxLength: 30, unit: fc.constantFrom(...`ab;|<>=*+()[]{}"/\\#\n\t $é'.-,`) });
  fc.assert(
    fc.property(fc.array(nasty, { minLength: 1, maxLength: 4 }), (phrases) => {
      let source: string;
      try {
        source = read({ phrases }).source;
      } catch (error) {
        return (error as { code?: string }).code === 'bad_provider_config';
      }
      const turns = /^#JSGF V1\.0;\ngrammar bot;\npublic <turn> = (.*);\n$/.exec(source)?.[1] ?? ';';
      return turns.split(' | ').every((turn) => /^[a-z][a-z'.-]*( [a-z][a-z'.-]*)*$/.test(turn));
    }),
    { seed: 71, numRuns: 3_000 },
  );
  t.end();
});

t.test('a JSGF text keeps its rules; comments, tags, quotes and its name are settled', (t) => {
  const grammar = read({
    grammar: `#JSGF V1.0 UTF-8 en;
      grammar com.example.order; // the shop's
      /* two public
         rules */
      public <order> = [ please ] <size> "iced tea" {drink {x\\}} ;
      public <stop> = /0.2/ stop | /0.8/ ( no thanks )+;
      <size> = Small | large;`,
  });
  t.same(grammar.publicRules, ['order', 'stop']);
  t.same(grammar.words, ['iced', 'large', 'no', 'please', 'small', 'stop', 'tea', 'thanks']);
  t.match(grammar.source, /^#JSGF V1\.0;\ngrammar bot;\npublic <order> = \[ please \] <size> iced tea/);
  t.notMatch(grammar.source, /drink|shop|example/);
  t.match(grammar.source, /\/0\.2\/ stop \| \/0\.8\/ \( no thanks \) \+/);
  t.end();
});

t.test('a text that is no usable grammar is refused with the reason', (t) => {
  const head = '#JSGF V1.0;\ngrammar a;\n';
  const cases: [string, RegExp][] = [
    ['hello', /must begin with "#JSGF V1\.0;"/],
    ['#JSGF V1.0;\npublic <a> = b;', /must name itself/],
    [head, /no public rule/],
    [`${head}<a> = b;`, /no public rule/],
    [`${head}public <a> = <b>;`, /uses <b>, which it does not define/],
    [`${head}public <a> = <NULL>;`, /no words/],
    [`${head}public <a> = b; public <a> = c;`, /defines <a> twice/],
    [`${head}public <a> = b`, /does not end with ";"/],
    [`${head}public a = b;`, /no rule near "public a/],
    [`${head}public <a> = ;`, /no rule near/],
    [`${head}import <b.*>; public <a> = b;`, /near "import|imports another/],
    [`${head}import <b.c>; public <a> = b;`, /imports another/],
    [`${head}public <a> = room 12;`, /"12"; write words/],
    [`${head}public <a> = café;`, /"café"; write words/],
    [`${head}public <trunkline-turn> = b;`, /may not name a rule/],
    [`${head}public <a> = "b;`, /cannot be read near/],
    [`${head}public <a> = ${'b '.repeat(MAX_GRAMMAR_LENGTH)};`, /at most 20000 characters/],
  ];
  for (const [grammar, message] of cases) {
    t.throws(() => read({ grammar }), { code: 'bad_provider_config', message }, grammar.slice(0, 60));
  }
  t.end();
});

t.test('no text makes the reader hang or throw anything but a refusal', (t) => {
  const unit = fc.constantFrom(...'ab ;|<>=*+()[]{}"/\\\n', 'public ', '<a>', '/* ', '*/', '//', '0.5');
  fc.assert(
    fc.property(fc.string({ maxLength: 60, unit }), (body) => {
      try {
        return read({ grammar: `#JSGF V1.0;\ngrammar a;\n${body}` }).words.every((word) =>
          /^[a-z]/.test(word),
        );
      } catch (error) {
        return (error as { code?: string }).code === 'bad_provider_config';
      }
    }),
    { seed: 72, numRuns: 3_000 },
  );
  t.end();
});

t.test('no phrase at all, both kinds, and too much are refused', (t) => {
  const cases: [Record<string, unknown>, RegExp][] = [
    [{}, /^stt\.phrases is missing/],
    [{ phrases: [] }, /^stt\.phrases is missing/],
    [{ phrases: ['...'] }, /^stt\.phrases holds a phrase without words/],
    [{ phrases: ['call 911'] }, /"911"; write phrases in words/],
    [{ phrases: 'hello' }, /^stt\.phrases must be a list/],
    [{ phrases: Array(501).fill('a') }, /^stt\.phrases must be a list of at most 500/],
    [{ phrases: ['a'.repeat(201)] }, /^stt\.phrases must be a list/],
    [{ phrases: ['a'], grammar: '#JSGF V1.0;' }, /both given/],
  ];
  for (const [settings, message] of cases) {
    t.throws(() => read(settings), { code: 'bad_provider_config', message });
  }
  t.end();
});
