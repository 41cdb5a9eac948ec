import { randomUUID } from 'node:crypto';
import type { Bot } from '../../contracts/bot.ts';
import type { IntegrationLogEntry } from '../../contracts/crm.ts';
import { BOT_ID_PATTERN, RESULTS_PATH } from '../../contracts/http-names.ts';
import type { RuntimeConfig } from '../../contracts/runtime-config.ts';
import { AppError } from '../../platform/app-error.ts';
import { textOrNull } from '../../platform/json-shapes.ts';
import { usableTimezone } from '../../platform/local-time.ts';
import { type Logger, maskNumber } from '../../platform/logger.ts';
import type { CachedBots } from '../caches/cache-registry.ts';
import type { LivePromptCacheStore } from '../caches/live-prompt-cache.ts';
import type { ActiveCall } from '../calls/call-record.ts';
import type { CallRecordStore } from '../calls/call-store.ts';
import { type CampaignStore, callbackVariables } from '../campaigns/campaign-store.ts';
import { type CrmPrefetch, skippedPrefetch } from '../crm/prefetch.ts';
import { checkActiveHours, secondsUntil } from './active-hours.ts';
import { buildConfig, type ConfigInputs } from './build-config.ts';
import { type ConnectedEvent, readConnectedEvent } from './connected-event.ts';
import { type OpenSessionParts, openSession } from './open-session.ts';
import { livePromptVersion } from './prompt-parts.ts';
import { namesSecrets } from './served-tools.ts';
import { filterSipHeaders } from './sip-context.ts';
import { effectiveCrm, templateVariables, type VariableSources } from './variables.ts';

export interface OpenCallParts extends ConfigInputParts, OpenSessionParts {
  bots: Pick<CachedBots, 'get'>;
  calls: OpenSessionParts['calls'] & Pick<CallRecordStore, 'insertRefused'>;
  prefetch: CrmPrefetch;
  logger: Logger;
  baseUrl: () => string;
}

export interface CallRequest {
  botId: string;
  callerId: string;
  streamId: string;
  /** As it came in the query. */
  connectedEvent: string | null;
  /** Aborted when the slot no longer waits. */
  signal: AbortSignal;
}

/**
 * Opens a call and returns its config, in this order: bot, active-hours gate, flags, SIP headers, CRM
 * pre-fetch, variables, prompts, record. Nothing expensive happens before the gate, and the `active` record is on disk
 * when this resolves. Throws `not_found`, `validation_error` for a session id that is none, `outside_active_hours` and
 * `session_in_use`.
 */
export async function openCall(parts: OpenCallParts, request: CallRequest): Promise<RuntimeConfig> {
  const bot = BOT_ID_PATTERN.test(request.botId) ? await parts.bots.get(request.botId) : null;
  if (!bot) throw new AppError('not_found', 'there is no bot with this id');
  const nowIso = parts.nowIso();
  const event = readConnectedEvent(request.connectedEvent);
  const timezone = timezoneOf(bot, parts.logger);
  const call = describeCall(bot, event, request, timezone, nowIso);
  await passGate(parts, bot, call);

  const sources: VariableSources = {
    callerId: request.callerId,
    fields: event.fields,
    sip: filterSipHeaders(event.sipHeaders, bot.sip_header_config),
    callback: await callbackContext(parts, event),
    mockCrm: event.mockCrm,
    prefetched: {},
    timezone,
    nowIso,
  };
  const fetched = await askCrm(parts, bot, event, sources, request.signal);
  const complete = { ...sources, prefetched: fetched?.data ?? {} };
  const variables = templateVariables(complete);
  const configInputs = await readConfigInputs(parts, {
    bot,
    campaignId: event.campaign?.campaign_id ?? null,
    nowIso,
  });
  const served = (sessionId: string) =>
    buildConfig({
      bot,
      sessionId,
      webhookUrl: `${parts.baseUrl()}${RESULTS_PATH}`,
      variables,
      sipContext: sources.sip,
      timezone,
      configInputs,
    });
  if (request.signal.aborted) {
    // Nobody waits for the config any more, so there will be no call and no results either.
    throw new AppError('bad_request', 'the connection was closed before the config was ready');
  }
  const { session_id: sessionId } = call;
  await openSession(parts, {
    ...call,
    sip_context: { ...sources.sip },
    crm_data: effectiveCrm(complete),
    integration_log: fetched ? [fetched.entry] : [],
  });
  parts.logger.info(
    { session_id: sessionId, bot_id: bot.bot_id, caller: maskNumber(call.caller_id) },
    'call config served',
  );
  return served(sessionId);
}

function timezoneOf(bot: Bot, logger: Logger): string {
  const { timezone, known } = usableTimezone(bot.timezone);
  if (!known) logger.warn({ bot_id: bot.bot_id, timezone: bot.timezone }, 'unknown timezone, UTC is used');
  return timezone;
}

/** The plane itself writes the record of a call that it turns away (D-20). */
async function passGate(parts: OpenCallParts, bot: Bot, call: ActiveCall): Promise<void> {
  const nowMs = Date.parse(call.created_at);
  const gate = checkActiveHours(bot.active_hours, bot.timezone, nowMs);
  if (gate.open) return;
  await parts.calls.insertRefused(call, 'outside_hours');
  parts.logger.info({ bot_id: bot.bot_id, opens_at: gate.opensAt }, 'a call came outside active hours');
  throw outsideActiveHours(bot.bot_id, gate, nowMs);
}

/** `detail` begins with `outside_active_hours:` (R147). */
export function outsideActiveHours(
  botId: string,
  gate: { reason: string; opensAt: string | null },
  nowMs: number,
): AppError {
  return new AppError(
    'outside_active_hours',
    `outside_active_hours: bot ${botId} takes no calls now, ${gate.reason}`,
    {
      details: gate.opensAt === null ? {} : { retryAfterSeconds: secondsUntil(gate.opensAt, nowMs) },
    },
  );
}

