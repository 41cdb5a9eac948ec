import { checkFields, checkQuery, type Fields } from './kit/field-rules.ts';

/** Query of `/v2/listen` (Deepgram's API reference). What only `/v1/listen` knows is unknown here. */
const FIELDS: Fields = {
  model: { type: 'string', required: true, oneOf: ['flux-general-en', 'flux-general-multi'] },
  encoding: {
    type: 'string',
    required: true,
    oneOf: ['linear16', 'linear32', 'mulaw', 'alaw', 'opus', 'ogg-opus'],
  },
  sample_rate: { type: 'integer', required: true, oneOf: [8_000, 16_000, 24_000, 44_100, 48_000] },
  eot_threshold: { type: 'number', min: 0.5, max: 1 },
  eager_eot_threshold: { type: 'number', min: 0.3, max: 0.9 },
  eot_timeout_ms: { type: 'integer', min: 500, max: 60_000 },
  keyterm: { type: 'string', repeatable: true },
  language_hint: { type: 'string', repeatable: true },
  numerals: { type: 'boolean' },
  profanity_filter: { type: 'boolean' },
  redact: { type: 'string', oneOf: ['numbers', 'aggressive_numbers'], repeatable: true },
  mip_opt_out: { type: 'boolean' },
  tag: { type: 'string', repeatable: true, maxLength: 128 },
};

const CONFIGURE: Fields = {
  type: { type: 'string', required: true, oneOf: ['Configure'] },
  thresholds: {
    type: 'object',
    fields: {
      eot_threshold: { type: 'number', min: 0.5, max: 1 },
      eager_eot_threshold: { type: 'number', min: 0.3, max: 0.9 },
      eot_timeout_ms: { type: 'integer', min: 500, max: 60_000 },
    },
  },
  keyterms: { type: 'array', items: { type: 'string' } },
  language_hints: { type: 'array', items: { type: 'string' } },
  numerals: { type: 'boolean' },
};

/** The languages of flux-general-multi. */
const LANGUAGES = new Set(['en', 'es', 'fr', 'de', 'hi', 'ru', 'pt', 'ja', 'it', 'nl']);

/** What a Flux connection goes by; `Configure` changes part of it. */
export interface FluxSettings {
  model: string;
  encoding: string;
  sampleRate: number;
  eotThreshold: number;
  /** null: eager mode is off. */
  eagerThreshold: number | null;
  eotTimeoutMs: number;
  keyterms: string[];
  languageHints: string[];
}

/** What is wrong with the query, empty where nothing is. */
export function fluxProblems(query: URLSearchParams): string[] {
  const problems = checkQuery(query, FIELDS);
  return [
    ...problems,
    ...settingProblems(fluxSettings(query)).map((problem) => `query: ${problem}`),
    ...(query.has('language_hint') && query.getAll('language_hint').includes('')
      ? ['query: language_hint is empty']
      : []),
  ];
}

export function fluxSettings(query: URLSearchParams): FluxSettings {
  const eager = query.get('eager_eot_threshold');
  return {
    model: query.get('model') ?? '',
    encoding: query.get('encoding') ?? '',
    sampleRate: Number(query.get('sample_rate') ?? 0),
    eotThreshold: Number(query.get('eot_threshold') ?? 0.7),
    eagerThreshold: eager === null ? null : Number(eager),
    eotTimeoutMs: Number(query.get('eot_timeout_ms') ?? 5_000),
    keyterms: query.getAll('keyterm'),
    languageHints: query.getAll('language_hint'),
  };
}

export interface ConfigureMessage {
  type: 'Configure';
  thresholds?: { eot_threshold?: number; eager_eot_threshold?: number; eot_timeout_ms?: number };
  keyterms?: string[];
  language_hints?: string[];
  numerals?: boolean;
}

/** The settings after a `Configure`, only what it names being changed, or what is wrong with it. */
export function configured(settings: FluxSettings, json: unknown): FluxSettings | string[] {
  const problems = checkFields(json, CONFIGURE, 'Configure');
  if (problems.length > 0) return problems;
  const message = json as ConfigureMessage;
  const next: FluxSettings = {
    ...settings,
    eotThreshold: message.thresholds?.eot_threshold ?? settings.eotThreshold,
    eagerThreshold: message.thresholds?.eager_eot_threshold ?? settings.eagerThreshold,
    eotTimeoutMs: message.thresholds?.eot_timeout_ms ?? settings.eotTimeoutMs,
    keyterms: message.keyterms ?? settings.keyterms,
    languageHints: message.language_hints ?? settings.languageHints,
  };
  const wrong = settingProblems(next);
  return wrong.length > 0 ? wrong.map((problem) => `Configure: ${problem}`) : next;
}

function settingProblems(settings: FluxSettings): string[] {
  const problems: string[] = [];
  if (settings.eagerThreshold !== null && settings.eagerThreshold > settings.eotThreshold)
    problems.push('the eager threshold is over the threshold for the end of turn');
  if (settings.languageHints.length > 0 && settings.model !== 'flux-general-multi')
    problems.push('language hints need flux-general-multi');
  const unknown = settings.languageHints.filter((hint) => !LANGUAGES.has(hint.split('-')[0] ?? ''));
  if (unknown.length > 0) problems.push(`language hint ${unknown.join(', ')} is not a language of the model`);
  return problems;
}
