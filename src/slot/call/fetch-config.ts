import type { ErrorCode } from '../../contracts/error-catalogue.ts';
import { CORE_SECRET_HEADER } from '../../contracts/http-names.ts';
import { CONFIG_MAX_BYTES, CONFIG_TIMEOUT_MS, DEFAULT_MAX_CALL_SECONDS } from '../../contracts/limits.ts';
import type { RuntimeConfig } from '../../contracts/runtime-config.ts';
import { CLOSE } from '../../contracts/wire.ts';
import { HttpFailure, httpCall } from '../../platform/http-client.ts';
import { isRecord } from '../../platform/json-shapes.ts';
import { hostOf, isSafeTransport, mayReceiveSecret } from '../../platform/origins.ts';
import { runtimeConfigShape } from './runtime-config-shape.ts';

/** What the config endpoint is told about a call (R148). */
export interface ConfigQuery {
  configUrl: string;
  botId: string;
  callerId: string;
  streamId: string;
  connectedEvent: Record<string, unknown>;
  coreSecret: string;
  ownOrigins: readonly string[];
}

/** A config, or what the call is refused with: the code for the log, the close code, and the reason for the dialler. */
export type ConfigAnswer = { config: RuntimeConfig } | { refusal: ConfigRefusal };

interface ConfigRefusal {
  error: ErrorCode;
  code: number;
  reason: string;
  /** For the operator, who reads the log: where the cause is to be looked for (R155). */
  advice?: string;
}

/** Asks the control plane, own or foreign, for the config of one call. Never rejects. */
export async function fetchConfig(query: ConfigQuery): Promise<ConfigAnswer> {
  const url = new URL(configUrlFor(query.configUrl, query.botId));
  url.searchParams.set('caller_id', query.callerId);
  url.searchParams.set('stream_id', query.streamId);
  url.searchParams.set('connected_event', JSON.stringify(query.connectedEvent));
  const withSecret = query.coreSecret !== '' && mayReceiveSecret(url.href, query.ownOrigins);
  try {
    const answer = await httpCall(url.href, {
      headers: {
        accept: 'application/json',
        ...(withSecret ? { [CORE_SECRET_HEADER]: query.coreSecret } : {}),
      },
      timeoutMs: CONFIG_TIMEOUT_MS,
      maxBytes: CONFIG_MAX_BYTES,
    });
    if (answer.status === 200) return readConfig(answer.body, query.botId);
    if (answer.status === 404) {
      const detail = detailOf(answer.body) ?? 'bot not found';
      return refuse('config_not_found', detail, CLOSE.botNotFound, adviceOn404(query));
    }
    if (answer.status === 503 && meansOutsideHours(answer.body)) {
      const detail = detailOf(answer.body) ?? 'outside active hours';
      return refuse('outside_active_hours', detail, CLOSE.outsideHours);
    }
    if (answer.status === 401 || answer.status === 403) {
      const reason = `the config endpoint answered ${answer.status}`;
      return refuse('config_failed', reason, CLOSE.configFailed, adviceOn403(query, withSecret));
    }
    return refuse(...faultOf(answer.status, answer.body));
  } catch (error) {
    const why = error instanceof HttpFailure ? error.message : 'the request failed';
    return refuse('config_failed', `the config endpoint cannot be used: ${why}`);
  }
}

/** `{bot_id}` is replaced where the setting holds it; otherwise `/{bot_id}` is appended (docs/operating.md). */
export function configUrlFor(configUrl: string, botId: string): string {
  const id = encodeURIComponent(botId);
  if (configUrl.includes('{bot_id}')) return configUrl.replaceAll('{bot_id}', id);
  return `${configUrl.replace(/\/+$/, '')}/${id}`;
}

/**
 * Reads a config as the contract has it. What misfits is refused with its path; what is unknown is passed over, and
 * what is absent or null gets its default, so that a foreign control plane need not know every field of this version.
 */
export function readConfig(body: string, botId: string): ConfigAnswer {
  let raw: unknown;
  try {
    raw = JSON.parse(body);
  } catch {
    return refuse('bad_config', 'the config is not JSON');
  }
  const misfit = runtimeConfigShape(raw);
  if (misfit) {
    return refuse(
      'bad_config',
      `${misfit.path === '' ? 'the config' : misfit.path} must be ${misfit.mustBe}`,
    );
  }
  const served = withoutNulls(raw as ServedConfig);
  if (!URL.canParse(served.webhook_url)) return refuse('bad_config', 'webhook_url must be a URL');
  // Refused before the call rather than after it, when its results could not be delivered (D-53).
  if (!isSafeTransport(new URL(served.webhook_url))) {
    return refuse('bad_config', 'webhook_url must be https; plain http is for loopback only');
  }
  const seconds = served.max_call_duration_seconds ?? 0;
  return {
    config: {
      ...absentFields(botId),
      ...served,
      vad: withoutNulls(served.vad ?? {}),
      re_engagement: withoutNulls(served.re_engagement ?? {}),
      max_call_duration_seconds: seconds > 0 && seconds <= 86_400 ? seconds : DEFAULT_MAX_CALL_SECONDS,
    },
  };
}

