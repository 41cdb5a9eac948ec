import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import t from 'tap';
import { projectPath } from '../../../../src/platform/project-paths.ts';
import { ClauseSplitter } from '../../../../src/slot/speak/text/clause-splitter.ts';
import {
  SpeakableReply,
  speakableOptions,
  toSpeakable,
} from '../../../../src/slot/speak/text/to-speakable.ts';

const english = speakableOptions('en-IN');

t.test(
  'RT-39 markup, addresses, emoji, tool calls and unsafe characters are never said, and are counted',
  async (t) => {
    const path = projectPath('test/slot/speak/text/data/filters.json');
    const rows = JSON.parse(readFileSync(path, 'utf8')) as Array<[string, string, string[]]>;
    t.ok(rows.length >= 100, `${rows.length} rows`);
    for (const [row, [written, said, kinds]] of rows.entries()) {
      const { spoken, counts } = toSpeakable(written, english);
      t.equal(spoken, said, `row ${row}`);
      const counted = Object.entries(counts).filter(([kind, count]) => kind !== 'normalised' && count > 0);
      t.same(
        counted.map(([kind]) => kind),
        kinds,
        `row ${row}`,
      );
      t.equal(toSpeakable(spoken, english).spoken, said, `row ${row} stays as it is`);
    }
  },
);

/** Clauses of a reply as the splitter cuts them. */
function sayStreamed(text: string, sizes: number[]): string[] {
  const splitter = new ClauseSplitter();
  const reply = new SpeakableReply(english);
  const spoken: string[] = [];
  const say = (clauses: string[]) => {
    for (const clause of clauses) spoken.push(reply.clause(clause).spoken);
  };
  for (let at = 0, i = 0; at < text.length; i++) {
    const size = sizes[i % sizes.length] ?? 1;
    say(splitter.push(text.slice(at, at + size), 0));
    at += size;
  }
  say(splitter.flush());
  return spoken.filter((clause) => clause !== '');
}

t.test('RT-39 code and tool calls stay unheard when clause borders run through them', async (t) => {
  const text =
    'Let me look. ```js\nconst secret = 1; call(); // Really. Yes.\n``` Now: {"name": "end_call", "arguments": {"reason": "secret, because. So."}} Thank you. <tool_call> {"secret": true}. And more. </tool_call> Goodbye.';
  for (const sizes of [[1], [4], [1_000]]) {
    t.same(sayStreamed(text, sizes), ['Let me look.', 'Now:', 'Thank you.', 'Goodbye.']);
  }
});

t.test('a tag that a pause cut in two is still a tag', async (t) => {
  const reply = new SpeakableReply(english);
  t.equal(reply.clause('Fine. <invoke').spoken, 'Fine.');
  t.equal(reply.clause('name="secret">hidden</invoke> Bye.').spoken, 'Bye.');
});

/** Clauses of one reply, and its end. */
function sayClauses(clauses: readonly string[]): string[] {
  const reply = new SpeakableReply(english);
  const spoken = clauses.map((clause) => reply.clause(clause).spoken);
  return [...spoken, reply.clause('', { isLast: true }).spoken].filter((clause) => clause !== '');
}

t.test('RT-39 a stray brace, fence or tag costs a reply no word: its sentence is said', async (t) => {
  const rest = 'These words are a sentence.';
  for (const [clauses, said] of [
    [['Look { here.', rest], 'Look here.'],
    [['Look ```', 'and here.', rest], 'Look and here.'],
    [['Look ~~~ here.', rest], 'Look here.'],
    [['Look <think> here.', rest], 'Look here.'],
    [['Press the <function> key,', 'and wait.', rest], 'Press the key, and wait.'],
    [['```', 'Your balance, madam,', 'is five rupees.', rest], 'Your balance, madam, is five rupees.'],
    [['Your age is <y,', 'or so.', rest], 'Your age is y, or so.'],
    [['The plan {silver, for you,', 'costs nothing.', rest], 'The plan silver, for you, costs nothing.'],
  ] as const) {
    t.equal(sayClauses(clauses).join(' '), `${said} ${rest}`, clauses[0]);
  }
  t.equal(
    sayClauses(['The plan { costs nothing']).join(' '),
    'The plan costs nothing',
    'nor one without an end',
  );
  const long = Array.from({ length: 60 }, (_, n) => `word${String.fromCharCode(97 + (n % 26))} and`).join(
    ' ',
  );
  t.match(sayClauses([`Look { ${long}`, long]).join(' '), /^Look worda and/, 'nor one that does not end');
});

t.test('RT-39 what has begun as code stays unheard, and is given up in the end', async (t) => {
  const sentence = 'These words are a sentence.';
  for (const opening of ['Look <tool_call> here.', 'Look {"a": "b.', '```json', '<|channel|>commentary']) {
    const many = Array.from({ length: 200 }, () => sentence);
    const spoken = sayClauses([opening, ...many]);
    t.equal(spoken.at(-1), sentence, opening);
    t.ok(spoken.length < 200, `${opening}: what follows is taken for the rest of it`);
  }
  t.same(sayClauses(['{', '"name": "end_call",', '"arguments": {"reason": "So. It is."}', '}', 'Bye.']), [
    'Bye.',
  ]);
  t.same(sayClauses(['```', 'let a = 1;', 'a.b.', '```', 'Bye.']), ['Bye.']);
});

t.test('RT-39 what waits for the end of its sentence is written where it is said', async (t) => {
  const reply = new SpeakableReply(english);
  const first = reply.clause('The plan { for you,');
  t.match(first, { spoken: 'The plan', written: 'The plan' });
  t.match(reply.clause('costs nothing.'), { written: '{ for you, costs nothing.' });
  t.equal(reply.words.end(), null, 'nothing is open');
  t.equal(reply.words.clause('{ Wait'), '');
  t.equal(reply.words.end(), '{ Wait');
});

const VISIBLE = fc.integer({ min: 0, max: 25 }).map((n) => `shown${String.fromCharCode(97 + n)}`);
const SHOWN = fc.oneof(
  VISIBLE,
  VISIBLE.map((word) => `**${word}**`),
  VISIBLE.map((word) => `${word}.`),
  VISIBLE.map((word) => `[${word}](https://secret.example.com/secret)`),
  VISIBLE.map((word) => `<b>${word}</b>,`),
);
const HIDDEN = fc.constantFrom(
  '{"name": "secret", "arguments": {"a": "secret, b. c }", "d": [1, 2]}}',
  '<tool_call>{"secret": 1}</tool_call>',
  '<think>secret. It is so. Yes, secret</think>',
  '```\nsecret = 1\nsecret.\n```',
  'end_call(reason="secret")',
  '😀',
);

t.test('RT-39 whatever is mixed and wherever it is cut: all words are said, and nothing secret', async () => {
  fc.assert(
    fc.property(
      fc.array(fc.oneof(SHOWN, HIDDEN), { maxLength: 30 }),
      fc.array(fc.integer({ min: 1, max: 25 }), { minLength: 1, maxLength: 4 }),
      (pieces, sizes) => {
        const text = pieces.join(' ');
        const spoken = sayStreamed(text, sizes).join(' ');
        const shown = (said: string) => said.match(/shown[a-z]/g) ?? [];
        return (
          !/secret|[<>{}*`[\]]/.test(spoken) && JSON.stringify(shown(spoken)) === JSON.stringify(shown(text))
        );
      },
    ),
    { seed: 17, numRuns: 500 },
  );
});
