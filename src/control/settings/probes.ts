import type { KeyedProvider } from '../../contracts/setting-names.ts';
import { type GuardedCall, type GuardedHttp, OutboundFailure } from '../../platform/guarded-http.ts';
import type { KeyProbe } from '../../providers/vendor.ts';
import { VENDORS } from '../../providers/vendors/all-vendors.ts';
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

const PROBES = {
  ...providerProbes(),
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
} satisfies Record<string, Probe>;

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

/** One probe for each account, as its vendor documents it. */
function providerProbes(): Record<KeyedProvider, Probe> {
  const probes = VENDORS.flatMap(({ accounts, probe: keyProbe }) =>
    keyProbe ? accounts.map((account) => [account, probeOf(account, keyProbe)] as const) : [],
  ).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(probes) as Record<KeyedProvider, Probe>;
}

function probeOf(account: KeyedProvider, { url, keyHeader, keyPrefix = '', headers }: KeyProbe): Probe {
  return {
    request(settings) {
      const key = settings.secret(`${account}_api_key`);
      if (key === null) return { missing: `${account}_api_key` };
      return keyHeader === null ? { url } : { url, headers: { ...headers, [keyHeader]: keyPrefix + key } };
    },
    judge(status) {
      if (keyHeader === null && status < 500) {
        return { outcome: 'ok', detail: 'the provider answers; its key is not tried here' };
      }
      if (status >= 200 && status < 300) return { outcome: 'ok', detail: 'the provider accepts the key' };
      // Some say 400 to a key that they do not know.
      if (status === 400 || status === 401 || status === 403) {
        return { outcome: 'refused', detail: 'the provider refuses the key' };
      }
      return unexpected(status);
    },
  };
}

function unexpected(status: number): Pick<ProbeResult, 'outcome' | 'detail'> {
  return { outcome: 'unexpected', detail: `the other end answers ${status}; try again later` };
}
