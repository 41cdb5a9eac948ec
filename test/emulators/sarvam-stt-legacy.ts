import type { EmulatedSocket } from './kit/emulated-socket.ts';
import type { Emulator, SocketRoute } from './kit/emulator.ts';
import { checkFields, checkQuery, type Fields } from './kit/field-rules.ts';
import { IdleWatch } from './kit/idle-watch.ts';
import type { SpeechTick } from './kit/speech-reader.ts';
import { type Ear, type Ears, emulatedId } from './kit/stt-emulator.ts';
import { fromBase64, KEYTERMS, keytermProblems, SARVAM_LANGUAGES, sarvamKey } from './sarvam-door.ts';
import type { SarvamSttOptions } from './sarvam-stt.ts';

const FLAG = { type: 'boolean' } as const;

/** Query of `/speech-to-text/ws` (Sarvam's API reference). */
const QUERY: Fields = {
  'language-code': { type: 'string', required: true, oneOf: ['unknown', 'od-IN', ...SARVAM_LANGUAGES] },
  model: { type: 'string', oneOf: ['saaras:v3', 'saaras:v4'] },
  mode: { type: 'string', oneOf: ['transcribe', 'translate', 'verbatim', 'translit', 'codemix'] },
  sample_rate: { type: 'integer', oneOf: [8_000, 16_000] },
  input_audio_codec: { type: 'string', oneOf: ['wav', 'pcm_s16le', 'pcm_l16', 'pcm_raw'] },
  high_vad_sensitivity: FLAG,
  vad_signals: FLAG,
  flush_signal: FLAG,
  positive_speech_threshold: { type: 'number', min: 0, max: 1 },
  negative_speech_threshold: { type: 'number', min: 0, max: 1 },
  min_speech_frames: { type: 'integer', min: 0 },
  keyterms: KEYTERMS,
};

const AUDIO: Fields = {
  audio: {
    type: 'object',
    required: true,
    fields: {
      data: { type: 'string', required: true },
      // 8 kHz is for the connection's own parameter only.
      sample_rate: { type: 'integer', required: true, oneOf: [16_000, 22_050, 24_000] },
      encoding: { type: 'string', required: true, oneOf: ['audio/wav'] },
    },
  },
};
const CONFIG: Fields = {
  type: { type: 'string', required: true, oneOf: ['config'] },
  prompt: { type: 'string' },
};
const FLUSH: Fields = { type: { type: 'string', required: true, oneOf: ['flush'] } };

const END_SILENCE_MS = 500;
const HIGH_SENSITIVITY_END_SILENCE_MS = 300;
const WAV_HEADER_BYTES = 44;

interface RouteParts {
  key: string;
  ears: Ears;
  options: SarvamSttOptions;
  /** The route is made before its emulator. */
  emulator(): Emulator;
}

/** Sarvam's older socket: one final per utterance, no partials. */
export function sarvamLegacyRoute(parts: RouteParts): SocketRoute {
  const { key, ears, options } = parts;
  return {
    path: /\/speech-to-text\/ws$/,
    admit(request) {
      const { violations } = parts.emulator();
      const admitted = sarvamKey(request, violations);
      if (!('given' in admitted)) return admitted;
      if (admitted.given !== key) {
        violations.add('sarvam: the key is wrong');
        return {
          status: 403,
          body: { error: { message: 'Invalid API key', code: 'invalid_api_key_error' } },
        };
      }
      const problems = [...checkQuery(request.query, QUERY), ...keytermProblems(request.query)];
      if (problems.length === 0) return admitted;
      violations.add(...problems.map((problem) => `sarvam: ${problem}`));
      return {
        status: 422,
        body: { error: { message: problems.join('; '), code: 'unprocessable_entity_error' } },
      };
    },
    session(socket, request) {
      const emulator = parts.emulator();
      socket.delayAllMs = options.answerDelayMs ?? 0;
      const ear = ears.open(socket, {
        sampleRate: Number(request.query.get('sample_rate') ?? 16_000),
        encoding: 'linear16',
        clock: emulator.clock,
      });
      new LegacySession({ socket, ear, query: request.query, emulator, options });
    },
  };
}

