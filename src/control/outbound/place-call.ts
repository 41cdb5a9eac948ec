import { randomUUID } from 'node:crypto';
import { Compile } from 'typebox/compile';
import { DIALOUT_PATH, DialoutAccepted, type DialoutRequest } from '../../contracts/dialout.ts';
import { RECORDS_PATH } from '../../contracts/http-names.ts';
import { MAX_CONNECTED_BYTES } from '../../contracts/limits.ts';
import { AppError, describeError } from '../../platform/app-error.ts';
import { invalid, issue, type ValidationIssue } from '../../platform/http-server/schema-check.ts';
import { type Logger, maskNumber } from '../../platform/logger.ts';
import type { CachedBots } from '../caches/cache-registry.ts';
import { CALLBACK_VARIABLES } from '../campaigns/campaign-store.ts';
import type { Fleet, HostAnswer, Placement } from '../fleet/place-on-fleet.ts';
import { askHost } from '../fleet/post-to-host.ts';
import { invalidBody } from '../http/validation-issues.ts';
import { checkActiveHours, secondsUntil } from '../runtime-config/active-hours.ts';
import { PLATFORM_NAMES, RESERVED_FLAGS } from '../runtime-config/connected-event.ts';
import { mayDial, type OutboundTrunk } from '../telephony/media-setup.ts';
import type { OutboundAccepted, OutboundRequest } from './outbound-schema.ts';
import type { OutboundCall, OutboundStore } from './outbound-store.ts';

export interface PlaceCallParts {
  bots: Pick<CachedBots, 'get'>;
  /** What the hosts dial through; null where there is nothing. */
  outboundTrunk: () => Promise<OutboundTrunk | null>;
  fleet: Fleet;
  outbound: OutboundStore;
  /** Sent to the fleet servers; empty where there is none. */
  coreSecret: string;
  logger: Logger;
  nowIso: () => string;
}

/**
 * Starts an outbound call (R156 to R159). What the request lacks is found before any server
 * is asked: reserved names, bot, hours, trunk. Throws `validation_error`, `not_found`, `outside_active_hours`,
 * `no_trunk` and `no_fleet`. Nothing is queued: a fleet without room is an answer at once.
 */
export async function placeOutboundCall(
  parts: PlaceCallParts,
  request: OutboundRequest,
  apiKeyId: string,
): Promise<OutboundAccepted> {
  const sessionId = randomUUID();
  const connectedEvent = connectedEventOf(request.variables ?? {}, sessionId);
  await checkBot(parts, request.bot_id);
  const fromNumber = callerId(await parts.outboundTrunk(), request);
  const body: DialoutRequest = {
    bot_id: request.bot_id,
    to_number: request.to_number,
    from_number: fromNumber,
    connected_event: connectedEvent,
  };
  const placement = await parts.fleet.place((url) => askFleetHost(url, body, parts.coreSecret));
  if (placement.kind !== 'taken') throw notPlaced(parts, placement, sessionId);
  const { call_id: callId, room_name: roomName } = placement.value;
  const createdAt = parts.nowIso();
  await remember(parts, {
    call_id: callId,
    session_id: sessionId,
    room_name: roomName,
    bot_id: request.bot_id,
    fleet_url: placement.url,
    created_at: createdAt,
    created_by: apiKeyId,
  });
  parts.logger.info(
    {
      call_id: callId,
      session_id: sessionId,
      bot_id: request.bot_id,
      to: maskNumber(request.to_number),
      fleet_url: placement.url,
      api_key: apiKeyId,
    },
    'outbound call accepted',
  );
  return {
    status: 'accepted',
    call_id: callId,
    session_id: sessionId,
    room_name: roomName,
    bot_id: request.bot_id,
    to_number: request.to_number,
    from_number: fromNumber,
    created_at: createdAt,
    links: { record: recordPath(sessionId) },
  };
}

/** The customer's telephone rings: a disk that refuses now must not make the caller believe otherwise. */
async function remember(parts: PlaceCallParts, call: OutboundCall): Promise<void> {
  try {
    await parts.outbound.add(call);
  } catch (error) {
    parts.logger.error(
      { call_id: call.call_id, session_id: call.session_id, err: describeError(error) },
      'an accepted outbound call could not be noted; only its record will tell of it',
    );
  }
}

export function recordPath(sessionId: string): string {
  return `${RECORDS_PATH}/${sessionId}`;
}

/** What the session flag adds to the variables of the caller, with room to spare. */
const FLAG_BYTES = 256;
/** The rest of the `connected` message belongs to the worker, and all of it travels in one query. */
export const MAX_VARIABLES_BYTES = MAX_CONNECTED_BYTES - FLAG_BYTES;

/**
 * `variables` are mapped to `connected_event` (R158). A key holder must not steer the platform, so what the config
 * route reads as a flag is refused (D-22), and so is what the platform itself says of a call: one of the two would be
 * lost without a word. The one flag is ours, so that record and answer agree.
 */
