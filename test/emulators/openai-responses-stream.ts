import {
  argumentPieces,
  argumentText,
  finishOf,
  piecesOf,
  type RefusalKind,
  type ScriptedAnswer,
} from './llm/answer.ts';
import { completionTokens } from './llm/answer-tokens.ts';
import { frame, type StreamFrame } from './llm/stream-frames.ts';

export interface ResponsesTurn {
  id: string;
  model: string;
  obfuscation: boolean;
  /** The request asked for the encrypted content of reasoning. */
  encrypted: boolean;
  promptTokens: number;
  cachedTokens: number;
  writtenTokens: number;
}

type Json = Record<string, unknown>;

/** Events of the Responses API and the response whole; the sequence number leaves gaps where there is noise. */
export function responsesAnswer(
  answer: ScriptedAnswer,
  turn: ResponsesTurn,
): { frames: StreamFrame[]; whole: Json } {
  const events = new ResponseEvents(answer.noise === true);
  const base = baseOf(turn);
  events.add('head', 'response.created', {
    response: { ...base, status: 'in_progress', output: [], usage: null },
  });
  events.add('head', 'response.in_progress', {
    response: { ...base, status: 'in_progress', output: [], usage: null },
  });
  const output: Json[] = [];
  if (answer.thoughts !== undefined) output.push(reasoningItem(events, answer, turn, output.length));
  if (answer.text !== undefined || answer.refusal !== undefined) {
    output.push(messageItem(events, answer, turn, output.length));
  }
  for (const [index, call] of (answer.toolCalls ?? []).entries()) {
    const id = `fc_${turn.id}_${index}`;
    const item = (args: string, status: string): Json => ({
      id,
      type: 'function_call',
      status,
      call_id: call.id ?? `call_${turn.id}_${index}`,
      name: call.name,
      arguments: args,
    });
    const at = { item_id: id, output_index: output.length };
    events.add('content', 'response.output_item.added', {
      output_index: output.length,
      item: item('', 'in_progress'),
    });
    for (const delta of argumentPieces(call)) {
      events.add('content', 'response.function_call_arguments.delta', { ...at, delta });
    }
    const done = item(argumentText(call), 'completed');
    events.add('content', 'response.function_call_arguments.done', {
      ...at,
      name: call.name,
      arguments: argumentText(call),
    });
    events.add('content', 'response.output_item.done', { output_index: output.length, item: done });
    output.push(done);
  }
  const whole = { ...base, output, ...ending(answer), usage: usageOf(answer, turn) };
  events.add('end', `response.${whole.status}`, { response: whole });
  return { frames: events.frames, whole };
}

/** The bare error event of a stream that broke. */
export function failedEvent(kind: RefusalKind): StreamFrame {
  const data = {
    type: 'error',
    sequence_number: 999,
    code: kind === 'rate_limit' ? 'rate_limit_exceeded' : 'server_error',
    message: 'The server had an error while processing your request.',
    param: null,
  };
  return frame('end', data, 'error');
}

class ResponseEvents {
  readonly frames: StreamFrame[] = [];
  private readonly noisy: boolean;
  private sequence = 0;

  constructor(noisy: boolean) {
    this.noisy = noisy;
  }

  add(kind: StreamFrame['kind'], type: string, fields: Json): void {
    if (this.noisy && this.sequence > 0) {
      const unknown = {
        type: 'response.something_new.delta',
        sequence_number: this.sequence + 1,
        delta: 'noise',
      };
      this.frames.push(frame('comment', 'ping'), frame('noise', unknown, unknown.type));
      this.sequence += 3;
    }
    this.frames.push(frame(kind, { type, sequence_number: this.sequence, ...fields }, type));
    this.sequence += 1;
  }
}

