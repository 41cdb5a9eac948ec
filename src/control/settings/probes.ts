import type { SettingSecretName } from '../../contracts/setting-names.ts';
import { type GuardedCall, type GuardedHttp, OutboundFailure } from '../../platform/guarded-http.ts';
import type { SystemSettings } from './system-settings.ts';

/** What a live look at the other end has shown. */
export interface ProbeResult {
  what: ProbeName;
  outcome: 'ok' | 'not_configured' | 'refused' | 'not_found' | 'unreachable' | 'unexpected';
  /** One sentence; never holds a key. */
  detail: string;
  http_status: number | null;
  ms: number | null;
}

/** What can be asked without cost: an address that answers only to a good key, and changes nothing. */
interface Probe {
  /** Null where a setting is missing; the sentence names it. */
  request(settings: SystemSettings): { url: string; headers?: Record<string, string> } | { missing: string };
  judge(status: number): Pick<ProbeResult, 'outcome' | 'detail'>;
}

const PROBE_TIMEOUT_MS = 5_000;
const MAX_ANSWER_BYTES = 1_048_576;

/** Addresses as the providers document them for listing models, voices or projects. */
const PROBES = {
  anthropic: keyProbe('https://api.anthropic.com/v1/models', 'anthropic_api_key', (key) => ({
    'x-api-key': key,
    'anthropic-version': '2023-06-01',
  })),
  assemblyai: keyProbe('https://api.assemblyai.com/v2/transcript?limit=1', 'assemblyai_api_key', (key) => ({
    authorization: key,
  })),
  cartesia: keyProbe('https://api.cartesia.ai/voices?limit=1', 'cartesia_api_key', (key) => ({
    'x-api-key': key,
    'cartesia-version': '2025-04-16',
  })),
  deepgram: keyProbe('https://api.deepgram.com/v1/projects', 'deepgram_api_key', (key) => ({
    authorization: `Token ${key}`,
  })),
  elevenlabs: keyProbe('https://api.elevenlabs.io/v1/models', 'elevenlabs_api_key', (key) => ({
    'xi-api-key': key,
  })),
  gemini: keyProbe('https://generativelanguage.googleapis.com/v1beta/models', 'gemini_api_key', (key) => ({
    'x-goog-api-key': key,
  })),
  google: keyProbe('https://generativelanguage.googleapis.com/v1beta/models', 'google_api_key', (key) => ({
    'x-goog-api-key': key,
  })),
  groq: keyProbe('https://api.groq.com/openai/v1/models', 'groq_api_key', bearer),
  openai: keyProbe('https://api.openai.com/v1/models', 'openai_api_key', bearer),
  // It documents no address that a key can be tried at without cost, so only the way there is tried.
  sarvam: {
    request: (settings) =>
      settings.secret('sarvam_api_key') === null
        ? { missing: 'sarvam_api_key' }
        : { url: 'https://api.sarvam.ai/' },
    judge(status) {
      if (status < 500) return { outcome: 'ok', detail: 'the provider answers; its key is not tried here' };
      return unexpected(status);
    },
  },
  soniox: keyProbe('https://api.soniox.com/v1/models', 'soniox_api_key', bearer),
  storage: {
    request({ values }) {
      const { s3_endpoint: endpoint, s3_bucket: bucket } = values;
      if (!endpoint || !bucket) return { missing: 's3_endpoint and s3_bucket' };
      return { url: `${endpoint.replace(/\/+$/, '')}/${bucket}` };
    },
    judge(status) {
      if (status === 404)
        return { outcome: 'not_found', detail: 'the storage answers, but has no such bucket' };
      // Without a signature a private bucket says 403, which shows that it is there.
      if (status < 500) return { outcome: 'ok', detail: 'the storage answers; its keys are not tried here' };
      return unexpected(status);
    },
  },
  media_server: {
    request({ values }) {
      if (!values.livekit_url) return { missing: 'livekit_url' };
      return { url: values.livekit_url.replace(/^ws/, 'http') };
    },
    judge(status) {
      if (status < 500)
        return { outcome: 'ok', detail: 'the media server answers; its keys are not tried here' };
      return unexpected(status);
    },
  },
} as const satisfies Record<string, Probe>;

export type ProbeName = keyof typeof PROBES;
export const PROBE_NAMES = Object.keys(PROBES) as ProbeName[];

/** Asks the other end once. Never rejects, and never shows the key: the guard's messages name neither URL nor header. */
export async function probe(
  what: ProbeName,
  settings: SystemSettings,
  http: GuardedHttp,
  signal: AbortSignal,
): Promise<ProbeResult> {
  const { request, judge }: Probe = PROBES[what];
  const target = request(settings);
  if ('missing' in target) {
    const detail = `set ${target.missing} first`;
    return { what, outcome: 'not_configured', detail, http_status: null, ms: null };
  }
  const call: GuardedCall = {
    method: 'GET',
    headers: target.headers ?? {},
    timeoutMs: PROBE_TIMEOUT_MS,
    maxBytes: MAX_ANSWER_BYTES,
    signal,
  };
  try {
    const { status, ms } = await http.send(target.url, call);
    return { what, ...judge(status), http_status: status, ms };
  } catch (error) {
    if (error instanceof OutboundFailure) {
      const answered = error.kind === 'too_large';
      return {
        what,
        outcome: answered ? 'unexpected' : 'unreachable',
        detail: error.message,
        http_status: null,
        ms: error.ms,
      };
    }
    return { what, outcome: 'unexpected', detail: 'the probe failed', http_status: null, ms: null };
  }
}

function keyProbe(
  url: string,
  name: SettingSecretName,
  headersOf: (key: string) => Record<string, string>,
): Probe {
  return {
    request(settings) {
      const key = settings.secret(name);
      return key === null ? { missing: name } : { url, headers: headersOf(key) };
    },
    judge(status) {
      if (status >= 200 && status < 300) return { outcome: 'ok', detail: 'the provider accepts the key' };
      // Some say 400 to a key that they do not know.
      if (status === 400 || status === 401 || status === 403) {
        return { outcome: 'refused', detail: 'the provider refuses the key' };
      }
      return unexpected(status);
    },
  };
}

function bearer(key: string): Record<string, string> {
  return { authorization: `Bearer ${key}` };
}

function unexpected(status: number): Pick<ProbeResult, 'outcome' | 'detail'> {
  return { outcome: 'unexpected', detail: `the other end answers ${status}; try again later` };
}