interface SessionParts {
  socket: EmulatedSocket;
  ear: Ear;
  query: URLSearchParams;
  emulator: Emulator;
  options: SarvamSttOptions;
}

class LegacySession {
  private readonly parts: SessionParts;
  private readonly requestId = emulatedId();
  private readonly idle: IdleWatch;
  private readonly endSilenceMs: number;

  constructor(parts: SessionParts) {
    this.parts = parts;
    const { socket, emulator, options, query } = parts;
    this.endSilenceMs =
      query.get('high_vad_sensitivity') === 'true' ? HIGH_SENSITIVITY_END_SILENCE_MS : END_SILENCE_MS;
    this.idle = new IdleWatch(emulator.clock, options.idleMs ?? 60_000, () => {
      socket.close(1008, 'Inactivity timeout');
    });
    socket.onClose(() => this.idle.stop());
    socket.onBinary(() => this.refuse('a binary frame'));
    socket.onText((json, text) => this.told(json, text));
  }

  private told(json: unknown, text: string): void {
    this.idle.touch();
    const type = typeof json === 'object' && json !== null ? (json as { type?: unknown }).type : undefined;
    if (typeof json === 'object' && json !== null && 'audio' in json) {
      this.heard(json as { audio: { data: string } });
    } else if (type === 'config') {
      this.check(json, CONFIG, 'config');
    } else if (type === 'flush') {
      if (!this.check(json, FLUSH, 'flush')) return;
      if (this.parts.query.get('flush_signal') !== 'true') this.trespass('flush without flush_signal=true');
      else this.final();
    } else {
      this.refuse(`the frame ${text.slice(0, 80)}`);
    }
  }

  private heard(message: { audio: { data: string } }): void {
    const { ear } = this.parts;
    if (!this.check(message, AUDIO, 'message')) return;
    const bytes = fromBase64(message.audio.data);
    const raw = bytes?.toString('latin1', 0, 4) === 'RIFF' ? bytes.subarray(WAV_HEADER_BYTES) : bytes;
    const samples = raw && raw.length > 0 ? ear.audio.add(raw) : null;
    if (!samples) {
      this.refuse('audio.data is not base64 of whole samples');
      return;
    }
    for (const tick of ear.reader.read(samples)) this.tick(tick);
  }

  private tick(tick: SpeechTick): void {
    if (tick.started) this.signal('START_SPEECH');
    if (!tick.open || tick.silenceMs < this.endSilenceMs) return;
    this.signal('END_SPEECH');
    this.final();
  }

  private final(): void {
    const { socket, ear, query, options } = this.parts;
    const utterance = ear.reader.take();
    if (!utterance) return;
    const isUnknown = query.get('language-code') === 'unknown';
    socket.answer({
      type: 'data',
      data: {
        request_id: this.requestId,
        transcript: utterance.text,
        language_code: isUnknown ? (options.foundLanguage ?? 'hi-IN') : query.get('language-code'),
        language_probability: isUnknown ? 0.93 : null,
        timestamps: null,
        diarized_transcript: null,
        metrics: { audio_duration: (utterance.endMs - utterance.startMs) / 1000, processing_latency: 0.1 },
      },
    });
    if (options.quirks?.duplicateFinals && !socket.scripted) socket.duplicateLast();
  }

  private signal(signal: 'START_SPEECH' | 'END_SPEECH'): void {
    const { socket, query, emulator } = this.parts;
    if (query.get('vad_signals') !== 'true') return;
    const now = emulator.clock.nowMs() / 1000;
    socket.answer({
      type: 'events',
      // The misspelling of the last key is the vendor's.
      data: { event_type: 'VAD', timestamp: String(now), signal_type: signal, occured_at: now },
    });
  }

  private check(json: unknown, fields: Fields, where: string): boolean {
    const problems = checkFields(json, fields, where);
    if (problems.length > 0) this.refuse(problems.join('; '));
    return problems.length === 0;
  }

  private refuse(what: string): void {
    this.trespass(what);
    this.parts.socket.send({ type: 'error', data: { error: what.slice(0, 200), code: 'invalid_request' } });
  }

  private trespass(what: string): void {
    this.parts.emulator.violations.add(`sarvam: ${what}`);
  }
}
