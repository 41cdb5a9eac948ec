import type { CrmPrefetchConfig, IntegrationLogEntry } from '../../contracts/crm.ts';
import type { GuardedAnswer, GuardedHttp } from '../../platform/guarded-http.ts';
import { OutboundFailure } from '../../platform/guarded-http.ts';
import { hostOf } from '../../platform/origins.ts';
import type { Variables } from '../../platform/render-template.ts';
import { renderHeaders, renderJson, renderUrl } from '../../platform/render-values.ts';
import { PRODUCT_VERSION } from '../../platform/version.ts';
import { asField, flatLeaves, valueAt } from '../calls/flat-fields.ts';

/**
 * Asks the CRM at call start (R154). Never rejects: a caller is waiting, and a call without CRM
 * data is better than none. `data` is flat, for `{{crm.*}}`; `entry` is for the `integration_log` of the record and
 * exists whatever happened.
 */
export type CrmPrefetch = (
  bot: PrefetchBot,
  variables: Variables,
  signal: AbortSignal,
) => Promise<{ data: Record<string, unknown>; entry: IntegrationLogEntry }>;

export interface PrefetchBot {
  bot_id: string;
  crm_prefetch?: CrmPrefetchConfig | null | undefined;
}

export interface PrefetchParts {
  http: GuardedHttp;
  /** Values of `{{secret.NAME}}` of a bot. */
  secretsOf: (botId: string) => Promise<Readonly<Record<string, string>>>;
  nowIso: () => string;
}

export const DEFAULT_PREFETCH_TIMEOUT_MS = 3_000;
/** A customer's data; more is no answer to a question about one caller. */
const MAX_ANSWER_BYTES = 262_144;

export function createCrmPrefetch(parts: PrefetchParts): CrmPrefetch {
  return async (bot, variables, signal) => {
    const at = parts.nowIso();
    const config = bot.crm_prefetch;
    if (!config?.enabled) return unsent(at, null, 'the bot has no CRM pre-fetch');
    const { url, missing } = renderUrl(config.url, variables);
    const host = hostOf(url);
    if (missing.length > 0) {
      return unsent(at, host, `the URL needs ${missing.join(', ')}, which this call does not have`);
    }
    try {
      const answer = await ask(parts, bot.bot_id, config, url, variables, signal);
      const read = readAnswer(answer, config);
      const { status, ms } = answer;
      return {
        data: read.data,
        entry: { kind: 'prefetch', at, url_host: host, status, ms, attempt: 1, error: read.error },
      };
    } catch (error) {
      const failure = error instanceof OutboundFailure ? error : null;
      return {
        data: {},
        entry: {
          kind: 'prefetch',
          at,
          url_host: host,
          status: null,
          ms: failure?.ms ?? 0,
          attempt: failure === null || failure.kind === 'refused' ? 0 : 1,
          error: failure?.message ?? 'the request could not be made',
        },
      };
    }
  };
}

/** The entry of a call that carries `_skip_prefetch` (R86). */
export function skippedPrefetch(at: string): IntegrationLogEntry {
  return unsent(at, null, 'left out, the call carries _skip_prefetch').entry;
}

async function ask(
  parts: PrefetchParts,
  botId: string,
  config: CrmPrefetchConfig,
  url: string,
  variables: Variables,
  signal: AbortSignal,
): Promise<GuardedAnswer> {
  const secret = await parts.secretsOf(botId);
  const method = config.method ?? 'GET';
  const body =
    method === 'POST' ? JSON.stringify(renderJson(config.body ?? {}, variables, 'literal').value) : undefined;
  return await parts.http.send(url, {
    method,
    headers: {
      ...renderHeaders(config.headers ?? {}, { ...variables, secret }),
      accept: 'application/json',
      'user-agent': `trunkline/${PRODUCT_VERSION}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body }),
    timeoutMs: config.timeout_ms ?? DEFAULT_PREFETCH_TIMEOUT_MS,
    maxBytes: MAX_ANSWER_BYTES,
    signal,
  });
}

function readAnswer(
  answer: GuardedAnswer,
  config: CrmPrefetchConfig,
): { data: Record<string, unknown>; error: string | null } {
  if (answer.status >= 300 && answer.status < 400) {
    return { data: {}, error: `the CRM answered ${answer.status}; redirects are not followed` };
  }
  if (answer.status < 200 || answer.status > 299) {
    return { data: {}, error: `the CRM answered ${answer.status}` };
  }
  let value: unknown;
  try {
    value = JSON.parse(answer.body);
  } catch {
    return { data: {}, error: 'the answer of the CRM is not JSON' };
  }
  if (typeof value !== 'object' || value === null) {
    return { data: {}, error: 'the answer of the CRM is no JSON object' };
  }
  if (!config.mapping) return { data: flatLeaves(value), error: null };
  const data: Record<string, unknown> = {};
  const absent: string[] = [];
  for (const [field, path] of Object.entries(config.mapping)) {
    const found = valueAt(value, path);
    if (found === undefined) absent.push(field);
    else data[field] = asField(found);
  }
  return {
    data,
    error: absent.length === 0 ? null : `the answer of the CRM has nothing for ${absent.join(', ')}`,
  };
}

function unsent(
  at: string,
  host: string | null,
  error: string,
): { data: Record<string, unknown>; entry: IntegrationLogEntry } {
  return {
    data: {},
    entry: { kind: 'prefetch', at, url_host: host, status: null, ms: 0, attempt: 0, error },
  };
}
