import type { ProviderClock } from '../../src/providers/contract/provider-clock.ts';
import { type ElevenLabsQuirks, ElevenLabsSession } from './elevenlabs-session.ts';
import { type Emulator, type Handshake, type Refusal, startEmulator } from './kit/emulator.ts';
import { checkQuery, type Fields } from './kit/field-rules.ts';
import type { Violations } from './kit/violations.ts';
import { DEFAULT_TONE_VOICE, type ToneVoice } from './speech-tone.ts';

export interface ElevenLabsOptions {
  apiKey?: string;
  clock?: ProviderClock;
  tls?: boolean;
  voice?: Partial<ToneVoice>;
  quirks?: Partial<ElevenLabsQuirks>;
  /** The only voice that exists; every one where absent. */
  knownVoice?: string;
}

export interface ElevenLabsEmulator extends Emulator {
  readonly apiKey: string;
  readonly voice: ToneVoice;
  readonly quirks: ElevenLabsQuirks;
}

const OUTPUT_RATES = [8_000, 16_000, 22_050, 24_000, 44_100];
const MODELS = ['eleven_flash_v2_5', 'eleven_turbo_v2_5', 'eleven_multilingual_v2', 'eleven_v3'];

const QUERY: Fields = {
  model_id: { type: 'string', oneOf: MODELS },
  language_code: {
    type: 'string',
    test: (code: string) => (/^[a-z]{2}$/.test(code) ? null : 'is not ISO 639-1'),
  },
  // The default is mp3, which no call can use; the rates are those of the PCM formats.
  output_format: { type: 'string', required: true, oneOf: OUTPUT_RATES.map((rate) => `pcm_${rate}`) },
  enable_logging: { type: 'boolean' },
  enable_ssml_parsing: { type: 'boolean' },
  inactivity_timeout: { type: 'integer', min: 1, max: 180 },
  sync_alignment: { type: 'boolean' },
  auto_mode: { type: 'boolean' },
  apply_text_normalization: { type: 'string', oneOf: ['auto', 'on', 'off'] },
  apply_language_text_normalization: { type: 'boolean' },
  seed: { type: 'integer', min: 0, max: 4_294_967_295 },
};

const PATH = /^\/v1\/text-to-speech\/([^/]+)\/multi-stream-input$/;

/**
 * ElevenLabs' socket of many contexts (D-35), written from its published description: there is no official
 * client that could prove it.
 */
export async function startElevenLabs(options: ElevenLabsOptions = {}): Promise<ElevenLabsEmulator> {
  const apiKey = options.apiKey ?? 'xi-test-key-1234567890';
  const voice: ToneVoice = { ...DEFAULT_TONE_VOICE, ...options.voice };
  const quirks: ElevenLabsQuirks = {
    startKey: 'charStartTimesMs',
    durationKey: 'charDurationsMs',
    contextKey: 'contextId',
    finalKey: 'isFinal',
    extras: false,
    lateChunks: 2,
    closeOvertakes: false,
    ...options.quirks,
  };
  const emulator: Emulator = await startEmulator({
    vendor: 'elevenlabs',
    secrets: [apiKey],
    ...(options.clock ? { clock: options.clock } : {}),
    ...(options.tls ? { tls: true } : {}),
    sockets: [
      {
        path: PATH,
        admit: (request) =>
          admit(request, { apiKey, knownVoice: options.knownVoice, violations: emulator.violations }),
        session: (socket, request) => {
          const session = new ElevenLabsSession({
            socket,
            voice,
            quirks,
            clock: emulator.clock,
            violations: emulator.violations,
            sampleRate: Number(request.query.get('output_format')?.slice('pcm_'.length)),
            autoMode: request.query.get('auto_mode') === 'true',
            syncAlignment: request.query.get('sync_alignment') === 'true',
            inactivityMs: 1_000 * Number(request.query.get('inactivity_timeout') ?? 20),
          });
          socket.onText((json) => session.receive(json));
          socket.onBinary(() => session.refuse('a binary frame is not part of the protocol'));
          socket.onClose(() => session.end());
        },
      },
    ],
  });
  return Object.assign(emulator, { apiKey, voice, quirks });
}

function admit(
  request: Handshake,
  rules: { apiKey: string; knownVoice: string | undefined; violations: Violations },
): Refusal | undefined {
  if (request.headers['xi-api-key'] !== rules.apiKey) {
    return refusal(401, 'invalid_api_key', 'Invalid API key');
  }
  const problems = checkQuery(request.query, QUERY);
  if (request.query.has('language_code') && request.query.get('model_id') === 'eleven_multilingual_v2') {
    problems.push('query: language_code is not accepted by eleven_multilingual_v2');
  }
  if (problems.length > 0) {
    rules.violations.add(...problems);
    return refusal(400, 'invalid_parameters', problems.join('; '));
  }
  const voice = decodeURIComponent(PATH.exec(request.path)?.[1] ?? '');
  if (rules.knownVoice !== undefined && voice !== rules.knownVoice) {
    return refusal(404, 'voice_not_found', `A voice with the voice_id ${voice} was not found.`);
  }
  return undefined;
}

/** The vendor's error document. */
export function refusal(status: number, code: string, message: string): Refusal {
  return {
    status,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ detail: { status: code, message } }),
  };
}
