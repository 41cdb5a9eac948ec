/**
 * What a model writes for machines and must never be heard: code blocks, JSON, tool calls as text, hidden thinking.
 * Such a piece may begin in one clause and end in another, so a reply keeps one state for all its clauses.
 */
export interface LeakState {
  hidden: Hidden | null;
  /** How much of the present piece was swallowed. */
  hiddenChars: number;
  /** The beginning of a tag at the end of the last clause, which only the next one can tell apart. */
  carry: string;
}

type Hidden =
  | { kind: 'fence'; mark: string }
  | { kind: 'element'; name: string }
  | { kind: 'channel' }
  | { kind: 'json'; depth: number; inString: boolean };

/** A piece that does not end is given up after so much, so that a stray brace cannot silence a whole reply. */
const MAX_HIDDEN_CHARS = 4_000;

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

export function newLeakState(): LeakState {
  return { hidden: null, hiddenChars: 0, carry: '' };
}

/** The clause without what is for machines; `onLeak` is called once for each piece. */
export function withoutLeaks(clause: string, state: LeakState, isLast: boolean, onLeak: () => void): string {
  let text = state.carry === '' ? clause : `${state.carry} ${clause}`;
  state.carry = '';
  if (!isLast) {
    const unfinished = UNFINISHED.exec(text)?.[0] ?? '';
    state.carry = unfinished;
    text = text.slice(0, text.length - unfinished.length);
  }
  let kept = '';
  let from = 0;
  TOKEN.lastIndex = 0;
  for (let match = TOKEN.exec(text); match; match = TOKEN.exec(text)) {
    const token = match[0];
    const end = match.index + token.length;
    if (state.hidden) {
      state.hiddenChars += end - from;
      from = end;
      if (closes(state.hidden, token, match) || state.hiddenChars > MAX_HIDDEN_CHARS) state.hidden = null;
      // An escaped quote inside of JSON text is not its end.
      else if (token === '\\') TOKEN.lastIndex = end + 1;
      continue;
    }
    const opened = opens(token, match);
    if (opened === undefined) continue;
    kept += `${text.slice(from, match.index)} `;
    from = end;
    state.hidden = opened;
    state.hiddenChars = 0;
    onLeak();
  }
  if (!state.hidden) return kept + text.slice(from);
  state.hiddenChars += text.length - from;
  if (state.hiddenChars > MAX_HIDDEN_CHARS) state.hidden = null;
  return kept;
}

/** What begins with this token: a hidden piece, a mark that vanishes alone (null), or nothing (undefined). */
function opens(token: string, match: RegExpExecArray): Hidden | null | undefined {
  if (token === '```' || token === '~~~') return { kind: 'fence', mark: token };
  if (token === '{') return { kind: 'json', depth: 1, inString: false };
  if (token.startsWith('<|')) return CHANNEL_MARK.test(token) ? { kind: 'channel' } : null;
  if (!token.startsWith('<')) return undefined;
  const isAlone = match[1] === '/' || token.endsWith('/>');
  return isAlone ? null : { kind: 'element', name: (match[2] ?? '').toLowerCase() };
}

function closes(hidden: Hidden, token: string, match: RegExpExecArray): boolean {
  if (hidden.kind === 'fence') return token === hidden.mark;
  if (hidden.kind === 'channel') return token.startsWith('<|');
  if (hidden.kind === 'element') return match[1] === '/' && (match[2] ?? '').toLowerCase() === hidden.name;
  // A line break cannot stand inside a JSON text: the quote before it was a stray one.
  if (token === '\n') hidden.inString = false;
  else if (token === '"') hidden.inString = !hidden.inString;
  else if (!hidden.inString && token === '{') hidden.depth += 1;
  else if (!hidden.inString && token === '}') hidden.depth -= 1;
  return hidden.depth === 0;
}
