import { checkFields, type Fields } from './kit/field-rules.ts';

const texts = (maxItems?: number) =>
  ({
    type: 'array',
    items: { type: 'string' },
    ...(maxItems === undefined ? {} : { maxItems }),
  }) as const;

/** The first frame of a connection (Soniox's API reference). */
const CONFIG: Fields = {
  api_key: { type: 'string' },
  model: {
    type: 'string',
    required: true,
    test: (model: string) => (/^stt-rt-/.test(model) ? null : 'is unknown'),
  },
  audio_format: {
    type: 'string',
    oneOf: ['auto', 'pcm_s16le', 'pcm_s16be', 'pcm_s32le', 'pcm_f32le', 'mulaw', 'alaw'],
  },
  sample_rate: { type: 'integer', min: 8_000, max: 48_000 },
  num_channels: { type: 'integer', min: 1, max: 2 },
  language_hints: texts(100),
  language_hints_strict: { type: 'boolean' },
  enable_language_identification: { type: 'boolean' },
  enable_speaker_diarization: { type: 'boolean' },
  enable_endpoint_detection: { type: 'boolean' },
  max_endpoint_delay_ms: { type: 'integer', min: 500, max: 3_000 },
  endpoint_sensitivity: { type: 'number', min: -1, max: 1 },
  endpoint_latency_adjustment_level: { type: 'integer', min: 0, max: 3 },
  context: {
    type: 'object',
    fields: {
      general: {
        type: 'array',
        items: {
          type: 'object',
          fields: { key: { type: 'string', required: true }, value: { type: 'string', required: true } },
        },
      },
      text: { type: 'string' },
      terms: texts(),
      translation_terms: {
        type: 'array',
        items: {
          type: 'object',
          fields: { source: { type: 'string', required: true }, target: { type: 'string', required: true } },
        },
      },
    },
  },
  translation: { type: 'object' },
  client_reference_id: { type: 'string', maxLength: 256 },
};

const KEEPALIVE: Fields = { type: { type: 'string', required: true, oneOf: ['keepalive'] } };
const FINALIZE: Fields = {
  type: { type: 'string', required: true, oneOf: ['finalize'] },
  trailing_silence_ms: { type: 'integer', min: 0 },
};

export interface SonioxConfig {
  api_key: string;
  model: string;
  audio_format?: string;
  sample_rate?: number;
  num_channels?: number;
  language_hints?: string[];
  enable_language_identification?: boolean;
  enable_endpoint_detection?: boolean;
  max_endpoint_delay_ms?: number;
}

/**
 * The first frame, or what is wrong with it. A null is as good as nothing. The key may stand in the header
 * `Authorization: Bearer` in place of the frame, as the vendor's client for Python has it.
 */
export function readSonioxConfig(json: unknown, bearer: string | undefined): SonioxConfig | string[] {
  const given = withoutNulls(json);
  const problems = checkFields(given, CONFIG, 'config');
  if (problems.length > 0) return problems;
  const config = { ...(given as object), api_key: (given as Partial<SonioxConfig>).api_key ?? bearer };
  if (config.api_key === undefined) return ['config: key api_key is missing'];
  const more = configProblems(config as SonioxConfig);
  return more.length > 0 ? more : (config as SonioxConfig);
}

function withoutNulls(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const kept = Object.entries(value).filter(([, item]) => item !== null);
  return Object.fromEntries(kept.map(([key, item]) => [key, withoutNulls(item)]));
}

function configProblems(config: SonioxConfig): string[] {
  const problems: string[] = [];
  const isRaw = (config.audio_format ?? 'auto') !== 'auto';
  if (isRaw && (config.sample_rate === undefined || config.num_channels === undefined))
    problems.push('config: a raw audio_format needs sample_rate and num_channels');
  const hints = (config.language_hints ?? []).filter((hint) => !/^[a-z]{2,3}$/.test(hint));
  if (hints.length > 0) problems.push(`config.language_hints: ${hints.join(', ')} is no ISO language code`);
  return problems;
}

/** What is wrong with a later text frame that is not empty. */
export function sonioxControlProblems(json: unknown): string[] {
  const type = typeof json === 'object' && json !== null ? (json as { type?: unknown }).type : undefined;
  return checkFields(json, type === 'finalize' ? FINALIZE : KEEPALIVE, 'control');
}
