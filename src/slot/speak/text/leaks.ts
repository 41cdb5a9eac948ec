/**
 * What a model writes for machines and must never be heard: code blocks, JSON, tool calls as text, hidden thinking.
 * Such a piece may begin in one clause and end in another, so a reply keeps one state for all its clauses.
 *
 * A stray brace, fence or tag hides nothing for long: where what follows does not prove that code has begun, the text
 * waits for its sentence to end, and is spoken where nothing has closed by then.
 */
export interface LeakState {
  /** What is known to be for machines and has not ended. */
  hidden: Hidden | null;
  /** How much of the present piece was swallowed. */
  hiddenChars: number;
  /** The end of the text so far, as it was written, that only what follows can tell apart. */
  waiting: string;
}

type Hidden =
  | { kind: 'fence'; mark: string }
  | { kind: 'element'; name: string }
  | { kind: 'channel' }
  | { kind: 'json'; depth: number; inString: boolean; stringFrom: number };

/** A piece that does not end is given up after so much, so that it cannot silence a whole reply. */
const MAX_HIDDEN_CHARS = 4_000;
/** A text within JSON that is longer has lost its closing quote. */
const MAX_STRING_CHARS = 600;
/** The address behind a channel mark ("commentary to=functions.x"). */
const MAX_CHANNEL_CHARS = 200;
/** What may be code is waited for so long at most, however long its sentence is. */
const MAX_WAITING_CHARS = 400;

/** Elements whose content is for machines. Other tags only lose their brackets (filters.ts). */
const ELEMENTS =
  'tool_calls?|tool_code|tool_use|tool_response|tool_result|tool_outputs?|function_calls?|function_results?|function|antml:[a-z_]{1,30}|invoke|parameters?|think|thinking|reasoning|reflection|scratchpad|analysis|script|style';