function connectedEventOf(variables: Record<string, unknown>, sessionId: string): Record<string, unknown> {
  const found: ValidationIssue[] = [];
  for (const name of Object.keys(variables)) {
    const isReserved = name.startsWith('_') || RESERVED_FLAGS.has(name) || SET_BY_PLATFORM.has(name);
    if (!isReserved) continue;
    const pointer = `/variables/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    const sentence = SET_BY_PLATFORM.has(name)
      ? `the platform sets ${name} itself; choose another name`
      : 'this name is reserved; choose another';
    found.push(issue('body', pointer, sentence, 'reserved_name'));
  }
  if (found.length > 0) {
    throw invalid('these names of variables are the platform’s own; `errors` has each of them', [
      ...found.slice(0, MAX_ISSUES),
    ]);
  }
  if (Buffer.byteLength(JSON.stringify(variables)) > MAX_VARIABLES_BYTES) {
    const sentence = `variables may have ${MAX_VARIABLES_BYTES} bytes as JSON`;
    throw invalid(sentence, [issue('body', '/variables', sentence, 'too_large')]);
  }
  return { ...variables, _campaign_session_id: sessionId };
}

const MAX_ISSUES = 20;

/** What a bot finds in `call.*` beside the variables of the request. */
const SET_BY_PLATFORM: ReadonlySet<string> = new Set([
  ...PLATFORM_NAMES,
  ...Object.values(CALLBACK_VARIABLES),
]);

async function checkBot(parts: PlaceCallParts, botId: string): Promise<void> {
  const bot = await parts.bots.get(botId);
  if (!bot) throw new AppError('not_found', 'there is no bot with this id');
  const nowMs = Date.parse(parts.nowIso());
  const gate = checkActiveHours(bot.active_hours, bot.timezone, nowMs);
  if (gate.open) return;
  throw new AppError('outside_active_hours', `outside_active_hours: ${gate.reason}`, {
    details: gate.opensAt === null ? {} : { retryAfterSeconds: secondsUntil(gate.opensAt, nowMs) },
  });
}

/** The number of the default outbound trunk where the request names none (R157). */
function callerId(trunk: OutboundTrunk | null, request: OutboundRequest): string {
  if (trunk === null) {
    throw new AppError(
      'no_trunk',
      'no outbound SIP trunk is ready; make one the default under /api/v1/trunks, or set sip_outbound_trunk_id',
    );
  }
  if (!mayDial(trunk, request.to_number)) {
    throw invalidBody(
      '/to_number',
      'the outbound trunk does not dial this destination; see its `destinations`',
    );
  }
  const number = request.from_number ?? trunk.defaultFrom;
  if (number === null) {
    throw new AppError(
      'no_trunk',
      'the outbound trunk has no number; set sip_default_from or send from_number',
    );
  }
  return number;
}

/** A slot may be free at any moment; the fleet itself comes back more slowly. */
const RETRY_FULL_SECONDS = 5;
const RETRY_DOWN_SECONDS = 30;

function notPlaced(
  parts: PlaceCallParts,
  placement: Exclude<Placement<DialoutAccepted>, { kind: 'taken' }>,
  sessionId: string,
): AppError {
  const noFleet = (sentence: string, retryAfterSeconds?: number) =>
    new AppError('no_fleet', sentence, {
      details: retryAfterSeconds === undefined ? {} : { retryAfterSeconds },
    });
  if (placement.kind === 'unknown') {
    parts.logger.error(
      { session_id: sessionId, fleet_url: placement.url },
      'a fleet server was asked to dial and its answer did not come; the call may be running',
    );
    // No Retry-After: who tries again may ring the customer twice.
    return noFleet(
      `the fleet server did not answer, and the call may be running all the same; look for the record of session ${sessionId} before trying again`,
    );
  }
  if (placement.kind === 'declined') {
    parts.logger.warn({ fleet_url: placement.url, code: placement.code }, 'a fleet server declined a call');
    return noFleet('the fleet server cannot make this call');
  }
  const { why, reasons } = placement;
  parts.logger.warn({ why, reasons }, 'an outbound call found no fleet server');
  if (why === 'full') return noFleet('every fleet server is full; try again later', RETRY_FULL_SECONDS);
  if (why === 'busy') return noFleet('too many calls look for a fleet server at once', 1);
  if (why === 'no_host') return noFleet('no fleet server answers; look at FLEET_URLS', RETRY_DOWN_SECONDS);
  if (reasons.includes('no_sip')) {
    return new AppError('no_trunk', 'media-server SIP is not configured on the fleet servers');
  }
  if (reasons.includes('secret')) {
    return noFleet('the fleet servers refuse the core secret; CORE_SECRET must be the same on every host');
  }
  return noFleet('no fleet server took the call; try again later', RETRY_DOWN_SECONDS);
}

const accepted = Compile(DialoutAccepted);

/** Asks one fleet server to dial with `POST {fleet_url}/rtc/dialout` (R160). */
function askFleetHost(
  url: string,
  body: DialoutRequest,
  coreSecret: string,
): Promise<HostAnswer<DialoutAccepted>> {
  return askHost(url, {
    path: DIALOUT_PATH,
    body,
    coreSecret,
    isAccepted: (answer): answer is DialoutAccepted => accepted.Check(answer),
    refused(status, code) {
      if (status !== 503) return { kind: 'refused', reason: 'unexpected' };
      return { kind: 'refused', reason: code === 'sip_not_configured' ? 'no_sip' : 'not_accepting' };
    },
  });
}
