import { checkFields, checkQuery, type Fields } from './kit/field-rules.ts';
import { KEYTERMS, keytermProblems, SARVAM_LANGUAGES } from './sarvam-door.ts';

const MODES = ['transcribe', 'translate', 'verbatim', 'translit', 'codemix'];
const STREAM_TYPES = ['fast', 'balanced', 'simulated'];
const ENDPOINTINGS = ['vad', 'manual'];
/** Odia is `or-IN` here and `od-IN` on the legacy socket. */
const LANGUAGE_CODES = ['auto', 'or-IN', ...SARVAM_LANGUAGES];
const VAD_KNOBS = ['threshold', 'prefix_padding_ms', 'silence_duration_ms', 'min_speech_duration_ms'];

/** Query of `/speech-to-text-realtime/ws` (Sarvam's API reference). */
const QUERY: Fields = {
  language_code: { type: 'string', required: true, oneOf: LANGUAGE_CODES },
  model: { type: 'string', oneOf: ['saaras:v3-realtime', 'saaras:v4'] },
  stream_type: { type: 'string', oneOf: STREAM_TYPES },
  mode: { type: 'string', oneOf: MODES },
  endpointing: { type: 'string', oneOf: ENDPOINTINGS },
  encoding: { type: 'string', oneOf: ['linear16', 'linear32', 'mulaw', 'alaw'] },
  sample_rate: { type: 'integer', oneOf: [8_000, 16_000] },
  return_timestamps: { type: 'boolean' },
  prompt: { type: 'string' },
  keyterms: KEYTERMS,
  threshold: { type: 'number', min: 0, max: 1 },
  prefix_padding_ms: { type: 'integer', min: 0 },
  silence_duration_ms: { type: 'integer', min: 0 },
  min_speech_duration_ms: { type: 'integer', min: 0 },
};

const event = (name: string, fields: Fields = {}): Fields => ({
  event: { type: 'string', required: true, oneOf: [name] },
  ...fields,
});

/** Client events with all their fields. */
export const SARVAM_EVENTS: Record<string, Fields> = {
  audio_input: event('audio_input', { audio: { type: 'string', required: true } }),
  speech_start: event('speech_start'),
  speech_end: event('speech_end'),
  flush: event('flush'),
  ping: event('ping'),
  end: event('end'),
  'config.update': event('config.update', {
    language_code: { type: 'string', oneOf: LANGUAGE_CODES },
    prompt: { type: 'string' },
    mode: { type: 'string', oneOf: MODES },
    stream_type: { type: 'string', oneOf: STREAM_TYPES },
    endpointing: { type: 'string', oneOf: ENDPOINTINGS },
    threshold: { type: 'number', min: 0, max: 1 },
    silence_duration_ms: { type: 'integer', min: 0 },
    min_speech_duration_ms: { type: 'integer', min: 0 },
  }),
};

/** What a session goes by; `session.begin` echoes it and `config.update` changes it. */
export interface SarvamConfig {
  model: string;
  language_code: string;
  encoding: string;
  sample_rate: number;
  stream_type: string;
  mode: string;
  prompt: string;
  /** The echo of `endpointing`. */
  turn_detection: string;
  threshold: number;
  prefix_padding_ms: number;
  silence_duration_ms: number;
  min_speech_duration_ms: number;
  return_timestamps: boolean;
}

/** What is wrong with the query, empty where nothing is. */
export function sarvamProblems(query: URLSearchParams): string[] {
  return [...checkQuery(query, QUERY), ...keytermProblems(query)];
}

/** Knobs that the vendor ignores in manual mode: no error, but nobody should believe in them. */
export function ignoredKnobs(query: URLSearchParams): string[] {
  return query.get('endpointing') === 'manual' ? VAD_KNOBS.filter((knob) => query.has(knob)) : [];
}

/** The numbers of the voice activity detector are the vendor's own and not published; these are plausible. */
export function sarvamConfig(query: URLSearchParams): SarvamConfig {
  const number = (key: string, fallback: number) => Number(query.get(key) ?? fallback);
  return {
    model: query.get('model') ?? 'saaras:v3-realtime',
    language_code: query.get('language_code') ?? '',
    encoding: query.get('encoding') ?? 'linear16',
    sample_rate: number('sample_rate', 16_000),
    stream_type: query.get('stream_type') ?? 'balanced',
    mode: query.get('mode') ?? 'transcribe',
    prompt: query.get('prompt') ?? '',
    turn_detection: query.get('endpointing') ?? 'vad',
    threshold: number('threshold', 0.5),
    prefix_padding_ms: number('prefix_padding_ms', 300),
    silence_duration_ms: number('silence_duration_ms', 500),
    min_speech_duration_ms: number('min_speech_duration_ms', 100),
    return_timestamps: query.get('return_timestamps') === 'true',
  };
}

export interface ConfigUpdate {
  changes: Partial<SarvamConfig>;
  applied: string[];
}

/** What a `config.update` changes, or why it is refused. */
export function sarvamUpdate(config: SarvamConfig, json: unknown): ConfigUpdate | string[] {
  const fields = SARVAM_EVENTS['config.update'] ?? {};
  const problems = checkFields(json, fields, 'config.update');
  if (problems.length > 0) return problems;
  const { event: _, endpointing, ...rest } = json as Record<string, string | number>;
  const wanted = rest.stream_type;
  if (wanted !== undefined && (wanted === 'simulated') !== (config.stream_type === 'simulated'))
    return ['config.update: stream_type cannot change to or from simulated'];
  return {
    changes: {
      ...(rest as Partial<SarvamConfig>),
      ...(endpointing === undefined ? {} : { turn_detection: String(endpointing) }),
    },
    applied: [...Object.keys(rest), ...(endpointing === undefined ? [] : ['endpointing'])],
  };
}
