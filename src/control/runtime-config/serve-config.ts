import { randomUUID } from 'node:crypto';
import { BOT_ID_PATTERN, CONFIG_PATH, RESULTS_PATH } from '../../contracts/http-names.ts';
import { AppError } from '../../platform/app-error.ts';
import type { HttpReply, HttpRequest, HttpRoute } from '../../platform/http-server.ts';
import { type Logger, maskNumber } from '../../platform/logger.ts';
import type { BotStore } from '../bots/bot-store.ts';
import type { ActiveCall } from '../calls/call-record.ts';
import type { CallRecordStore } from '../calls/call-store.ts';
import type { CoreSecretGuard } from '../http/core-secret-guard.ts';
import { buildConfig } from './build-config.ts';
import { type ConnectedEvent, readConnectedEvent } from './connected-event.ts';
import { callVariables, usableTimezone } from './variables.ts';

export interface ServeConfigParts {
  bots: BotStore;
  calls: CallRecordStore;
  guard: CoreSecretGuard;
  logger: Logger;
  baseUrl: () => string;
  nowIso: () => string;
}

/**
 * `GET /api/v1/config/{bot_id}`: what a slot asks at the start of every call, whatever its transport (interface.md,
 * Runtime config). The `active` record is on disk before the answer leaves, so results always find it.
 */
export function configRoute(parts: ServeConfigParts): HttpRoute {
  return {
    method: 'GET',
    path: `${CONFIG_PATH}/{bot_id}`,
    maxBodyBytes: 0,
    handler: (request) => serveConfig(parts, request),
  };
}

async function serveConfig(parts: ServeConfigParts, request: HttpRequest): Promise<HttpReply> {
  parts.guard.check(request);
  const botId = request.params.bot_id ?? '';
  const bot = BOT_ID_PATTERN.test(botId) ? await parts.bots.get(botId) : null;
  if (!bot) throw new AppError('not_found', 'there is no bot with this id');
  const event = readConnectedEvent(request.query.get('connected_event'));
  const nowIso = parts.nowIso();
  const { timezone, known } = usableTimezone(bot.timezone);
  if (!known) {
    parts.logger.warn({ bot_id: bot.bot_id, timezone: bot.timezone }, 'unknown timezone, UTC is used');
  }
  const variables = callVariables(event.fields, event.mockCrm, timezone, nowIso);
  const call: ActiveCall = {
    session_id: event.sessionId ?? randomUUID(),
    bot_id: bot.bot_id,
    bot_name: bot.name,
    call_type: 'bot',
    stream_id: request.query.get('stream_id') ?? '',
    caller_id: request.query.get('caller_id') ?? '',
    from_number: textOrNull(event.fields.from_number),
    call_direction: event.fields.call_direction === 'outbound' ? 'outbound' : 'inbound',
    timezone,
    created_at: nowIso,
    connected_event: event.fields,
    sip_context: {},
    crm_data: { ...variables.crm },
    integration_log: [],
    campaign: event.campaign,
    skip_post_push: event.skipPostPush,
  };
  const sessionId = await openSession(parts, call, event);
  parts.logger.info(
    { session_id: sessionId, bot_id: bot.bot_id, caller: maskNumber(call.caller_id) },
    'call config served',
  );
  return {
    status: 200,
    headers: { 'cache-control': 'no-store' },
    json: buildConfig({
      bot,
      sessionId,
      webhookUrl: `${parts.baseUrl()}${RESULTS_PATH}`,
      variables,
      timezone,
    }),
  };
}

/**
 * Writes the `active` record and returns its session. A campaign's session that is still active is the same call asking
 * again; one that has ended cannot take a second result, so that call goes on under an id of its own.
 */
async function openSession(
  parts: ServeConfigParts,
  call: ActiveCall,
  event: ConnectedEvent,
): Promise<string> {
  if (await parts.calls.insertActive(call)) return call.session_id;
  const standing = await parts.calls.get(call.session_id);
  if (event.sessionId !== null && standing?.status === 'active' && standing.bot_id === call.bot_id) {
    return call.session_id;
  }
  const fresh = { ...call, session_id: randomUUID() };
  parts.logger.warn(
    { session_id: fresh.session_id, requested: call.session_id },
    'the campaign session has ended already, the call gets an id of its own',
  );
  await parts.calls.insertActive(fresh);
  return fresh.session_id;
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}
