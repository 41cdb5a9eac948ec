import { FRAME_MS } from '../src/contracts/limits.ts';

/**
 * The bot of the bench: real ears, scripted words. What it says is cut into clauses of one length, so that the dialler
 * knows how many frames each must have (frame-ledger.ts).
 */
const CLAUSE_CHARS = 40;
const MS_PER_CHAR = 25;
const CLAUSE_MS = CLAUSE_CHARS * MS_PER_CHAR;
export const CLAUSE_FRAMES = CLAUSE_MS / FRAME_MS;

/** Spelled out, because a digit would be spoken as a word and change the length of its clause. */
const ORDINALS = ['first', 'second', 'third', 'fourth', 'fifth', 'sixth'] as const;

const SHORT_CLAUSES = 2;
const LONG_CLAUSES = 6;
/** Between the two lengths of an answer: a caller who breaks in now always breaks into a long one. */
export const BREAK_IN_MS = { from: SHORT_CLAUSES * CLAUSE_MS + 300, to: SHORT_CLAUSES * CLAUSE_MS + 1_500 };

/** What the bench changes in the scripted bot of the config server. */
export const BENCH_BOT = {
  opening_message: speech(1),
  stt: { provider: 'scripted', script: ['tell me at length', 'tell me briefly'], loop: true },
  llm: {
    provider: 'scripted',
    rules: [{ intent: 'length', pattern: 'length', reply: speech(LONG_CLAUSES) }],
    fallback: { reply: speech(SHORT_CLAUSES) },
  },
  tts: { provider: 'scripted', ms_per_char: MS_PER_CHAR },
  re_engagement: { after_seconds: 120, prompts: [] },
  max_call_duration_seconds: 3_600,
};

/** So many sentences of exactly CLAUSE_CHARS characters. */
function speech(clauses: number): string {
  return Array.from({ length: clauses }, (_, index) => {
    const words = `This ${ORDINALS[index % ORDINALS.length]} sentence is what the bench says`;
    return `${words
      .slice(0, CLAUSE_CHARS - 1)
      .trimEnd()
      .padEnd(CLAUSE_CHARS - 1, 'n')}.`;
  }).join(' ');
}