const TOKEN = new RegExp(
  `\`\`\`|~~~|<\\|[a-z_]{1,40}\\|>|<(/?)(${ELEMENTS})(?:[\\s=:][^<>]{0,300})?>|[{}"\\\\\\n]`,
  'gi',
);
/** The unfinished beginning of a tag at the end of a clause; clauses end at spaces, and only tags have some. */
const UNFINISHED = /<(?:[a-z/|!][^<>]{0,200})?$/i;
/** Words that follow a channel mark ("commentary to=functions.x") up to the message mark are an address. */
const CHANNEL_MARK = /^<\|(?:channel|start|start_header_id|python_tag)\|>$/i;
const SENTENCE_END = /[.!?।॥…؟。！？۔]["'”’)\]]{0,3}(?=\s|$)/;
const ENDS_SENTENCE = /[.!?।॥…؟。！？۔]["'”’)\]]{0,3}\s*$/;

/** A brace with a quoted name behind it begins an object; what has not come yet may still be that name. */
const OBJECT_BEGINS = /\{\s{0,20}(?:"[^"\n]{0,80}"\s{0,3}:|'[^'\n]{1,80}'\s{0,3}:)/y;
const OBJECT_MAY_BEGIN = /\{\s{0,20}(?:"[^"\n]{0,80}"?|'[^'\n]{0,80}'?)?\s{0,3}$/y;
/** A fence that names a language and has the rest of its line empty. */
const FENCE_OF_LANGUAGE = /(?:```|~~~)[a-z][a-z0-9+#-]{0,14}[ \t]{0,20}(?:\n|$)/y;
/** Signs that prose has not. */
const CODE_SIGNS = /[=;{}<>\\]|\w\(/;
/** Behind words and before a word, a tag of one plain name is spoken about: "the <function> key". */
const WORD_FOLLOWS = / \p{L}/uy;

export function newLeakState(): LeakState {
  return { hidden: null, hiddenChars: 0, waiting: '' };
}

/** The clause without what is for machines; `onLeak` is called once for each piece. */
export function withoutLeaks(clause: string, state: LeakState, isLast: boolean, onLeak: () => void): string {
  const waited = state.waiting.length;
  const text = withWaiting(state.waiting, clause);
  state.waiting = '';
  const tail = isLast ? '' : unfinishedTag(text);
  const whole = tail === '' ? text : text.slice(0, text.length - tail.length);
  let kept = '';
  let from = 0;
  TOKEN.lastIndex = 0;
  for (let match = TOKEN.exec(whole); match; match = TOKEN.exec(whole)) {
    const token = match[0];
    const end = match.index + token.length;
    if (state.hidden) {
      state.hiddenChars += end - from;
      from = end;
      if (closes(state.hidden, token, match, state.hiddenChars) || isGivenUp(state)) state.hidden = null;
      // An escaped quote inside of JSON text is not its end.
      else if (token === '\\') TOKEN.lastIndex = end + 1;
      continue;
    }
    const opened = opens(token, match);
    if (opened === undefined) continue;
    // A whole tag waits only where it is spoken about.
    const isMention = end <= waited || isMentioned(token, whole, match.index);
    const proof = opened === null ? 'leak' : proofOf(opened, whole, match.index, { end, isLast, isMention });
    if (proof === 'stray') continue;
    kept += `${whole.slice(from, match.index)} `;
    from = match.index;
    if (proof === 'open') {
      state.waiting = whole.slice(from) + tail;
      return kept;
    }
    onLeak();
    from = end;
    if (proof === 'leak') {
      state.hidden = opened;
      state.hiddenChars = 0;
    } else {
      from = proof.end;
      TOKEN.lastIndex = from;
    }
  }
  state.waiting = tail;
  if (!state.hidden) return kept + whole.slice(from);
  state.hiddenChars += whole.length - from;
  if (isGivenUp(state)) state.hidden = null;
  return kept;
}

/** What was written so far of a text that waits, with what comes behind it. */
export function withWaiting(waiting: string, clause: string): string {
  return waiting === '' || clause === '' ? waiting + clause : `${waiting} ${clause}`;
}

/** What begins with this token: a piece for machines, a mark that vanishes alone (null), or nothing (undefined). */
function opens(token: string, match: RegExpExecArray): Hidden | null | undefined {
  if (token === '```' || token === '~~~') return { kind: 'fence', mark: token };
  if (token === '{') return { kind: 'json', depth: 1, inString: false, stringFrom: 0 };
  if (token.startsWith('<|')) return CHANNEL_MARK.test(token) ? { kind: 'channel' } : null;
  if (!token.startsWith('<')) return undefined;
  const isAlone = match[1] === '/' || token.endsWith('/>');
  return isAlone ? null : { kind: 'element', name: (match[2] ?? '').toLowerCase() };
}

/**
 * What is known of an opening: it is a leak, whatever follows; it has closed within its sentence, at `end`; that is
 * still open; or the sentence is over, and it was a stray sign.
 */
function proofOf(
  opened: Hidden,
  text: string,
  at: number,
  { end, isLast, isMention }: { end: number; isLast: boolean; isMention: boolean },
): 'leak' | 'open' | 'stray' | { end: number } {
  if (opened.kind === 'channel') return 'leak';
  if (opened.kind === 'element' && !isMention) return 'leak';
  if (opened.kind === 'fence' && matchesAt(FENCE_OF_LANGUAGE, text, at)) return 'leak';
  if (opened.kind === 'json') {
    if (matchesAt(OBJECT_BEGINS, text, at)) return 'leak';
    if (!isLast && matchesAt(OBJECT_MAY_BEGIN, text, at)) return 'open';
  }
  const ahead = text.slice(end, end + MAX_WAITING_CHARS);
  const over = ahead.search(SENTENCE_END);
  const sentence = over < 0 ? ahead : ahead.slice(0, over);
  const closed = closingIn(sentence, opened);
  if (closed > 0) return { end: end + closed };
  if (over < 0 && !isLast && text.length <= end + MAX_WAITING_CHARS) return 'open';
  return opened.kind === 'fence' && CODE_SIGNS.test(sentence) ? 'leak' : 'stray';
}

function matchesAt(pattern: RegExp, text: string, at: number): boolean {
  pattern.lastIndex = at;
  return pattern.test(text);
}

function isMentioned(tag: string, text: string, at: number): boolean {
  if (!/^<[a-z]+>$/i.test(tag)) return false;
  const before = text.slice(Math.max(0, at - 4), at);
  return /[\p{L}\p{M}\p{N},]["'”’)]?\s$/u.test(before) && matchesAt(WORD_FOLLOWS, text, at + tag.length);
}

/** How far into a sentence a piece reaches that closes there; 0 where it does not. */
function closingIn(sentence: string, opened: Hidden): number {
  if (opened.kind === 'fence') {
    const at = sentence.indexOf(opened.mark);
    return at < 0 ? 0 : at + opened.mark.length;
  }
  if (opened.kind === 'element') {
    const closing = `</${opened.name}>`;
    const at = sentence.toLowerCase().indexOf(closing);
    return at < 0 ? 0 : at + closing.length;
  }
  if (!sentence.includes('}')) return 0;
  let depth = 1;
  for (let at = 0; at < sentence.length; at++) {
    const char = sentence.charAt(at);
    if (char === '{') depth += 1;
    else if (char === '}' && --depth === 0) return at + 1;
  }
  return 0;
}

/** The beginning of a tag that the next clause may finish; none where the sentence is over and no text is quoted. */
function unfinishedTag(text: string): string {
  const tail = UNFINISHED.exec(text)?.[0] ?? '';
  return ENDS_SENTENCE.test(tail) && !/["'=]/.test(tail) ? '' : tail;
}

function isGivenUp({ hidden, hiddenChars }: LeakState): boolean {
  if (hidden?.kind === 'channel') return hiddenChars > MAX_CHANNEL_CHARS;
  if (hidden?.kind === 'json' && hidden.inString && hiddenChars - hidden.stringFrom > MAX_STRING_CHARS)
    return true;
  return hiddenChars > MAX_HIDDEN_CHARS;
}

function closes(hidden: Hidden, token: string, match: RegExpExecArray, hiddenChars: number): boolean {
  if (hidden.kind === 'fence') return token === hidden.mark;
  if (hidden.kind === 'channel') return token.startsWith('<|');
  if (hidden.kind === 'element') return match[1] === '/' && (match[2] ?? '').toLowerCase() === hidden.name;
  // A line break cannot stand inside a JSON text: the quote before it was a stray one.
  if (token === '\n') hidden.inString = false;
  else if (token === '"') {
    hidden.inString = !hidden.inString;
    hidden.stringFrom = hiddenChars;
  } else if (!hidden.inString && token === '{') hidden.depth += 1;
  else if (!hidden.inString && token === '}') hidden.depth -= 1;
  return hidden.depth === 0;
}
