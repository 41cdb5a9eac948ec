import type { MediaServerAccess, MediaSetup } from '../../contracts/rooms.ts';
import { describeError } from '../../platform/app-error.ts';
import { within } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logger.ts';
import type { MediaServer } from '../../platform/media-server.ts';

/** What a host knows of its media server is never older than this. */
const LOOK_EVERY_MS = 2_000;
/** The control plane answers from its cache; where the store is slow, what was known last has to do. */
const ANSWER_WITHIN_MS = 1_000;

export interface MediaSettings {
  /** As of the last look, at most {@link LOOK_EVERY_MS} ago. */
  current(): MediaSetup | null;
  /** As of now. */
  fresh(): Promise<MediaSetup | null>;
  /** The media server of a set-up; the same object for as long as nothing changed. */
  server(access: MediaServerAccess): Promise<MediaServer>;
  stop(): void;
}

/**
 * How this host reaches the media server: from the control plane of the same process, or for a worker from its
 * environment, where it cannot change. The client library is loaded when somebody needs it first.
 */
export async function startMediaSettings(options: {
  /** Null in a worker. */
  ask: (() => Promise<MediaSetup | null>) | null;
  seeds: Readonly<Record<string, string>>;
  logger: Logger;
}): Promise<MediaSettings> {
  const { ask, logger } = options;
  let known = ask ? null : mediaSetupOf(options.seeds);
  if (!ask && !known && options.seeds.livekit_url) {
    logger.warn(
      'LIVEKIT_URL is set without LIVEKIT_API_KEY and LIVEKIT_API_SECRET, so there are no calls through rooms',
    );
  }
  let client: { access: MediaServerAccess; server: MediaServer } | null = null;
  let failing = false;

  async function look(): Promise<MediaSetup | null> {
    if (!ask) return known;
    try {
      known = await within(ask(), ANSWER_WITHIN_MS, known);
      failing = false;
    } catch (error) {
      if (!failing) logger.warn({ err: describeError(error) }, 'the media server’s settings cannot be read');
      failing = true;
    }
    return known;
  }

  await look();
  const timer = ask ? setInterval(() => void look(), LOOK_EVERY_MS) : null;
  return {
    current: () => known,
    fresh: look,
    async server(access) {
      if (client && sameAccess(client.access, access)) return client.server;
      const { MediaServer } = await import('../../platform/media-server.ts');
      const server = new MediaServer(access);
      client = { access, server };
      return server;
    },
    stop() {
      if (timer) clearInterval(timer);
    },
  };
}

/** The set-up that the seeds of the environment describe; null where the server or its key is missing. */
export function mediaSetupOf(seeds: Readonly<Record<string, string>>): MediaSetup | null {
  const { livekit_url: url, livekit_api_key: apiKey, livekit_api_secret: apiSecret } = seeds;
  if (!url || !apiKey || !apiSecret) return null;
  const trunkId = seeds.sip_outbound_trunk_id;
  return {
    access: { url, apiKey, apiSecret },
    dialling: trunkId ? { trunkId, defaultFrom: seeds.sip_default_from ?? '' } : null,
  };
}

function sameAccess(one: MediaServerAccess, other: MediaServerAccess): boolean {
  return one.url === other.url && one.apiKey === other.apiKey && one.apiSecret === other.apiSecret;
}
