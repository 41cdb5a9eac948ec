import {
  type ClientRequest,
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingMessage,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { ProviderConfig } from '../../../contracts/runtime-config.ts';
import { AppError } from '../../../platform/app-error.ts';
import {
  handshakeError,
  MAX_REFUSAL_BYTES,
  tidyVendorText,
  type VendorRefusal,
} from '../../connect/vendor-refusal.ts';
import { vendorUrl } from '../../connect/vendor-url.ts';
import type { ProviderClock } from '../../contract/provider-clock.ts';
import type { ProviderContext } from '../../contract/provider-context.ts';
import { type FailureClass, providerError } from '../../contract/provider-error.ts';
import type { TextToSpeech } from '../../contract/text-to-speech.ts';
import { PcmSamples } from '../../tts/pcm-samples.ts';
import { textPieces, worthSaying } from '../../tts/spoken-text.ts';
import type { TtsModels } from '../../tts/tts-models.ts';
import { closedError } from '../../tts/voice-line.ts';
import { present, VoiceSettings } from '../../tts/voice-settings.ts';

/** The only rate of the format `pcm` (reference 5.6). */
const SAMPLE_RATE = 24_000;
/** The clause that is heard, the next one, and room for one that is being stopped; more wait in the agent. */
const MAX_AT_ONCE = 4;
/** Of one request. */
const MAX_TEXT_CHARS = 4_096;
/** From dialling a warm connection to an answer. */
const WARM_TIMEOUT_MS = 4_000;
/** The body of a refusal must be there within this; then its status alone tells. */
const REFUSAL_BODY_MS = 1_000;

/**
 * Text to speech over the interface of OpenAI, `POST {base_url}/audio/speech`, which local servers offer as well: one
 * request per clause, its audio streamed.
 *
 * Settings: `base_url` (https://api.openai.com/v1), `api_key` (needed without a `base_url`), `model`
 * (gpt-4o-mini-tts), `voice` (alloy), `speed` (0.25 to 4), `instructions`. The rate is always 24 kHz. Throws
 * `bad_provider_config`.
 */
export async function createOpenAiSpeech(
  known: TtsModels,
  config: ProviderConfig,
  context: ProviderContext,
): Promise<TextToSpeech> {
  const settings = new VoiceSettings(known, config);
  const apiKey = settings.key() ?? undefined;
  if (apiKey === undefined && settings.raw('base_url') === undefined) {
    throw settings.refusal(
      'api_key',
      'is missing; set the key of OpenAI in the system settings, or a base_url',
    );
  }
  const url = vendorUrl(settings, {
    transport: 'http',
    standard: known.baseUrl,
    path: '/audio/speech',
  });
  const model = settings.model();
  const fixed = present({
    model,
    voice: settings.voice(),
    response_format: 'pcm',
    speed: settings.ranged('speed'),
    instructions: settings.text('instructions', { maximumLength: 4_000 }),
  });
  const closing = new AbortController();
  const secure = url.startsWith('https:');
  const agent = new (secure ? HttpsAgent : HttpAgent)({ keepAlive: true, maxSockets: MAX_AT_ONCE });
  const line: SpeechLine = {
    url,
    apiKey,
    clock: context.clock,
    request: (method, headers) => (secure ? httpsRequest : httpRequest)(url, { method, headers, agent }),
  };

  return {
    name: 'openai',
    model,
    sampleRate: SAMPLE_RATE,

    async *speak(text, signal) {
      signal.throwIfAborted();
      if (!worthSaying(text)) return;
      const ended = AbortSignal.any([signal, closing.signal]);
      for (const input of textPieces(text.trim(), MAX_TEXT_CHARS)) {
        yield* sayOnce(line, { ...fixed, input }, ended);
      }
    },

    async warm() {
      const late = new AbortController();
      const cancel = context.clock.after(WARM_TIMEOUT_MS, () =>
        late.abort(
          failure({ class: 'transient', status: null }, `did not answer within ${WARM_TIMEOUT_MS} ms`),
        ),
      );
      try {
        const signal = AbortSignal.any([closing.signal, late.signal]);
        const answer = await exchange(line, line.request('OPTIONS', {}), { signal });
        // Any answer will do: it was about the connection, which goes back to the agent once the answer is read. (After
        // a HEAD many servers close it.)
        await new Promise((resolve) => answer.once('close', resolve).resume());
      } finally {
        cancel();
      }
    },

    async close() {
      closing.abort(closedError('openai'));
      agent.destroy();
    },
  };
}

interface SpeechLine {
  url: string;
  apiKey: string | undefined;
  clock: ProviderClock;
  request(method: string, headers: Record<string, string | number>): ClientRequest;
}

async function* sayOnce(
  line: SpeechLine,
  body: Record<string, unknown>,
  signal: AbortSignal,
): AsyncGenerator<Int16Array> {
  const { request, answer } = await ask(line, Buffer.from(JSON.stringify(body)), signal);
  const stop = () => request.destroy();
  signal.addEventListener('abort', stop, { once: true });
  try {
    if (answer.statusCode !== 200) throw await refused(line, answer);
    checkFormat(answer);
    const pcm = new PcmSamples();
    for await (const piece of answer) {
      signal.throwIfAborted();
      const samples = pcm.push(piece as Buffer);
      if (samples.length > 0) yield samples;
      signal.throwIfAborted();
    }
    signal.throwIfAborted();
  } catch (error) {
    signal.throwIfAborted();
    throw error instanceof AppError ? error : broken(line, error);
  } finally {
    signal.removeEventListener('abort', stop);
    // Harmless for an answer that was read to its end; one that was left early must not go on.
    request.destroy();
  }
}

/** Sends a clause. A kept connection that the server was just closing is no failure: it is sent over another one. */
async function ask(
  line: SpeechLine,
  body: Buffer,
  signal: AbortSignal,
): Promise<{ request: ClientRequest; answer: IncomingMessage }> {
  const headers = {
    'content-type': 'application/json',
    'content-length': body.length,
    ...(line.apiKey === undefined ? {} : { authorization: `Bearer ${line.apiKey}` }),
  };
  for (let attempt = 1; ; attempt++) {
    const request = line.request('POST', headers);
    try {
      return { request, answer: await exchange(line, request, { signal, body }) };
    } catch (error) {
      if (attempt > 1 || !request.reusedSocket || signal.aborted) throw error;
    }
  }
}

/** The head of the answer. Rejects with the signal's reason, or as `transient` where the line breaks. */
function exchange(
  line: SpeechLine,
  request: ClientRequest,
  options: { signal: AbortSignal; body?: Buffer },
): Promise<IncomingMessage> {
  const { signal, body } = options;
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      reject(signal.reason);
      request.destroy();
    };
    // The listener stays: what breaks behind the head is the answer's error as well, and must not go uncaught here.
    request.on('error', (error) => reject(broken(line, error)));
    if (signal.aborted) {
      onAbort();
      return;
    }
    signal.addEventListener('abort', onAbort, { once: true });
    request.once('response', resolve);
    request.once('close', () => signal.removeEventListener('abort', onAbort));
    request.end(body);
  });
}

