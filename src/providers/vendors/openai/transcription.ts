import { randomBytes } from 'node:crypto';
import type { ProviderConfig } from '../../../contracts/runtime-config.ts';
import { HttpFailure, httpCall } from '../../../platform/http-client.ts';
import { recordOf, textOf } from '../../../platform/json-shapes.ts';
import { wavHeader } from '../../../platform/wav.ts';
import { handshakeError, type VendorRefusal } from '../../connect/vendor-refusal.ts';
import { vendorUrl } from '../../connect/vendor-url.ts';
import type { ProviderContext } from '../../contract/provider-context.ts';
import { providerError } from '../../contract/provider-error.ts';
import type { SpeechToText, SttHandlers, SttResult, SttSession } from '../../contract/speech-to-text.ts';
import type { SttModels } from '../../stt/stt-models.ts';
import {
  primaryLanguage,
  readSttSettings,
  type SttSettings,
  sessionIsOver,
  settingNumber,
  settingText,
} from '../../stt/stt-settings.ts';
import { readVendorMessage, type VendorMessage } from '../../stt/vendor-message.ts';

/** Longest turn that is kept; of a longer one the oldest audio goes (a file of the vendor may hold 25 MB). */
const MAX_TURN_SECONDS = 120;
/** The whole exchange for one turn. */
const ANSWER_TIMEOUT_MS = 10_000;
const MAX_ANSWER_BYTES = 262_144;
const MIN_TURN_MS = 100;

/**
 * OpenAI transcription and the local servers that speak its language: one request for each turn, with the turn's audio
 * as a WAV file. There are no interim results, so it answers later than a streaming engine.
 *
 * Settings: `model` (whisper-1), `language`, `prompt`, `keyterms` (a prompt where none is named), `temperature`,
 * `base_url` (https://api.openai.com/v1), `timeout_ms`. Throws `bad_provider_config`.
 */
export async function createOpenAiTranscription(
  known: SttModels,
  config: ProviderConfig,
  context: ProviderContext,
): Promise<SpeechToText> {
  const settings = readSttSettings(known, config, context);
  const request: TranscriptionRequest = {
    settings,
    context,
    url: vendorUrl(settings.read, {
      transport: 'http',
      standard: settings.known.baseUrl,
      path: '/audio/transcriptions',
    }),
    timeoutMs: settings.read.number('timeout_ms', {
      fallback: ANSWER_TIMEOUT_MS,
      minimum: 500,
      maximum: 30_000,
    }),
    fields: formFields(settings),
  };
  return {
    name: 'openai',
    model: settings.model,
    wantsSilence: false,
    open: async (handlers) => openSession(request, handlers),
  };
}

interface TranscriptionRequest {
  settings: SttSettings;
  context: ProviderContext;
  url: string;
  timeoutMs: number;
  fields: [string, string][];
}

function openSession(request: TranscriptionRequest, handlers: SttHandlers): SttSession {
  const { sampleRate } = request.settings;
  const turn = new TurnAudio(sampleRate, (droppedMs) =>
    request.context.report({
      event: 'provider_audio_dropped',
      provider: 'openai',
      family: 'stt',
      dropped_ms: droppedMs,
    }),
  );
  const ending = new AbortController();
  return {
    feed(samples) {
      if (!ending.signal.aborted) turn.add(samples);
    },
    async flush(signal) {
      signal.throwIfAborted();
      if (ending.signal.aborted) throw sessionIsOver('openai');
      const audio = turn.take();
      if (audio.length < (sampleRate * MIN_TURN_MS) / 1000) return { text: '', confidence: null };
      const uptoSample = turn.fedSamples;
      const result = await transcribe(request, audio, AbortSignal.any([signal, ending.signal]));
      handlers.onFinal?.({ ...result, uptoSample });
      return result;
    },
    discard() {
      turn.take();
    },
    async close() {
      ending.abort(sessionIsOver('openai'));
    },
  };
}

async function transcribe(
  request: TranscriptionRequest,
  audio: Int16Array,
  signal: AbortSignal,
): Promise<SttResult> {
  const { settings } = request;
  const vendor = { provider: 'openai', family: 'stt' as const, secrets: [settings.apiKey] };
  const form = multipart(request.fields, wavFile(audio, settings.sampleRate));
  try {
    const answer = await httpCall(request.url, {
      method: 'POST',
      headers: {
        'content-type': form.contentType,
        accept: 'application/json',
        ...(settings.apiKey === undefined ? {} : { authorization: `Bearer ${settings.apiKey}` }),
      },
      body: form.body,
      timeoutMs: request.timeoutMs,
      maxBytes: MAX_ANSWER_BYTES,
      signal,
    });
    if (answer.status !== 200) throw handshakeError({ ...vendor, readRefusal }, answer);
    return readAnswer(answer.body);
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof HttpFailure)) throw error;
    const isLate = error.kind === 'timeout';
    const said = isLate ? `did not answer within ${request.timeoutMs} ms` : 'cannot be reached';
    throw providerError(
      { provider: 'openai', family: 'stt', class: 'transient', status: null },
      `openai (stt) ${said}`,
      isLate ? 'provider_timeout' : 'provider_failed',
    );
  }
}

