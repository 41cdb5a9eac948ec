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

t.test('a stray brace or an open fence cannot silence the bot for good', async (t) => {
  for (const opening of ['Look { here.', 'Look ```', 'Look <think> here.', 'Look {"a": "b.']) {
    const reply = new SpeakableReply(english);
    const spoken = [reply.clause(opening).spoken];
    for (let clause = 0; clause < 200; clause++)
      spoken.push(reply.clause('These words are a sentence.').spoken);
    t.equal(spoken[0], 'Look');
    t.equal(spoken.at(-1), 'These words are a sentence.', opening);
  }
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