async function callbackContext(parts: OpenCallParts, event: ConnectedEvent): Promise<Record<string, string>> {
  const { campaign_id: campaignId, campaign_call_id: campaignCallId } = event.campaign ?? {};
  if (!campaignId || !campaignCallId) return {};
  return callbackVariables(await parts.campaigns.callback(campaignId, campaignCallId));
}

/** Null where the bot asks no CRM. The entry says what happened, also where nothing was sent. */
async function askCrm(
  parts: OpenCallParts,
  bot: Bot,
  event: ConnectedEvent,
  sources: VariableSources,
  signal: AbortSignal,
): Promise<{ data: Record<string, unknown>; entry: IntegrationLogEntry } | null> {
  if (!bot.crm_prefetch?.enabled) return null;
  if (event.skipPrefetch) return { data: {}, entry: skippedPrefetch(sources.nowIso) };
  return await parts.prefetch(bot, templateVariables(sources), signal);
}

function describeCall(
  bot: Bot,
  event: ConnectedEvent,
  request: CallRequest,
  timezone: string,
  nowIso: string,
): ActiveCall {
  const { fields } = event;
  const transport = transportOf(fields, request.streamId);
  const isRoom = transport === 'rtc_sip' || transport === 'rtc_widget';
  return {
    session_id: event.sessionId ?? randomUUID(),
    bot_id: bot.bot_id,
    bot_name: bot.name,
    bot_version: bot.version ?? null,
    call_type: transport === 'rtc_widget' ? 'widget' : 'bot',
    transport,
    call_id: isRoom ? textOrNull(fields.call_id) : null,
    stream_id: request.streamId,
    caller_id: request.callerId,
    from_number: textOrNull(fields.from_number),
    to_number: textOrNull(fields.to_number),
    room_name: textOrNull(fields.room_name),
    trunk_id: textOrNull(fields.trunk_id),
    call_direction: fields.call_direction === 'outbound' ? 'outbound' : 'inbound',
    timezone,
    created_at: nowIso,
    connected_event: fields,
    sip_context: {},
    crm_data: {},
    integration_log: [],
    campaign: event.campaign,
    skip_post_push: event.skipPostPush,
    max_call_duration_seconds: bot.max_call_duration_seconds,
  };
}

/**
 * A call through a room says so itself (main/rooms/room-requests.ts). Of the others only socket transports have a stream
 * of their own (R143); a partner's names the carrier's ids of the call and of the
 * stream (docs/partner-protocol.md, "Carrier to bot").
 */
function transportOf(
  fields: Readonly<Record<string, unknown>>,
  streamId: string,
): NonNullable<ActiveCall['transport']> | null {
  if (textOrNull(fields.room_name) !== null) {
    return fields.transport === 'rtc_sip' || fields.transport === 'rtc_widget' ? fields.transport : null;
  }
  if (streamId === '') return null;
  return textOrNull(fields.call_sid) !== null && fields.stream_sid === streamId ? 'partner' : 'websocket';
}

/** The system settings as far as a call config needs them, at one moment. */
export interface ConfigSettings {
  providerKey(provider: string): string | null;
  /** Served as `minio`; null where no object storage is set up. */
  objectStorage(): object | null;
  knowledgeEnabled(): boolean;
  /** Where keys may be sent beside the vendors' own hosts. */
  providerOrigins(): readonly string[];
  /** Where the requests of tools may go beside public hosts. */
  outboundNetworks(): readonly string[];
}

interface ConfigInputParts {
  /** Cached under `system:settings`. */
  settings: () => Promise<ConfigSettings>;
  /** Values of `{{secret.NAME}}` of a bot. */
  secretsOf: (botId: string) => Promise<Readonly<Record<string, string>>>;
  /** Whether every one of these knowledge bases exists. */
  knowledgeBasesExist: (ids: readonly string[]) => Promise<boolean>;
  livePromptCaches: LivePromptCacheStore;
  campaigns: CampaignStore;
}

/** Everything beyond bot and call that a config is built from. */
async function readConfigInputs(
  parts: ConfigInputParts,
  call: { bot: Bot; campaignId: string | null; nowIso: string },
): Promise<ConfigInputs> {
  const { bot } = call;
  const settings = await parts.settings();
  const storage = settings.objectStorage();
  const campaign = call.campaignId === null ? null : await parts.campaigns.get(call.campaignId);
  const usable = await knowledgeUsable(parts, settings, bot);
  const cache = bot.live_prompt_cache?.enabled
    ? await parts.livePromptCaches.usable(bot.bot_id, livePromptVersion(bot, usable), call.nowIso)
    : null;
  return {
    keys: { keyOf: (provider) => settings.providerKey(provider), origins: settings.providerOrigins() },
    secrets: namesSecrets(bot) ? await parts.secretsOf(bot.bot_id) : {},
    objectStorage: storage && { ...storage },
    knowledgeUsable: usable,
    outboundNetworks: settings.outboundNetworks(),
    callbackDetection: campaign?.callback_detection_enabled ?? false,
    livePromptCache: cache && { cache_name: cache.cache_name, expires_at: cache.expires_at },
  };
}

/** Both sides enable it and the ids validate (R68); no ids are nothing to search in. */
async function knowledgeUsable(
  parts: ConfigInputParts,
  settings: ConfigSettings,
  bot: Bot,
): Promise<boolean> {
  const ids = bot.knowledge?.enabled ? (bot.knowledge.knowledge_base_ids ?? []) : [];
  return ids.length > 0 && settings.knowledgeEnabled() && (await parts.knowledgeBasesExist(ids));
}