/** Compressed speech or an error page played as samples would be loud noise in the caller's ear. */
function checkFormat(answer: IncomingMessage): void {
  const type = answer.headers['content-type'] ?? '';
  if (!/mpeg|mp3|wav|ogg|opus|flac|aac|json|text|html/i.test(type)) return;
  throw failure({ class: 'config', status: 200 }, `answers with ${type} where raw PCM was asked for`);
}

async function refused(line: SpeechLine, answer: IncomingMessage): Promise<AppError> {
  const parts: Buffer[] = [];
  const cancel = line.clock.after(REFUSAL_BODY_MS, () => answer.destroy());
  try {
    let size = 0;
    for await (const part of answer) {
      parts.push(part as Buffer);
      size += (part as Buffer).length;
      if (size >= MAX_REFUSAL_BYTES) break;
    }
  } catch {
    // The status alone tells.
  } finally {
    cancel();
  }
  const body = Buffer.concat(parts).subarray(0, MAX_REFUSAL_BYTES).toString('utf8');
  return handshakeError(
    { provider: 'openai', family: 'tts', secrets: [line.apiKey], readRefusal: readError },
    { status: answer.statusCode ?? 0, headers: answer.headers, body },
  );
}

const CLASSES: Readonly<Record<string, FailureClass>> = {
  insufficient_quota: 'quota',
  rate_limit_exceeded: 'rate_limit',
  content_policy_violation: 'content',
};

/** `{"error": {"message", "type", "code"}}`. */
function readError({ body }: { body: string }): VendorRefusal {
  try {
    const { error } = JSON.parse(body);
    const code = typeof error?.code === 'string' ? error.code : undefined;
    const known = code !== undefined && Object.hasOwn(CLASSES, code) ? CLASSES[code] : undefined;
    return {
      ...(known ? { class: known } : {}),
      ...(code === undefined ? {} : { vendorCode: code }),
      ...(typeof error?.message === 'string' ? { message: error.message } : {}),
    };
  } catch {
    return {};
  }
}

function broken(line: SpeechLine, error: unknown): AppError {
  const message = error instanceof Error ? error.message || error.name : String(error);
  const said = tidyVendorText(message, { secrets: [line.apiKey] });
  return failure({ class: 'transient', status: null }, `broke off: ${said}`);
}

function failure(what: { class: FailureClass; status: number | null }, sentence: string): AppError {
  return providerError({ provider: 'openai', family: 'tts', ...what }, `openai (tts) ${sentence}`);
}
