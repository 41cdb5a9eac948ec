import type { ProviderConfig } from '../../../contracts/runtime-config.ts';
import { ProviderSettings } from '../../contract/provider-settings.ts';

/** What a bot can hear: a JSGF grammar, its words, and how it is shown to the decoder. */
export interface SpokenGrammar {
  /** Declarations of the bot's own grammar, header included. */
  source: string;
  /** Names of the rules that may stand for a whole turn. */
  publicRules: readonly string[];
  /** Every word of the grammar in lower case, sorted. */
  words: readonly string[];
}

export const MAX_GRAMMAR_LENGTH = 20_000;
const MAX_PHRASES = 500;
const MAX_PHRASE_LENGTH = 200;
const MAX_WORDS = 2_000;

/** A word as the pronouncing dictionary writes it. */
const WORD = /^[a-z][a-z'.-]*$/;
/** Rules that this product adds to a grammar begin so; a bot may not use the name. */
const OWN_RULE = /^trunkline/i;

/**
 * Reads `grammar` (JSGF text) or `phrases` (a list of what a caller may say). Throws `bad_provider_config` naming the
 * key and the spot.
 */
export function readSpokenGrammar(config: ProviderConfig): SpokenGrammar {
  const settings = new ProviderSettings('stt', config);
  const grammar = settings.text('grammar', { maximumLength: MAX_GRAMMAR_LENGTH });
  const phrases = settings.texts('phrases', { maximumItems: MAX_PHRASES, maximumLength: MAX_PHRASE_LENGTH });
  if (grammar !== undefined && phrases.length > 0) {
    throw settings.refusal('grammar', 'and stt.phrases are both given; keep one of them');
  }
  const key = grammar === undefined ? 'phrases' : 'grammar';
  if (grammar === undefined && phrases.length === 0) {
    throw settings.refusal(key, 'is missing; list what a caller may say, or give a JSGF text in stt.grammar');
  }
  const refuse = (sentence: string) => settings.refusal(key, sentence);
  const read = grammar === undefined ? fromPhrases(phrases, refuse) : fromJsgf(grammar, refuse);
  if (read.words.length > MAX_WORDS) throw refuse(`has more than ${MAX_WORDS} different words`);
  return read;
}

type Refuse = (sentence: string) => Error;

/** A grammar whose turns are exactly the phrases. */
function fromPhrases(phrases: readonly string[], refuse: Refuse): SpokenGrammar {
  const words = new Set<string>();
  const turns = phrases.map((phrase) => {
    const spoken = phrase
      .toLowerCase()
      .replace(/[,!?;:]|\.+(?=\s|$)/g, ' ')
      .split(/\s+/)
      .filter(Boolean);
    const odd = spoken.find((word) => !WORD.test(word));
    if (odd !== undefined) {
      throw refuse(
        `holds ${JSON.stringify(odd)}; write phrases in words of the letters a to z, numbers spelled out`,
      );
    }
    if (spoken.length === 0) throw refuse('holds a phrase without words');
    for (const word of spoken) words.add(word);
    return spoken.join(' ');
  });
  return {
    source: `#JSGF V1.0;\ngrammar bot;\npublic <turn> = ${[...new Set(turns)].join(' | ')};\n`,
    publicRules: ['turn'],
    words: [...words].sort(),
  };
}

const TOKEN =
  /\s+|\/\/[^\n]*|\/\*[\s\S]*?\*\/|\/[0-9.eE+-]+\/|\{(?:\\.|[^}\\])*\}|<[A-Za-z0-9_.*-]+>|"[^"\\\n]*"|[|()[\]*+;=]|[^\s|()[\]*+;={}<>"/]+/y;

/**
 * Takes a JSGF text apart as far as is needed to know its rules and words. The decoder ends the program on a grammar
 * that it cannot read, so what is certainly wrong is refused here, where the bot can be told.
 */
function fromJsgf(text: string, refuse: Refuse): SpokenGrammar {
  const header = /^\uFEFF?\s*#JSGF\s+V1\.0[^;\n]*;/i.exec(text);
  if (!header) throw refuse('must begin with "#JSGF V1.0;"');
  const statements = splitStatements(text, header[0].length, refuse);
  const defined = new Set<string>();
  const used = new Set<string>();
  const publicRules: string[] = [];
  const words = new Set<string>();
  const [declaration, ...rules] = statements;
  if (declaration?.[0] !== 'grammar' || declaration.length !== 2)
    throw refuse('must name itself: "grammar bot;"');
  for (const statement of rules) {
    if (statement[0] === 'import') throw refuse('imports another grammar; write its rules here instead');
    const isPublic = statement[0] === 'public';
    const [rule, equals, ...body] = isPublic ? statement.slice(1) : statement;
    const name = /^<([A-Za-z0-9_-]+)>$/.exec(rule ?? '')?.[1];
    if (name === undefined || equals !== '=' || body.length === 0) {
      throw refuse(`has a statement that is no rule near ${JSON.stringify(statement.slice(0, 4).join(' '))}`);
    }
    if (OWN_RULE.test(name)) throw refuse(`may not name a rule <${name}>`);
    if (defined.has(name)) throw refuse(`defines <${name}> twice`);
    defined.add(name);
    if (isPublic) publicRules.push(name);
    for (const token of body) readBodyToken(token, used, words, refuse);
  }
  const unknown = [...used].find((name) => !defined.has(name));
  if (unknown !== undefined) throw refuse(`uses <${unknown}>, which it does not define`);
  if (publicRules.length === 0) throw refuse('has no public rule, so no caller could say anything');
  if (words.size === 0) throw refuse('has no words, so no caller could say anything');
  // The first line must be exact for the decoder; the rest stays as the bot has it, in lower case like the dictionary.
  const source = `#JSGF V1.0;\ngrammar bot;\n${rules.map((statement) => `${statement.join(' ')};\n`).join('')}`;
  return { source, publicRules, words: [...words].sort() };
}

/** Statements as lists of tokens, without comments, tags, quotes and the closing semicolons. */
function splitStatements(text: string, from: number, refuse: Refuse): string[][] {
  const statements: string[][] = [];
  let open: string[] = [];
  TOKEN.lastIndex = from;
  while (TOKEN.lastIndex < text.length) {
    const at = TOKEN.lastIndex;
    const token = TOKEN.exec(text)?.[0];
    if (token === undefined) throw refuse(`cannot be read near ${JSON.stringify(text.slice(at, at + 20))}`);
    if (token === ';') {
      if (open.length > 0) statements.push(open);
      open = [];
    } else if (token.startsWith('"')) {
      open.push(...token.slice(1, -1).split(/\s+/).filter(Boolean));
    } else if (token.trim() !== '' && !token.startsWith('{') && !/^\/[/*]/.test(token)) {
      open.push(token);
    }
  }
  if (open.length > 0)
    throw refuse(`does not end with ";" after ${JSON.stringify(open.slice(-3).join(' '))}`);
  return statements;
}

function readBodyToken(token: string, used: Set<string>, words: Set<string>, refuse: Refuse): void {
  if (/^[|()[\]*+]$/.test(token) || /^\/.*\/$/.test(token)) return;
  const rule = /^<(.+)>$/.exec(token)?.[1];
  if (rule !== undefined) {
    if (rule !== 'NULL' && rule !== 'VOID') used.add(rule);
    return;
  }
  const word = token.toLowerCase();
  if (!WORD.test(word)) {
    throw refuse(`holds ${JSON.stringify(token)}; write words in the letters a to z, numbers spelled out`);
  }
  words.add(word);
}
