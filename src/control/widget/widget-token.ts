import { randomUUID } from 'node:crypto';
import { Compile } from 'typebox/compile';
import type { Bot } from '../../contracts/bot.ts';
import { BOT_ID_PATTERN } from '../../contracts/http-names.ts';
import {
  CALLS_PATH,
  RoomCallAccepted,
  WIDGET_PATH,
  type WidgetDispatchRequest,
} from '../../contracts/room-requests.ts';
import { WIDGET_USER_PREFIX, widgetRoomName } from '../../contracts/rooms.ts';
import { AppError } from '../../platform/app-error.ts';
import { matchesAnySecret } from '../../platform/constant-time.ts';
import type { Logger } from '../../platform/logger.ts';
import { MediaServer } from '../../platform/media-server.ts';
import type { CachedBots } from '../caches/cache-registry.ts';
import type { Fleet, HostAnswer, Placement } from '../fleet/place-on-fleet.ts';
import { askHost, postToHost } from '../fleet/post-to-host.ts';
import type { RateLimiter } from '../http/rate-limit.ts';
import { invalidBody } from '../http/validation-issues.ts';
import type { SystemSettings } from '../settings/system-settings.ts';
import { mediaAccess, publicMediaUrl } from '../telephony/media-access.ts';
import { readContext } from './widget-context.ts';

export interface WidgetTokenParts {
  bots: Pick<CachedBots, 'get'>;
  settings: () => Promise<SystemSettings>;
  fleet: Fleet;
  /** Sent to the fleet servers; empty where there is none. */
  coreSecret: string;
  limiter: RateLimiter;
  logger: Logger;
}

export interface WidgetTokenRequest {
  /** `bot_id` and `api_key` are texts; what else the body holds is looked at once those are right. */
  body: { bot_id: string; api_key: string; [more: string]: unknown };
  headers: Readonly<Record<string, string>>;
  remoteAddress: string;
  /** Aborted when the visitor has gone. */
  signal: AbortSignal;
}

export interface WidgetToken {
  server_url: string;
  participant_token: string;
}

/**
 * Joining must follow within this. It is no bound of the call: whoever is in the room stays, and the media server renews
 * the token of a connection that stands.
 */
export const WIDGET_TOKEN_TTL_S = 120;
/** Tokens for one address and for one bot (D-29). */
const PER_ADDRESS_A_MINUTE = 10;
const PER_BOT_A_MINUTE = 60;
/** A slot may be free at any moment. */
const RETRY_FULL_SECONDS = 5;

/**
 * A browser call (R139), in its order of work: find the bot, check the key, mint the token, bring
 * the bot into the room, and only then give the token out, so that nobody ever waits in a room without a bot. What
 * D-25 adds (origin, quotas, the rest of the body) comes after the key. Throws `not_found`, `unauthorized`,
 * `origin_not_allowed`, `rate_limited`, `validation_error`, `media_token_failed` and `no_fleet`.
 */
export async function widgetToken(
  parts: WidgetTokenParts,
  request: WidgetTokenRequest,
): Promise<WidgetToken> {
  const { body, signal } = request;
  const bot = await findBot(parts, body.bot_id);
  checkKey(bot, body.api_key);
  checkOrigin(bot, request.headers.origin);
  parts.limiter.take(`address:${request.remoteAddress}`, 'widget_address', PER_ADDRESS_A_MINUTE);
  parts.limiter.take(`bot:${bot.bot_id}`, 'widget_bot', PER_BOT_A_MINUTE);
  checkFields(body);
  const context = readContext(body.context);
  const room = widgetRoomName(bot.bot_id, randomUUID());
  const identity = `${WIDGET_USER_PREFIX}${randomUUID().slice(0, 8)}`;
  const token = await mint(parts, room, identity);
  const order: WidgetDispatchRequest = {
    bot_id: bot.bot_id,
    room_name: room,
    participant_identity: identity,
    visitor: visitorOf(request.headers),
    connected_event: context,
  };
  const placement = await parts.fleet.place((url) => askWidgetHost(url, order, parts.coreSecret));
  if (placement.kind !== 'taken') throw notPlaced(parts, placement, room);
  const { call_id: callId } = placement.value;
  parts.logger.info(
    { call_id: callId, bot_id: bot.bot_id, room, fleet_url: placement.url },
    'widget call begins',
  );
  if (signal.aborted) {
    // The visitor has gone meanwhile, so nobody gets the token; the bot need not wait for its own time-out.
    void postToHost(placement.url, `${CALLS_PATH}${callId}/hangup`, {}, parts.coreSecret);
  }
  return token;
}

async function findBot(parts: WidgetTokenParts, id: string): Promise<Bot> {
  const bot = BOT_ID_PATTERN.test(id) ? await parts.bots.get(id) : null;
  if (!bot) throw new AppError('not_found', 'there is no bot with this id');
  return bot;
}

