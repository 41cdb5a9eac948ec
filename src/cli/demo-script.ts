/** One recording of a person in the conversation of the demo. */
export interface DemoClip {
  /** Absolute path in the Debian package pocketsphinx-testdata; `.raw` is 16 kHz, mono, 16-bit, without a header. */
  file: string;
  /** What the demo bot's speech to text makes of it. */
  expectedPhrase: string;
  /** The rule of the demo bot that answers. */
  intent: string;
  /** It is spoken while the bot still talks: the clip before it asks for a long answer. */
  interrupts?: true;
}

const DATA = '/usr/share/pocketsphinx/test/data';
const NOVEL = `${DATA}/librivox/sense_and_sensibility_01_austen_64kb`;

/** All 14, in the order of a conversation; at the last one the bot hangs up. */
export const DEMO_CLIPS: readonly DemoClip[] = [
  { file: `${DATA}/cards/001.wav`, expectedPhrase: 'ten of clubs', intent: 'card' },
  { file: `${DATA}/cards/002.wav`, expectedPhrase: 'four queen of clubs', intent: 'two_cards' },
  { file: `${DATA}/cards/003.wav`, expectedPhrase: 'seven of clubs', intent: 'card' },
  { file: `${DATA}/cards/004.wav`, expectedPhrase: 'five five', intent: 'pair' },
  {
    file: `${DATA}/cards/005.wav`,
    expectedPhrase: 'eight of spades four of clubs seven of hearts',
    intent: 'hand',
  },
  { file: `${DATA}/goforward.raw`, expectedPhrase: 'go forward ten meters', intent: 'move' },
  { file: `${DATA}/tidigits/dhd.2934z.raw`, expectedPhrase: 'two nine three four zero', intent: 'digits' },
  { file: `${DATA}/numbers.raw`, expectedPhrase: 'thirty three four or six ninety two', intent: 'numbers' },
  { file: `${NOVEL}-0880.wav`, expectedPhrase: 'he was not an ill disposed young man', intent: 'story' },
  {
    file: `${NOVEL}-0890.wav`,
    expectedPhrase: 'unless to be rather cold hearted and rather selfish is to be ill disposed',
    intent: 'character',
    interrupts: true,
  },
  {
    file: `${NOVEL}-0920.wav`,
    expectedPhrase:
      'had he married a more amiable woman he might have been made still more respectable than he was',
    intent: 'marriage',
  },
  {
    file: `${NOVEL}-0930.wav`,
    expectedPhrase: 'he might even have been made amiable himself',
    intent: 'amiable',
  },
  {
    file: `${NOVEL}-0870.wav`,
    expectedPhrase:
      'and mister john dashwood had then leisure to consider how much there might be prudently in his power to do for them',
    intent: 'leisure',
  },
  { file: `${DATA}/something.raw`, expectedPhrase: 'go somewhere and do something', intent: 'goodbye' },
];