/** What a call cannot do without. */
type Demanded = 'session_id' | 'webhook_url' | 'stt' | 'llm' | 'tts';
type ServedConfig = Pick<RuntimeConfig, Demanded> & Partial<RuntimeConfig>;
type OptionalOf<T> = {
  [K in keyof T]-?: undefined extends T[K] ? (unknown extends T[K] ? never : K) : never;
}[keyof T];

/** Fields of the contract that a foreign plane left out. */
function absentFields(botId: string): Omit<RuntimeConfig, Demanded | OptionalOf<RuntimeConfig>> {
  return {
    bot_id: botId,
    system_prompt: '',
    opening_message: '',
    vad: {},
    min_words_interruption: 0,
    re_engagement: {},
    ambient_sound: null,
    tools: [],
    conversation_policy: null,
    transfer_numbers: null,
    transfer_targets: null,
    pre_transfer_message: null,
    post_call_analysis_prompt: null,
    qc_prompt: null,
    post_call_cache_enabled: false,
    post_call_cache_version: null,
    post_call_cache: null,
    live_prompt_cache_state: { cache_name: null, expires_at: null },
    sip_context: {},
    call_context: {},
    crm_context: {},
    knowledge: {},
    callback_detection_enabled: false,
    minio: null,
    agent_desk_enabled: false,
    agent_desk_context: null,
    auto_dispositions: null,
    voicemail_message: null,
    max_call_duration_seconds: DEFAULT_MAX_CALL_SECONDS,
    timezone: 'UTC',
  };
}

/** A plane that has no value for a field may say null for it. */
function withoutNulls<T extends object>(served: T): T {
  return Object.fromEntries(Object.entries(served).filter(([, value]) => value !== null)) as T;
}

function refuse(
  error: ErrorCode,
  reason: string,
  code: number = CLOSE.configFailed,
  advice?: string,
): ConfigAnswer {
  return { refusal: { error, code, reason, ...(advice === undefined ? {} : { advice }) } };
}

/** The two mistakes of a dialler itself are told in the plane's own words; of the rest it learns the status. */
function faultOf(status: number, body: string): [ErrorCode, string] {
  const code = problemField(body, 'code');
  const detail = detailOf(body);
  if (detail !== undefined && code === 'session_in_use') return [code, detail];
  if (detail !== undefined && code === 'validation_error') return [code, detail];
  return ['config_failed', `the config endpoint answered ${status}`];
}

function adviceOn404({ configUrl, botId }: ConfigQuery): string {
  const origin = hostOf(configUrl);
  return `either no bot with the id ${botId} is published, or ${origin} is not the control plane that has it; look at the address that the dialler calls, and at CONFIG_URL`;
}

function adviceOn403({ configUrl, coreSecret }: ConfigQuery, wasSent: boolean): string {
  const origin = hostOf(configUrl);
  if (wasSent) {
    return `CORE_SECRET of this host and that of the control plane at ${origin} differ; set the same one on both`;
  }
  return coreSecret === ''
    ? `the control plane at ${origin} wants a core secret and this host has none; set CORE_SECRET to the same value on both`
    : `the core secret was not sent: ${origin} is not among TRUSTED_ORIGINS, or is reached over plain http`;
}

/**
 * 503 means outside active hours (R147), unless a problem document says by its `code` that something else,
 * such as the store, is unavailable.
 */
function meansOutsideHours(body: string): boolean {
  const code = problemField(body, 'code');
  return code === undefined || code === 'outside_active_hours';
}

/** The `detail` of a problem document, which the dialler gets as close reason. */
function detailOf(body: string): string | undefined {
  return problemField(body, 'detail');
}

function problemField(body: string, field: 'code' | 'detail'): string | undefined {
  try {
    const problem: unknown = JSON.parse(body);
    const value = isRecord(problem) ? problem[field] : undefined;
    return typeof value === 'string' ? value : undefined;
  } catch {
    return undefined;
  }
}
