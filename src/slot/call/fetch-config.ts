import { CORE_SECRET_HEADER } from '../../contracts/http-names.ts';
import { CONFIG_MAX_BYTES, CONFIG_TIMEOUT_MS, DEFAULT_MAX_CALL_SECONDS } from '../../contracts/limits.ts';
import type { RuntimeConfig } from '../../contracts/runtime-config.ts';
import { CLOSE } from '../../contracts/wire.ts';
import { HttpFailure, httpCall } from '../../platform/http-client.ts';
import { isSafeTransport, mayReceiveSecret } from '../../platform/origins.ts';
import { isRecord } from '../transport/inbound-message.ts';

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

/** A config, or the close code and reason with which the call is refused. */
export type ConfigAnswer = { config: RuntimeConfig } | { refusal: { code: number; reason: string } };

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
    if (answer.status === 404) return refuse(CLOSE.botNotFound, detailOf(answer.body) ?? 'bot not found');
    if (answer.status === 503 && meansOutsideHours(answer.body)) {
      return refuse(CLOSE.outsideHours, detailOf(answer.body) ?? 'outside active hours');
    }
    return refuse(CLOSE.configFailed, `the config endpoint answered ${answer.status}`);
  } catch (error) {
    const why = error instanceof HttpFailure ? error.message : 'the request failed';
    return refuse(CLOSE.configFailed, `the config endpoint cannot be used: ${why}`);
  }
}

/** `{bot_id}` is replaced where the setting holds it; otherwise `/{bot_id}` is appended (docs/operating.md). */
export function configUrlFor(configUrl: string, botId: string): string {
  const id = encodeURIComponent(botId);
  if (configUrl.includes('{bot_id}')) return configUrl.replaceAll('{bot_id}', id);
  return `${configUrl.replace(/\/+$/, '')}/${id}`;
}

/**
 * Reads a config tolerantly: what a call cannot do without is demanded, the rest gets its default, so that a foreign
 * control plane need not know every field of this version.
 */
export function readConfig(body: string, botId: string): ConfigAnswer {
  let raw: unknown;
  try {
    raw = JSON.parse(body);
  } catch {
    return refuse(CLOSE.configFailed, 'the config is not JSON');
  }
  if (!isRecord(raw)) return refuse(CLOSE.configFailed, 'the config is not an object');
  const sessionId = raw.session_id;
  if (typeof sessionId !== 'string' || sessionId === '' || sessionId.length > 200) {
    return refuse(CLOSE.configFailed, 'the config has no session_id');
  }
  const webhookUrl = raw.webhook_url;
  if (typeof webhookUrl !== 'string' || !URL.canParse(webhookUrl)) {
    return refuse(CLOSE.configFailed, 'the config has no usable webhook_url');
  }
  // Refused before the call rather than after it, when its results could not be delivered (D-53).
  if (!isSafeTransport(new URL(webhookUrl))) {
    return refuse(CLOSE.configFailed, 'webhook_url must be https; plain http is for loopback only');
  }
  for (const family of ['stt', 'llm', 'tts'] as const) {
    const provider = raw[family];
    if (!isRecord(provider) || typeof provider.provider !== 'string') {
      return refuse(CLOSE.configFailed, `the config names no ${family}.provider`);
    }
  }
  const seconds = raw.max_call_duration_seconds;
  return {
    config: {
      ...(raw as RuntimeConfig),
      session_id: sessionId,
      bot_id: typeof raw.bot_id === 'string' ? raw.bot_id : botId,
      webhook_url: webhookUrl,
      system_prompt: text(raw.system_prompt),
      opening_message: text(raw.opening_message),
      vad: isRecord(raw.vad) ? raw.vad : {},
      re_engagement: isRecord(raw.re_engagement) ? raw.re_engagement : {},
      tools: Array.isArray(raw.tools) ? raw.tools.filter(isRecord) : [],
      min_words_interruption: typeof raw.min_words_interruption === 'number' ? raw.min_words_interruption : 0,
      max_call_duration_seconds:
        typeof seconds === 'number' && seconds > 0 && seconds <= 86_400 ? seconds : DEFAULT_MAX_CALL_SECONDS,
    },
  };
}

function refuse(code: number, reason: string): ConfigAnswer {
  return { refusal: { code, reason } };
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

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
