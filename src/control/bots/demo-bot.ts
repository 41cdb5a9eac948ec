import type { Bot } from '../../contracts/bot.ts';

export const DEMO_BOT_ID = 'demo';

/**
 * The bot that an empty store begins with. It needs no account and no internet, and it understands the 14 recordings
 * of people that the Debian package pocketsphinx-testdata holds (src/cli/demo-script.ts), so that a first call can be
 * placed by the machine itself: cards, a number, an order to move, lines of a novel.
 */
export function demoBot(nowIso: string): Bot {
  return {
    bot_id: DEMO_BOT_ID,
    name: 'Demo',
    timezone: 'UTC',
    system_prompt: 'You are the demo bot of Trunkline. Answer in one or two short sentences.',
    opening_message: 'Hello, this is Trunkline. Name a card, give me a number, or say help.',
    stt: STT,
    llm: LLM,
    tts: TTS,
    vad: {},
    min_words_interruption: 0,
    re_engagement: {
      enabled: true,
      after_seconds: 8,
      prompts: ['Are you still there?', 'I will hang up now. Goodbye.'],
    },
    max_call_duration_seconds: 600,
    tools: [],
    created_at: nowIso,
    updated_at: nowIso,
  };
}

/**
 * What a caller may say. Free dictation is beyond the local acoustic model on a telephone line; a grammar is not.
 */
const GRAMMAR = `#JSGF V1.0;
grammar demo;

public <cards> = <card> [ <card> [ <card> ] ] | <rank> <card> | <rank> <rank>;
<card> = <rank> of <suit>;
<rank> = ace | two | three | four | five | six | seven | eight | nine | ten | jack | queen | king;
<suit> = clubs | diamonds | hearts | spades;

public <digits> = [ my number is ] <digit> <digit> <digit> [ <digit> [ <digit> [ <digit> ] ] ];
<digit> = zero | oh | one | two | three | four | five | six | seven | eight | nine;

public <values> = <value> <value> [ or ] <value> <value> | <tens> [ <one> ];
<value> = <one> | <tens> [ <one> ];
<one> = one | two | three | four | five | six | seven | eight | nine;
<tens> = twenty | thirty | forty | fifty | sixty | seventy | eighty | ninety;

public <move> = [ please ] go ( forward | backward ) <steps> ( meter | meters );
<steps> = one | two | three | four | five | six | seven | eight | nine | ten;

public <novel> =
    he was not an ill disposed young man
  | unless to be rather cold hearted and rather selfish is to be ill disposed
  | had he married a more amiable woman he might have been made still more respectable than he was
  | he might even have been made amiable himself
  | and mister john dashwood had then leisure to consider how much there might be prudently in his power to do for them
  | tell me a story | please read to me;

public <talk> = help | hello | hello there | what can you do | thank you | thanks a lot;

public <leaving> = go somewhere and do something | goodbye | good bye | that is all thank you;
`;

const SUIT = '(?:clubs|diamonds|hearts|spades)';

/** The first rule that matches answers, so the narrow ones stand before the wide ones. */
const RULES = [
  {
    intent: 'goodbye',
    pattern: 'good ?bye|go somewhere|that is all',
    reply: 'I will go somewhere and do something, then. Thank you for calling. Goodbye.',
    end: true,
  },
  {
    intent: 'move',
    pattern: 'go (forward|backward) (\\w+) meter',
    reply: 'Going {1} {2} meters. I have no legs, so please imagine it.',
  },
  {
    intent: 'story',
    pattern: 'ill disposed young man|story|read to me',
    reply:
      'Ah, you know the novel. Then let me tell you how it begins. The family of Dashwood had been long settled in Sussex. ' +
      'Their estate was large, and their residence was at Norland Park, in the centre of their property, where, for many ' +
      'generations, they had lived in so respectable a manner as to engage the general good opinion of their ' +
      'surrounding acquaintance. You may stop me at any time; just speak.',
  },
  {
    intent: 'character',
    pattern: 'cold hearted',
    reply: 'You stopped me, and rightly so. Cold hearted and selfish: that is the man.',
  },
  { intent: 'marriage', pattern: 'amiable woman', reply: 'A different marriage, a different man. I agree.' },
  { intent: 'amiable', pattern: 'made amiable', reply: 'Perhaps he might. We shall never know.' },
  {
    intent: 'leisure',
    pattern: 'john dashwood',
    reply: 'He considered it for so long that there was nothing left to do.',
  },
  {
    intent: 'hand',
    pattern: '(\\w{3,5}) of (\\w{5,8}) (\\w{3,5}) of (\\w{5,8}) (\\w{3,5}) of (\\w{5,8})$',
    reply: 'Three cards: {1} of {2}, {3} of {4}, {5} of {6}.',
  },
  {
    intent: 'two_cards',
    pattern: `(\\w{3,5}) (?:of )?(?:${SUIT} )?(\\w{3,5}) (?:of )?(${SUIT})$`,
    reply: 'Two cards: the {1} and the {2} of {3}.',
  },
  {
    intent: 'card',
    pattern: `(\\w{3,5}) (?:of )?(${SUIT})$`,
    reply: ['The {1} of {2}. Noted.', 'I lay the {1} of {2} on the table.'],
  },
  {
    intent: 'numbers',
    pattern: '(?:twen|thir|for|fif|six|seven|eigh|nine)ty',
    reply: 'That is a lot of numbers. I have written them all down.',
  },
  {
    intent: 'help',
    pattern: 'help|hello|what can you do',
    reply:
      'Name up to three cards, such as ten of clubs. Say three to six digits. Say go forward ten meters. ' +
      'Ask for a story. Or say goodbye.',
  },
  { intent: 'thanks', pattern: 'thank', reply: 'You are welcome.' },
  {
    intent: 'digits',
    pattern: '^(?:my number is )?([a-z]{2,5} [a-z]{2,5} [a-z ]{2,40})$',
    reply: 'Your number is {1}. Thank you.',
  },
  {
    intent: 'pair',
    pattern: '^([a-z]{3,5}) ([a-z]{3,5})$',
    reply: 'A {1} and a {2}. Which suits, I wonder?',
  },
];

const FALLBACK = {
  reply: ['Sorry, I did not understand that. Say help to hear what I know.', 'Once more, please.'],
};

const NO_INPUT = { reply: 'I did not hear anything.' };

const STT = { provider: 'pocketsphinx', language: 'en-US', grammar: GRAMMAR };
const LLM = { provider: 'scripted', rules: RULES, fallback: FALLBACK, no_input: NO_INPUT };
const TTS = { provider: 'espeak', language: 'en', voice: 'en-gb', speed: 165 };