function readAnswer(body: string): SttResult {
  let message: VendorMessage;
  try {
    message = readVendorMessage(body);
  } catch {
    throw providerError(
      { provider: 'openai', family: 'stt', class: 'transient', status: 200 },
      'openai (stt) answered with something else than JSON; the server must know response_format json',
    );
  }
  return { text: textOf(message.text).trim(), confidence: null, language: textOf(message.language) || null };
}

/** {error: {message, type, code}}; spent credit comes as 429 like a rate limit does (reference 4.3). */
function readRefusal(answer: { status: number; body: string }): VendorRefusal {
  let error: VendorMessage = {};
  try {
    error = recordOf(readVendorMessage(answer.body).error);
  } catch {
    // Not JSON: the body itself is the message.
  }
  const code = textOf(error.code) || textOf(error.type);
  const message = textOf(error.message);
  return {
    ...(message === '' ? {} : { message }),
    ...(code === '' ? {} : { vendorCode: code.slice(0, 100) }),
    ...(code === 'insufficient_quota' ? { class: 'quota' as const } : {}),
  };
}

function formFields(settings: SttSettings): [string, string][] {
  const fields: [string, string][] = [
    ['model', settings.model],
    ['response_format', 'json'],
  ];
  // The vendor takes ISO 639-1, so the region goes.
  const primary = primaryLanguage(settings);
  if (primary !== undefined) fields.push(['language', primary]);
  const terms = settings.keyterms.join(', ');
  const prompt = settingText(settings, 'prompt') ?? (terms === '' ? undefined : terms);
  if (prompt !== undefined) fields.push(['prompt', prompt]);
  const temperature = settingNumber(settings, 'temperature');
  if (temperature !== undefined) fields.push(['temperature', String(temperature)]);
  return fields;
}

/** multipart/form-data (RFC 7578) with the fields first and the file last. */
function multipart(fields: [string, string][], file: Buffer): { contentType: string; body: Buffer } {
  const boundary = `turn-${randomBytes(16).toString('hex')}`;
  const head = fields
    .map(
      ([name, value]) =>
        `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
    )
    .join('');
  const fileHead =
    `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="audio.wav"\r\n` +
    'Content-Type: audio/wav\r\n\r\n';
  const body = Buffer.concat([Buffer.from(head + fileHead), file, Buffer.from(`\r\n--${boundary}--\r\n`)]);
  return { contentType: `multipart/form-data; boundary=${boundary}`, body };
}

function wavFile(audio: Int16Array, sampleRate: number): Buffer {
  const bytes = Buffer.from(audio.buffer, audio.byteOffset, audio.byteLength);
  return Buffer.concat([wavHeader({ sampleRate, channels: 1 }, bytes.length), bytes]);
}

/** The audio of the open turn, in blocks of a second so that a long turn is not copied again and again. */
class TurnAudio {
  fedSamples = 0;
  private readonly blockSamples: number;
  private readonly onDropped: (droppedMs: number) => void;
  private blocks: Int16Array[] = [];
  private filled = 0;
  private hasDropped = false;

  constructor(sampleRate: number, onDropped: (droppedMs: number) => void) {
    this.blockSamples = sampleRate;
    this.onDropped = onDropped;
  }

  add(samples: Int16Array): void {
    this.fedSamples += samples.length;
    let at = 0;
    while (at < samples.length) {
      if (this.blocks.length === 0 || this.filled === this.blockSamples) this.addBlock();
      const block = this.blocks.at(-1) as Int16Array;
      const piece = samples.subarray(at, at + this.blockSamples - this.filled);
      block.set(piece, this.filled);
      this.filled += piece.length;
      at += piece.length;
    }
  }

  /** All of it, in one piece; the next turn begins empty. */
  take(): Int16Array {
    const whole = new Int16Array(Math.max(0, this.blocks.length - 1) * this.blockSamples + this.filled);
    this.blocks.forEach((block, index) => {
      const isLast = index === this.blocks.length - 1;
      whole.set(isLast ? block.subarray(0, this.filled) : block, index * this.blockSamples);
    });
    this.blocks = [];
    this.filled = 0;
    this.hasDropped = false;
    return whole;
  }

  private addBlock(): void {
    this.filled = 0;
    // The oldest block is used again, so that a turn without end costs no more memory.
    const oldest = this.blocks.length >= MAX_TURN_SECONDS ? this.blocks.shift() : undefined;
    this.blocks.push(oldest ?? new Int16Array(this.blockSamples));
    if (!oldest || this.hasDropped) return;
    this.hasDropped = true;
    this.onDropped(1_000);
  }
}
