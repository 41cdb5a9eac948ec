import { type CachedContent, cacheTokens, GeminiCaches, shownEntry } from './gemini-caches.ts';
import { geminiRefusal, geminiStatusBody } from './gemini-errors.ts';
import { GENERATE_FIELDS } from './gemini-fields.ts';
import { modelComplaint, needsSignatures, thinkingComplaint } from './gemini-models.ts';
import { geminiAnswer } from './gemini-stream.ts';
import { type IssuedCall, inner, partsWith, turnComplaint } from './gemini-turns.ts';
import type { HttpRoute } from './kit/emulator.ts';
import { checkFields } from './kit/field-rules.ts';
import type { HttpExchange } from './kit/http-exchange.ts';
import type { AskedRequest } from './llm/answer.ts';
import { type Complaint, isRecord, records } from './llm/complaint.ts';
import {
  bodyOf,
  isComplaint,
  type LlmEmulator,
  type LlmEmulatorOptions,
  type LlmHouse,
  startLlmEmulator,
} from './llm/llm-emulator.ts';
import { serveAnswer } from './llm/serve-answer.ts';
import { frame } from './llm/stream-frames.ts';
import { countTokens, wordsInside } from './llm/tokens.ts';

export interface GeminiOptions extends LlmEmulatorOptions {
  /** Smallest cache entry in tokens; the model's own without it. */
  cacheFloorTokens?: number;
  /** What the vendor says to an unknown, expired or foreign cache entry; both are seen. */
  lostCacheStatus?: 403 | 404;
  /** Between the lines of the stream; the vendor sends CRLF. */
  lineEnd?: '\n' | '\r\n';
}

export interface GeminiEmulator extends LlmEmulator {
  /** For clients' base_url; the version segment is theirs to add. */
  url: string;
  caches: GeminiCaches;
}

/** Gemini's generateContent with explicit caches, as documented (D-35). */
export async function startGemini(options: GeminiOptions = {}): Promise<GeminiEmulator> {
  let caches: GeminiCaches | undefined;
  const emulator = await startLlmEmulator('gemini', options, (house) => {
    caches = new GeminiCaches(house.emulator.clock, options.cacheFloorTokens);
    return new GeminiHouse(house, options, caches).routes();
  });
  return Object.assign(emulator, { url: emulator.httpUrl, caches: caches as GeminiCaches });
}

const GENERATE_PATH = /^\/(v1|v1beta)\/models\/([^/:]+):(streamGenerateContent|generateContent)$/;
const CACHES_PATH = /^\/(?:v1|v1beta)\/cachedContents$/;
const CACHE_PATH = /^\/(?:v1|v1beta)\/(cachedContents\/[\w-]+)$/;

class GeminiHouse {
  private readonly house: LlmHouse;
  private readonly options: GeminiOptions;
  private readonly caches: GeminiCaches;
  private readonly issued: IssuedCall[] = [];

  constructor(house: LlmHouse, options: GeminiOptions, caches: GeminiCaches) {
    this.house = house;
    this.options = options;
    this.caches = caches;
  }

  routes(): HttpRoute[] {
    const guarded = (action: (exchange: HttpExchange, key: string) => Promise<void> | void) => {
      return async (exchange: HttpExchange) => {
        const key = exchange.headers['x-goog-api-key'] ?? exchange.query.get('key');
        const complaint = keyComplaint(key, this.house.apiKey);
        return complaint ? this.refuse(exchange, complaint, null) : action(exchange, key as string);
      };
    };
    return [
      {
        method: 'POST',
        path: GENERATE_PATH,
        handle: guarded((exchange, key) => this.generate(exchange, key)),
      },
      { method: 'POST', path: CACHES_PATH, handle: guarded((exchange, key) => this.create(exchange, key)) },
      { method: 'GET', path: CACHES_PATH, handle: guarded((exchange, key) => this.list(exchange, key)) },
      ...(['GET', 'PATCH', 'DELETE'] as const).map((method) => ({
        method,
        path: CACHE_PATH,
        handle: guarded((exchange, key) => this.entry(exchange, key)),
      })),
    ];
  }

  private async generate(exchange: HttpExchange, key: string): Promise<void> {
    const [, version = '', model = '', method = ''] = GENERATE_PATH.exec(exchange.path) ?? [];
    const streamed = method === 'streamGenerateContent';
    const body = await bodyOf(exchange);
    if (isComplaint(body)) return this.refuse(exchange, body, null);
    const entry =
      typeof body.cachedContent === 'string' ? this.caches.find(body.cachedContent, key) : undefined;
    const complaint =
      (streamed && exchange.query.get('alt') !== 'sse'
        ? violation('streamGenerateContent is asked without alt=sse')
        : null) ??
      modelComplaint(model, 'generateContent') ??
      this.bodyComplaint(body, model, entry);
    if (complaint) return this.refuse(exchange, complaint, body);

    const served = this.house.desk.take(asked(body, model, entry), exchange.path);
    const turn = {
      responseId: `response${served.index}`,
      model,
      promptTokens: promptTokens(body) + (entry?.tokens ?? 0),
      cachedTokens: entry?.tokens ?? null,
      signs: needsSignatures(model),
      streamed,
    };
    const answer = geminiAnswer(served.answer, turn);
    this.issued.push(...answer.calls);
    served.usage = (answer.whole.usageMetadata as Record<string, unknown> | undefined) ?? null;
    await serveAnswer(exchange, this.house.desk, served, {
      frames: streamed ? answer.frames : null,
      whole: answer.whole,
      headers: { 'x-emulated-version': version },
      lineEnd: this.options.lineEnd ?? '\r\n',
      refusal: (kind, retryAfterMs) => geminiRefusal(kind, retryAfterMs, model),
      errorEvent: (kind) => frame('end', geminiRefusal(kind, undefined, model).body),
    });
  }