function reasoningItem(
  events: ResponseEvents,
  answer: ScriptedAnswer,
  turn: ResponsesTurn,
  at: number,
): Json {
  const id = `rs_${turn.id}`;
  const text = piecesOf(answer.thoughts).join('');
  const item = {
    id,
    type: 'reasoning',
    summary: [] as Json[],
    ...(turn.encrypted
      ? { encrypted_content: Buffer.from(`reasoning of ${turn.id}`).toString('base64') }
      : {}),
  };
  const place = { item_id: id, output_index: at, summary_index: 0 };
  events.add('head', 'response.output_item.added', { output_index: at, item });
  events.add('head', 'response.reasoning_summary_part.added', {
    ...place,
    part: { type: 'summary_text', text: '' },
  });
  for (const delta of piecesOf(answer.thoughts)) {
    events.add('head', 'response.reasoning_summary_text.delta', { ...place, delta });
  }
  events.add('head', 'response.reasoning_summary_text.done', { ...place, text });
  const done = { ...item, summary: [{ type: 'summary_text', text }] };
  events.add('head', 'response.output_item.done', { output_index: at, item: done });
  return done;
}

function messageItem(events: ResponseEvents, answer: ScriptedAnswer, turn: ResponsesTurn, at: number): Json {
  const id = `msg_${turn.id}`;
  const refuses = answer.refusal !== undefined;
  const pieces = piecesOf(refuses ? answer.refusal : answer.text);
  const text = pieces.join('');
  const part = (value: string): Json =>
    refuses
      ? { type: 'refusal', refusal: value }
      : { type: 'output_text', text: value, annotations: [], logprobs: [] };
  const place = { item_id: id, output_index: at, content_index: 0 };
  const item = { id, type: 'message', role: 'assistant' };
  events.add('head', 'response.output_item.added', {
    output_index: at,
    item: { ...item, status: 'in_progress', content: [] },
  });
  events.add('head', 'response.content_part.added', { ...place, part: part('') });
  const kind = refuses ? 'refusal' : 'output_text';
  const padding = turn.obfuscation ? { obfuscation: 'x7Kqx7Kq' } : {};
  for (const delta of pieces) {
    const more = refuses ? {} : { logprobs: [], ...padding };
    events.add('content', `response.${kind}.delta`, { ...place, delta, ...more });
  }
  events.add('head', `response.${kind}.done`, {
    ...place,
    ...(refuses ? { refusal: text } : { text, logprobs: [] }),
  });
  events.add('head', 'response.content_part.done', { ...place, part: part(text) });
  const done = { ...item, status: 'completed', content: [part(text)] };
  events.add('head', 'response.output_item.done', { output_index: at, item: done });
  return done;
}

/** `finishWord: 'failed'` makes the response fail; a length or a filter leaves it incomplete. */
function ending(answer: ScriptedAnswer): {
  status: string;
  error: Json | null;
  incomplete_details: Json | null;
} {
  if (answer.finishWord === 'failed') {
    const error = { code: 'server_error', message: 'The model failed to generate a response.' };
    return { status: 'failed', error, incomplete_details: null };
  }
  const finish = finishOf(answer);
  if (finish === 'length' || finish === 'refused') {
    const reason = finish === 'length' ? 'max_output_tokens' : 'content_filter';
    return { status: 'incomplete', error: null, incomplete_details: { reason } };
  }
  return { status: 'completed', error: null, incomplete_details: null };
}

function baseOf(turn: ResponsesTurn): Json {
  return {
    id: turn.id,
    object: 'response',
    created_at: 1_790_000_000,
    model: turn.model,
    error: null,
    incomplete_details: null,
    instructions: null,
    metadata: {},
    parallel_tool_calls: true,
    store: false,
    temperature: 1,
    tool_choice: 'auto',
    tools: [],
    top_p: 1,
  };
}

function usageOf(answer: ScriptedAnswer, turn: ResponsesTurn): Json | null {
  if (answer.usage === false) return null;
  const input = answer.usage?.promptTokens ?? turn.promptTokens;
  const { thoughts, completion } = completionTokens(answer);
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: turn.cachedTokens, cache_write_tokens: turn.writtenTokens },
    output_tokens: completion,
    output_tokens_details: { reasoning_tokens: thoughts },
    total_tokens: input + completion,
  };
}
