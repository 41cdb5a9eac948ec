import { type GuardedCall, type GuardedHttp, OutboundFailure } from '../../platform/guarded-http.ts';
import { isRecord } from '../../platform/json-shapes.ts';
import type { Variables } from '../../platform/render-template.ts';
import { renderHeaders, renderJson, renderUrl } from '../../platform/render-values.ts';
import { type CallTool, declarationOf, type ToolContext, type ToolOutcome } from './call-tool.ts';

/** RT-48: without an answer by then the tool has failed, unless the bot says otherwise. */
const DEFAULT_TIMEOUT_MS = 6_000;
const MAX_TIMEOUT_MS = 30_000;
/** A larger answer is refused: a tool answers a question, it brings no catalogue. */
const MAX_ANSWER_BYTES = 65_536;
/** The model is told this much of an answer; it stays in its context for the rest of the call. */
const MAX_RESULT_CHARS = 8_000;
/** Of an error page only the beginning can matter. */
const MAX_ERROR_CHARS = 1_000;
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
/** The host is fixed (contracts/bot/tools.ts): one that an argument chose could be sent the bot's credentials. */
const TEMPLATE_URL = /^https?:\/\/[^/?#@{}\s\\]+([/?#][^\s\\]*)?$/;

/**
 * A custom tool: one request to a server of the customer. URL, headers and body are templates over the contexts of the
 * call and `{{args.*}}`. The guard resolves the host once and connects to the address that it judged; redirects are
 * answers, never followed. What comes back goes to the model as JSON, else as text.
 */
export function httpTool(
  config: Record<string, unknown>,
  parts: { http: GuardedHttp; variables: Variables; reveal?: ((text: string) => string) | undefined },
): CallTool {
  const declaration = declarationOf(config);
  const schema = (declaration.function as Record<string, unknown>).parameters;
  const isSideEffect = config.side_effect === true;
  const timeoutMs = readTimeout(config.timeout_ms);
  return {
    name: String((declaration.function as Record<string, unknown>).name),
    isBuiltIn: false,
    declaration,
    isSideEffect,
    timeoutMs,
    filler: typeof config.filler === 'string' && config.filler !== '' ? config.filler : null,
    async run(args, context) {
      const lacking = missingArguments(schema, args);
      if (lacking.length > 0) {
        return failure('bad_arguments', `these arguments are missing: ${lacking.join(', ')}`);
      }
      const request = buildRequest(config, schema, revealed(args, parts.reveal), parts.variables);
      if ('error' in request) return failure('failed', request.error);
      const { url, ...call } = request;
      if (isSideEffect) call.headers['idempotency-key'] = context.idempotencyKey;
      return send(parts.http, url, { ...call, timeoutMs, maxBytes: MAX_ANSWER_BYTES }, context, isSideEffect);
    },
  };
}

interface BuiltRequest {
  url: string;
  method: GuardedCall['method'];
  headers: Record<string, string>;
  body?: string;
}

function buildRequest(
  config: Record<string, unknown>,
  schema: unknown,
  args: Record<string, unknown>,
  variables: Variables,
): BuiltRequest | { error: string } {
  const method = METHODS.find((name) => name === (config.method ?? 'GET'));
  const template = config.url;
  if (!method || typeof template !== 'string' || !TEMPLATE_URL.test(template)) {
    return { error: 'the tool has no usable method or URL; correct it in the bot' };
  }
  // An argument that may be left out is nothing in a URL, and null in a body.
  const optional = propertyNames(schema);
  const { url, missing } = renderUrl(template, { ...variables, args: { ...filled(optional, ''), ...args } });
  if (missing.length > 0)
    return { error: `the URL needs ${missing.join(', ')}, which this call does not have` };
  const named = { ...variables, args: { ...filled(optional, null), ...args } };
  const headers = renderHeaders(textEntries(config.headers), named);
  if (!('accept' in headers)) headers.accept = 'application/json';
  if (method === 'GET') return { url, method, headers };
  const body = config.body === undefined ? args : renderJson(config.body, named, 'null').value;
  return {
    url,
    method,
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  };
}

async function send(
  http: GuardedHttp,
  url: string,
  call: GuardedCall,
  context: ToolContext,
  isSideEffect: boolean,
): Promise<ToolOutcome> {
  try {
    const answer = await http.send(url, isSideEffect ? call : { ...call, signal: context.signal });
    const said = readBody(answer.body, contentType(answer.headers));
    if (answer.status >= 200 && answer.status < 300)
      return { status: 'ok', result: said ?? { status: 'ok' } };
    const error =
      answer.status >= 300 && answer.status < 400
        ? `the server answered ${answer.status}, and redirects are not followed`
        : `the server answered ${answer.status}`;
    return {
      status: 'failed',
      result: { error, ...(said === null ? {} : { answer: shortened(said) }) },
      error,
    };
  } catch (error) {
    if (!(error instanceof OutboundFailure)) throw error;
    if (error.kind === 'aborted') throw error;
    const status = error.kind === 'timeout' || error.kind === 'refused' ? error.kind : 'failed';
    const outcome = failure(status, error.message);
    if (!isSideEffect || error.kind === 'refused') return outcome;
    const warning = 'It is not known whether it took effect. Do not simply repeat it.';
    return { ...outcome, result: { error: error.message, warning } };
  }
}

/** JSON where it is JSON, else the text; null for nothing. */
function readBody(body: string, type: string): unknown {
  const text = body.trim();
  if (text === '') return null;
  if (/\bjson\b/.test(type) || /^[[{"]/.test(text)) {
    try {
      const value: unknown = JSON.parse(text);
      if (text.length <= MAX_RESULT_CHARS) return value;
    } catch {
      // What calls itself JSON and is none still says something to a model.
    }
  }
  return text.length <= MAX_RESULT_CHARS ? text : `${text.slice(0, MAX_RESULT_CHARS)} [cut]`;
}

function shortened(said: unknown): unknown {
  const text = typeof said === 'string' ? said : JSON.stringify(said);
  return text.length <= MAX_ERROR_CHARS ? said : `${text.slice(0, MAX_ERROR_CHARS)} [cut]`;
}

function contentType(headers: Record<string, string | string[] | undefined>): string {
  return String(headers['content-type'] ?? '').toLowerCase();
}

function failure(status: string, error: string): ToolOutcome {
  return { status, result: { error }, error };
}

/** Placeholders stand at the top of the arguments, where a model puts what another tool gave it. */
function revealed(
  args: Record<string, unknown>,
  reveal: ((text: string) => string) | undefined,
): Record<string, unknown> {
  if (!reveal) return args;
  const entries = Object.entries(args);
  return Object.fromEntries(
    entries.map(([name, value]) => [name, typeof value === 'string' ? reveal(value) : value]),
  );
}

function missingArguments(schema: unknown, args: Record<string, unknown>): string[] {
  const required = isRecord(schema) && Array.isArray(schema.required) ? schema.required : [];
  return required
    .filter((name): name is string => typeof name === 'string')
    .filter((name) => !Object.hasOwn(args, name) || args[name] === null || args[name] === '');
}

function propertyNames(schema: unknown): string[] {
  return isRecord(schema) && isRecord(schema.properties) ? Object.keys(schema.properties) : [];
}

function filled(names: readonly string[], value: unknown): Record<string, unknown> {
  return Object.fromEntries(names.map((name) => [name, value]));
}

function textEntries(value: unknown): Record<string, string> {
  if (!isRecord(value)) return {};
  return Object.fromEntries(
    Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}

function readTimeout(value: unknown): number {
  return typeof value === 'number' && value >= 100 && value <= MAX_TIMEOUT_MS ? value : DEFAULT_TIMEOUT_MS;
}