  private bodyComplaint(
    body: Record<string, unknown>,
    model: string,
    entry: CachedContent | undefined,
  ): Complaint | null {
    const problem = checkFields(body, GENERATE_FIELDS, 'body')[0];
    if (problem) return violation(problem);
    const contents = records(body.contents);
    if (contents.length === 0)
      return violation('* GenerateContentRequest.contents: contents is not specified');
    if (body.cachedContent !== undefined) {
      if (['systemInstruction', 'tools', 'toolConfig'].some((name) => body[name] !== undefined)) {
        return violation(
          'CachedContent can not be used with GenerateContent request setting system_instruction, tools or tool_config. Proposed fix: move those values to CachedContent from GenerateContent request.',
        );
      }
      if (!entry) return this.lostCache();
      if (entry.model !== `models/${model}`) {
        return violation(
          `Model used by GenerateContent request (models/${model}) and CachedContent (${entry.model}) has to be the same.`,
        );
      }
    }
    const config = isRecord(body.generationConfig) ? body.generationConfig : {};
    const thinking = isRecord(config.thinkingConfig) ? config.thinkingConfig : undefined;
    const before = records(entry?.body.contents);
    return thinkingComplaint(model, thinking) ?? turnComplaint([...before, ...contents], model, this.issued);
  }

  private async create(exchange: HttpExchange, key: string): Promise<void> {
    const body = await bodyOf(exchange);
    const made = isComplaint(body) ? body : this.caches.create(body, key);
    if (isComplaint(made)) return this.refuse(exchange, made, body);
    exchange.reply(200, shownEntry(made));
  }

  private list(exchange: HttpExchange, key: string): void {
    const page = this.caches.list(
      key,
      Number(exchange.query.get('pageSize') ?? 0),
      exchange.query.get('pageToken') ?? '',
    );
    exchange.reply(200, {
      cachedContents: page.entries.map(shownEntry),
      ...(page.next === null ? {} : { nextPageToken: page.next }),
    });
  }

  private async entry(exchange: HttpExchange, key: string): Promise<void> {
    const entry = this.caches.find(CACHE_PATH.exec(exchange.path)?.[1] ?? '', key);
    if (!entry) return this.refuse(exchange, this.lostCache(), null);
    if (exchange.method === 'DELETE') {
      this.caches.delete(entry);
      return exchange.reply(200, {});
    }
    if (exchange.method === 'PATCH') {
      const body = await exchange.json();
      const complaint = this.caches.patch(entry, body);
      if (complaint) return this.refuse(exchange, complaint, body);
    }
    exchange.reply(200, shownEntry(entry));
  }

  private lostCache(): Complaint {
    const status = this.options.lostCacheStatus ?? 403;
    const code = status === 403 ? 'PERMISSION_DENIED' : 'NOT_FOUND';
    return { status, code, message: 'CachedContent not found (or permission denied)', violation: false };
  }

  private refuse(exchange: HttpExchange, complaint: Complaint, body: unknown): void {
    this.house.desk.refuse(complaint, exchange.path, body);
    exchange.reply(complaint.status, geminiStatusBody(complaint));
  }
}

function keyComplaint(key: string | null, right: string): Complaint | null {
  if (key === right) return null;
  if (!key) {
    const message = 'Request is missing required authentication credential.';
    return { status: 401, code: 'UNAUTHENTICATED', message, violation: false };
  }
  // The vendor answers a wrong key with 400 and says so in the details, not with 401.
  const message = 'API key not valid. Please pass a valid API key.';
  return { status: 400, code: 'INVALID_ARGUMENT', message, param: 'API_KEY_INVALID', violation: false };
}

function promptTokens(body: Record<string, unknown>): number {
  return (
    cacheTokens({ systemInstruction: body.systemInstruction, tools: body.tools }) +
    contentsTokens(body.contents)
  );
}

function contentsTokens(contents: unknown): number {
  return records(contents).reduce((sum, content) => sum + countTokens(wordsInside(content.parts)), 0);
}

function asked(
  body: Record<string, unknown>,
  model: string,
  entry: CachedContent | undefined,
): Omit<AskedRequest, 'index'> {
  const from = entry?.body ?? body;
  const contents = records(body.contents);
  const last = contents.at(-1) ?? {};
  const config = isRecord(body.generationConfig) ? body.generationConfig : {};
  const lastTexts = contents.findLast(
    (content) => content.role === 'user' && partsWith(content, 'text').length > 0,
  );
  return {
    model,
    system: textOf(isRecord(from.systemInstruction) ? from.systemInstruction : {}),
    lastUserText: textOf(lastTexts ?? {}),
    toolResults: partsWith(last, 'functionResponse').map((part) => inner(part, 'functionResponse').response),
    toolNames: records(from.tools).flatMap((tool) =>
      records(tool.functionDeclarations).map((one) => String(one.name)),
    ),
    json: config.responseMimeType === 'application/json',
    maxTokens: typeof config.maxOutputTokens === 'number' ? config.maxOutputTokens : null,
    body,
  };
}

function textOf(content: Record<string, unknown>): string {
  return partsWith(content, 'text')
    .map((part) => String(part.text))
    .join('\n');
}

function violation(message: string): Complaint {
  return { status: 400, code: 'INVALID_ARGUMENT', message, violation: true };
}
