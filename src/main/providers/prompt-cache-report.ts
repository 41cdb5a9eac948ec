import { API_PREFIX, CONFIG_PATH, CORE_SECRET_HEADER } from '../../contracts/http-names.ts';
import type { SharedCacheEntry } from '../../contracts/slot-messages.ts';
import { describeError } from '../../platform/app-error.ts';
import { sleepMs } from '../../platform/clock.ts';
import { httpCall } from '../../platform/http-client.ts';
import type { Logger } from '../../platform/logger.ts';
import { mayReceiveSecret } from '../../platform/origins.ts';
import type { PlaneAddress } from './prompt-cache-broker.ts';

/** Pauses before the tries of one report; after the last it is dropped, and the next call tells again. */
const TRY_AFTER_MS = [0, 200, 1_000, 5_000];
const TIMEOUT_MS = 3_000;
const MAX_ANSWER_BYTES = 65_536;
/** Bots whose report is on its way or waits; more are dropped, the entry then lives on this host alone. */
const MAX_WAITING = 200;

export interface PlaneReport {
  tell(plane: PlaneAddress, entry: SharedCacheEntry | null): void;
  /** Called off at once: the next call tells the same again. */
  stop(): Promise<void>;
}

/**
 * Tells the control plane which cache entry holds the live prompt of a bot, so that every later config of the fleet
 * carries it (R66). It goes over HTTP, as configs and results do, to the plane that
 * serves the configs; one that has no such route is asked once and left alone from then on. Of several changes for one
 * bot the newest is told.
 */
export function createPlaneReport(options: {
  configUrl: string;
  coreSecret: string;
  ownOrigins: readonly string[];
  logger: Logger;
}): PlaneReport {
  const base = botsUrl(options.configUrl);
  const newest = new Map<string, { plane: PlaneAddress; entry: SharedCacheEntry | null }>();
  const running = new Map<string, Promise<void>>();
  const stopping = new AbortController();
  let hasRoute = base !== null;

  async function deliver(botId: string): Promise<void> {
    for (;;) {
      const next = newest.get(botId);
      newest.delete(botId);
      if (!next || !hasRoute || stopping.signal.aborted) {
        // In the same breath as the look: whoever tells next starts anew.
        running.delete(botId);
        return;
      }
      await tryToTell(botId, next.plane, next.entry);
    }
  }

  async function tryToTell(
    botId: string,
    plane: PlaneAddress,
    entry: SharedCacheEntry | null,
  ): Promise<void> {
    const url = `${base}/${encodeURIComponent(botId)}/live-prompt-cache`;
    for (const pauseMs of TRY_AFTER_MS) {
      try {
        await sleepMs(pauseMs, stopping.signal);
      } catch {
        return;
      }
      // What became of the bot meanwhile is the better news.
      if (newest.has(botId)) return;
      const status = await put(url, plane, entry);
      if (status >= 200 && status < 300) return;
      if (status === 404 || status === 405 || status === 501) {
        // Our own plane says 404 to a bot that is gone; a foreign one has no such route at all.
        if (entry !== null) hasRoute = status === 404 && options.configUrl.includes(CONFIG_PATH);
        return;
      }
      if (status >= 400 && status < 500 && status !== 429 && status !== 408) {
        options.logger.warn({ bot_id: botId, status }, 'the control plane refuses the prompt cache entry');
        return;
      }
    }
    options.logger.warn({ bot_id: botId }, 'the control plane could not be told of a prompt cache entry');
  }

  /** The status, 0 where there was no answer. */
  async function put(url: string, plane: PlaneAddress, entry: SharedCacheEntry | null): Promise<number> {
    const mayKnow = options.coreSecret !== '' && mayReceiveSecret(url, options.ownOrigins);
    try {
      const answer = await httpCall(url, {
        method: 'PUT',
        headers: {
          'content-type': 'application/json',
          ...(mayKnow ? { [CORE_SECRET_HEADER]: options.coreSecret } : {}),
        },
        body: JSON.stringify({
          static_version: plane.staticVersion,
          cache_name: entry?.name ?? null,
          ...(entry ? { expires_at: new Date(entry.expiresAtMs).toISOString() } : {}),
        }),
        timeoutMs: TIMEOUT_MS,
        maxBytes: MAX_ANSWER_BYTES,
        signal: stopping.signal,
      });
      return answer.status;
    } catch (error) {
      options.logger.debug({ err: describeError(error) }, 'no answer to a prompt cache report');
      return 0;
    }
  }

  return {
    tell(plane, entry) {
      if (!hasRoute || stopping.signal.aborted) return;
      const { botId } = plane;
      if (!newest.has(botId) && newest.size >= MAX_WAITING) return;
      newest.set(botId, { plane, entry });
      if (running.has(botId)) return;
      running.set(botId, deliver(botId));
    },
    async stop() {
      stopping.abort();
      await Promise.all(running.values());
    },
  };
}

/** `.../config/{bot_id}` and `.../bots/{bot_id}` stand side by side; null where the config URL has another form. */
function botsUrl(configUrl: string): string | null {
  const base = configUrl.replace(/\/+$/, '').replace(/\/\{bot_id\}$/, '');
  if (base.endsWith(CONFIG_PATH)) return `${base.slice(0, -CONFIG_PATH.length)}${API_PREFIX}/bots`;
  return base.endsWith('/config') ? `${base.slice(0, -'/config'.length)}/bots` : null;
}
