/**
 * What an emulated language model says to one request. The same script means the same at every vendor; each emulator
 * puts it into its own wire format.
 */
export interface ScriptedAnswer {
  /** A list is streamed piece by piece as given; one string is cut into words. */
  text?: string | readonly string[];
  /** Comes before the text, as the vendor's thought part, thinking block or reasoning item; never to be spoken. */
  thoughts?: string | readonly string[];
  toolCalls?: readonly ScriptedToolCall[];
  /** Deltas of several tool calls alternate (OpenAI chat); without it one call ends before the next begins. */
  interleave?: boolean;
  /** The meaning, which each vendor words in its own way; `finishWord` is sent as it stands. */
  finish?: ScriptedFinish;
  finishWord?: string;
  /** Gemini: the prompt itself was blocked, and there is no candidate. */
  blockReason?: string;
  /** OpenAI: text of a refusal, which comes instead of an answer. */
  refusal?: string | readonly string[];
  /** False leaves the usage out; the numbers replace what the emulator counted. */
  usage?: false | { promptTokens?: number; completionTokens?: number; thoughtTokens?: number };
  /** Before the status line; on the emulator's clock. */
  firstByteMs?: number;
  /** Between any two events of the stream; on the emulator's clock. */
  betweenMs?: number;
  /** TCP segments of this many bytes, which splits characters of several bytes. */
  splitEvery?: number;
  /** What an honest stream may hold besides the answer: comments, pings, events of a kind that nobody knows. */
  noise?: boolean;
  fault?: LlmFault;
}

export interface ScriptedToolCall {
  name: string;
  /** A string is sent as it stands, valid JSON or not. */
  args: Record<string, unknown> | string;
  /** Null leaves the id out. */
  id?: string | null;
  /** Argument text per delta: a number of characters, or the very pieces. Vendors that send calls whole ignore it. */
  fragments?: number | readonly string[];
}

export type ScriptedFinish = 'stop' | 'tool_calls' | 'length' | 'refused';

export type LlmFault =
  /** An answer without a stream, as the vendor words it. */
  | { kind: 'refuse'; as: RefusalKind; retryAfterMs?: number }
  /** Any status and body at all. */
  | { kind: 'status'; status: number; body?: unknown; headers?: Record<string, string> }
  /** The connection is reset before a byte is answered. */
  | { kind: 'reset' }
  /** The request is read and never answered. */
  | { kind: 'silent' }
  /** The rest happens after so many events that carry text or a tool call. */
  | { kind: 'stall'; after: number }
  | { kind: 'cut'; after: number }
  | { kind: 'malformed'; after: number }
  | { kind: 'error_event'; after: number; as?: RefusalKind }
  /** The last events of the answer come twice. */
  | { kind: 'duplicate_final' }
  /** The stream closes properly but without its final events. */
  | { kind: 'no_end' }
  /** Only the mark that nothing follows is left out (OpenAI's `[DONE]`). */
  | { kind: 'no_done' };

export type RefusalKind =
  | 'rate_limit'
  | 'quota'
  | 'auth'
  | 'permission'
  | 'not_found'
  | 'bad_request'
  | 'context_too_large'
  | 'too_large'
  | 'server_error'
  | 'unavailable'
  | 'overloaded'
  | 'timeout';

/** Gives the answer to a request that passed the vendor's checks. */
export type Responder = (request: AskedRequest) => ScriptedAnswer;

/** One request as all vendors have it, for responders and for tests. */
export interface AskedRequest {
  /** Position among the requests for an answer, from 0. */
  index: number;
  model: string;
  /** All that came before the conversation: system text, instructions. */
  system: string;
  lastUserText: string;
  /** Results of tools, where the request ends with some. */
  toolResults: readonly unknown[];
  toolNames: readonly string[];
  /** The request asks for a JSON object. */
  json: boolean;
  /** Most tokens of the answer, null without a limit. */
  maxTokens: number | null;
  body: Record<string, unknown>;
}

/** The pieces of a text as they are streamed: words with the space before the next one. */
export function piecesOf(text: string | readonly string[] | undefined): string[] {
  if (text === undefined) return [];
  if (typeof text !== 'string') return [...text];
  return text.match(/\S+\s*|\s+/g) ?? [];
}

export function argumentText(call: ScriptedToolCall): string {
  return typeof call.args === 'string' ? call.args : JSON.stringify(call.args);
}

/** The arguments as an object; a script's text that is no JSON object counts as none, as with an empty input. */
export function argumentObject(call: ScriptedToolCall): Record<string, unknown> {
  if (typeof call.args !== 'string') return call.args;
  const value = parsedResult(call.args);
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

export function argumentPieces(call: ScriptedToolCall): string[] {
  const text = argumentText(call);
  if (call.fragments !== undefined && typeof call.fragments !== 'number') return [...call.fragments];
  const size = call.fragments ?? 12;
  const pieces: string[] = [];
  for (let at = 0; at < text.length; at += size) pieces.push(text.slice(at, at + size));
  return pieces;
}

/** How the answer ends when its script does not say: with tool calls if there are some. */
export function finishOf(answer: ScriptedAnswer): ScriptedFinish {
  return answer.finish ?? ((answer.toolCalls?.length ?? 0) > 0 ? 'tool_calls' : 'stop');
}

/**
 * What a model without a script says: it repeats what it heard, or tells the results of tools. "Use the tool NAME"
 * makes it call that tool with `{}` or the JSON object that follows the name.
 */
export const plainResponder: Responder = (request) => {
  if (request.json) return { text: '{"summary":"The caller spoke with the bot.","answered":true}' };
  if (request.toolResults.length > 0) {
    return { text: `The tool says ${JSON.stringify(request.toolResults[0])}. What else can I do?` };
  }
  const wanted = /\buse the tool ([\w.:-]+?)(?:\.?$|[\s.,]+(\{.*\})?)/i.exec(request.lastUserText);
  const name = wanted?.[1];
  if (name !== undefined && request.toolNames.includes(name)) {
    return { toolCalls: [{ name, args: wanted?.[2] ?? {} }] };
  }
  const heard = request.lastUserText.trim();
  return { text: heard === '' ? 'Hello, how can I help?' : `You said: ${heard} What else can I do?` };
};

/** A tool's result where the vendor takes it as a text: most hold JSON. */
export function parsedResult(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
