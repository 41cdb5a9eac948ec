import { checkQuery, type Fields } from './kit/field-rules.ts';

/** Query of `/v1/listen` (Deepgram's API reference). */
const FIELDS: Fields = {
  model: { type: 'string', required: true },
  language: { type: 'string' },
  encoding: {
    type: 'string',
    required: true,
    oneOf: [
      'linear16',
      'linear32',
      'flac',
      'alaw',
      'mulaw',
      'amr-nb',
      'amr-wb',
      'opus',
      'ogg-opus',
      'speex',
      'g729',
    ],
  },
  sample_rate: { type: 'integer', min: 8_000, max: 48_000 },
  channels: { type: 'integer', min: 1 },
  multichannel: { type: 'boolean' },
  interim_results: { type: 'boolean' },
  endpointing: {
    type: 'string',
    test: (value: string) => (/^(false|\d+)$/.test(value) ? null : 'is neither milliseconds nor false'),
  },
  utterance_end_ms: { type: 'integer', min: 1_000 },
  vad_events: { type: 'boolean' },
  punctuate: { type: 'boolean' },
  smart_format: { type: 'boolean' },
  numerals: { type: 'boolean' },
  dictation: { type: 'boolean' },
  profanity_filter: { type: 'boolean' },
  detect_entities: { type: 'boolean' },
  keyterm: { type: 'string', repeatable: true },
  keywords: { type: 'string', repeatable: true },
  redact: {
    type: 'string',
    repeatable: true,
    oneOf: ['pci', 'numbers', 'aggressive_numbers', 'ssn', 'true', 'false'],
  },
  replace: { type: 'string', repeatable: true },
  search: { type: 'string', repeatable: true },
  diarize: { type: 'boolean' },
  diarize_model: { type: 'string', oneOf: ['latest', 'v1'] },
  tag: { type: 'string', repeatable: true },
  extra: { type: 'string', repeatable: true },
  mip_opt_out: { type: 'boolean' },
  version: { type: 'string' },
  callback: { type: 'string' },
  callback_method: { type: 'string' },
  no_delay: { type: 'boolean' },
  filler_words: { type: 'boolean' },
};

/** Encodings without a header of their own, whose rate must be said. */
const RAW = new Set(['linear16', 'linear32', 'alaw', 'mulaw']);
/** The vendor's budget for key terms is about 500 tokens in total; half a token per character is a safe guess. */
const MAX_KEYTERM_CHARS = 2_000;

export interface DeepgramAsked {
  model: string;
  encoding: string;
  sampleRate: number;
  interim: boolean;
  vadEvents: boolean;
  /** Milliseconds of silence that end an utterance, null where endpointing is off. */
  endpointingMs: number | null;
  utteranceEndMs: number | null;
}

/** What is wrong with the query, empty where nothing is. */
export function deepgramProblems(query: URLSearchParams): string[] {
  const problems = checkQuery(query, FIELDS);
  const model = query.get('model') ?? '';
  const isNova3 = model.startsWith('nova-3');
  if (model.startsWith('flux')) problems.push('query.model: flux models are served at /v2/listen');
  else if (!/^(nova-[23]|nova|enhanced|base|whisper)(-[a-z0-9-]+)?$/.test(model))
    problems.push('query.model is unknown');
  if (query.has('keyterm') && !isNova3) problems.push('query.keyterm needs nova-3');
  if (query.has('keywords') && isNova3) problems.push('query.keywords is not for nova-3');
  if (query.getAll('keyterm').join(' ').length > MAX_KEYTERM_CHARS)
    problems.push('query.keyterm is over the budget');
  if (query.getAll('keyterm').some((term) => /:\d/.test(term) || term.trim() === ''))
    problems.push('query.keyterm is a plain term, without a weight');
  if (query.has('utterance_end_ms') && query.get('interim_results') !== 'true')
    problems.push('query.utterance_end_ms needs interim_results=true');
  if (RAW.has(query.get('encoding') ?? '') && !query.has('sample_rate'))
    problems.push('query.sample_rate is missing');
  return problems;
}

export function deepgramAsked(query: URLSearchParams): DeepgramAsked {
  const endpointing = query.get('endpointing') ?? '10';
  const utteranceEnd = query.get('utterance_end_ms');
  return {
    model: query.get('model') ?? '',
    encoding: query.get('encoding') ?? '',
    sampleRate: Number(query.get('sample_rate') ?? 0),
    interim: query.get('interim_results') === 'true',
    vadEvents: query.get('vad_events') === 'true',
    endpointingMs: endpointing === 'false' ? null : Number(endpointing),
    utteranceEndMs: utteranceEnd === null ? null : Number(utteranceEnd),
  };
}