/** Without a key of its own every request for the bot fails, whatever it brings (R34). */
function checkKey(bot: Bot, offered: string): void {
  const key = bot.widget_api_key;
  if (key && matchesAnySecret(offered, [key])) return;
  throw new AppError('unauthorized', 'api_key is not the widget key of this bot');
}

function checkOrigin(bot: Bot, origin: string | undefined): void {
  const allowed = bot.widget?.allowed_origins ?? [];
  if (allowed.length === 0) return;
  const normal = (text: string) => (URL.canParse(text) ? new URL(text).origin : null);
  const asked = normal(origin ?? '');
  if (asked !== null && allowed.some((one) => normal(one) === asked)) return;
  throw new AppError('origin_not_allowed', 'pages of this origin may not call this bot');
}

const FIELDS = new Set(['bot_id', 'api_key', 'context']);

function checkFields(body: WidgetTokenRequest['body']): void {
  const unknown = Object.keys(body).find((name) => !FIELDS.has(name));
  if (unknown === undefined) return;
  const pointer = `/${unknown.slice(0, 64).replaceAll('~', '~0').replaceAll('/', '~1')}`;
  throw invalidBody(pointer, 'this field is not known here');
}

async function mint(parts: WidgetTokenParts, room: string, identity: string): Promise<WidgetToken> {
  const settings = await parts.settings();
  const access = mediaAccess(settings);
  const serverUrl = publicMediaUrl(settings);
  if (access === null || serverUrl === null) {
    throw new AppError(
      'media_token_failed',
      'no media server is set up; set livekit_url, livekit_api_key and livekit_api_secret',
    );
  }
  try {
    const participantToken = await new MediaServer(access).token({
      room,
      identity,
      name: 'Website Visitor',
      ttlS: WIDGET_TOKEN_TTL_S,
      canPublish: true,
      canPublishSources: ['microphone'],
      canSubscribe: true,
      canPublishData: true,
    });
    return { server_url: serverUrl, participant_token: participantToken };
  } catch (cause) {
    throw new AppError('media_token_failed', 'the token for the media server could not be made', { cause });
  }
}

/** Every way in which no bot comes is 503 (R142). */
function notPlaced(
  parts: WidgetTokenParts,
  placement: Exclude<Placement<unknown>, { kind: 'taken' }>,
  room: string,
): AppError {
  parts.logger.warn({ room, placement }, 'a widget call found no bot');
  if (placement.kind === 'declined' && placement.code === 'outside_active_hours') {
    return new AppError('outside_active_hours', 'the bot takes no calls now');
  }
  const full = placement.kind === 'none' && (placement.why === 'full' || placement.why === 'busy');
  return new AppError(
    'no_fleet',
    full ? 'all lines are busy; try again later' : 'no bot could be brought to the call; try again later',
    { details: full ? { retryAfterSeconds: RETRY_FULL_SECONDS } : {} },
  );
}

type Visitor = NonNullable<WidgetDispatchRequest['visitor']>;

const MAX_URL_CHARS = 2_000;

/** In this order: Edge and Opera call themselves Chrome, too, and Chrome calls itself Safari. */
const FAMILIES: readonly [RegExp, string][] = [
  [/\bEdg(A|iOS)?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\b(Firefox|FxiOS)\//, 'Firefox'],
  [/\b(Chrome|CriOS|Chromium)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
];

/**
 * What the headers of a token request tell about the visitor. The browser is only named by its family: more would be
 * a fingerprint.
 */
function visitorOf(headers: Readonly<Record<string, string>>): Visitor {
  const page = headers.referer ?? headers.origin;
  const locale = /^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8}){0,3}/.exec(headers['accept-language'] ?? '')?.[0];
  const agent = headers['user-agent'] ?? '';
  const family = FAMILIES.find(([pattern]) => pattern.test(agent))?.[1];
  return {
    ...(page !== undefined && /^https?:\/\//.test(page) ? { page_url: page.slice(0, MAX_URL_CHARS) } : {}),
    ...(locale === undefined ? {} : { locale }),
    ...(family === undefined ? {} : { user_agent_family: family }),
  };
}

const accepted = Compile(RoomCallAccepted);

/** Refusals that tell of the host and not of the call: another one may do better. */
const OF_THE_HOST = new Set([
  'draining',
  'slot_died',
  'media_not_configured',
  'media_unavailable',
  'disk_full',
]);

/** Asks one fleet server to bring the bot into the visitor's room (R140). */
function askWidgetHost(
  url: string,
  body: WidgetDispatchRequest,
  coreSecret: string,
): Promise<HostAnswer<RoomCallAccepted>> {
  return askHost(url, {
    path: WIDGET_PATH,
    body,
    coreSecret,
    isAccepted: (answer): answer is RoomCallAccepted => accepted.Check(answer),
    refused(status, code) {
      if (code !== null && !OF_THE_HOST.has(code)) return { kind: 'declined', code };
      return { kind: 'refused', reason: status === 503 ? 'not_accepting' : 'unexpected' };
    },
  });
}
