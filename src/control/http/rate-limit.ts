import { AppError } from '../../platform/app-error.ts';

/** Requests a minute per credential where a route says nothing else (D-29). */
export const DEFAULT_PER_MINUTE = 600;
const WINDOW_MS = 60_000;
/** Credentials counted at once. At the limit the oldest windows go; who floods with new names gains one window each. */
const MAX_COUNTED = 20_000;

interface Window {
  startedAtMs: number;
  used: number;
}

/** Counts requests in windows of a minute, in memory: a restart forgives. */
export class RateLimiter {
  private readonly nowMs: () => number;
  private readonly perMinute: number;
  private readonly windows = new Map<string, Window>();

  constructor(nowMs: () => number, perMinute: number = DEFAULT_PER_MINUTE) {
    this.nowMs = nowMs;
    this.perMinute = perMinute;
  }

  /**
   * Takes one request of `who` from the quota of the route, `own`, or the default, and returns the headers that tell
   * (an own quota is at most the default unless it may go `beyondDefault`)
   * what is left. Throws `rate_limited` with the time to wait, and the same headers, when nothing is
   * (draft-ietf-httpapi-ratelimit-headers).
   */
  take(who: string, policy: string, own?: number, beyondDefault = false): Record<string, string> {
    const most = beyondDefault ? Number.POSITIVE_INFINITY : this.perMinute;
    const perMinute = Math.min(own ?? this.perMinute, most);
    const nowMs = this.nowMs();
    const key = `${policy} ${who}`;
    let window = this.windows.get(key);
    if (!window || nowMs - window.startedAtMs >= WINDOW_MS) {
      this.windows.delete(key);
      window = { startedAtMs: nowMs, used: 0 };
      this.windows.set(key, window);
      this.forgetOldest();
    }
    const secondsLeft = Math.max(1, Math.ceil((window.startedAtMs + WINDOW_MS - nowMs) / 1_000));
    window.used++;
    const headers = {
      'ratelimit-policy': `"${policy}";q=${perMinute};w=60`,
      ratelimit: `"${policy}";r=${Math.max(0, perMinute - window.used)};t=${secondsLeft}`,
    };
    if (window.used <= perMinute) return headers;
    throw new AppError(
      'rate_limited',
      `these credentials may send ${perMinute} requests a minute here; come back in ${secondsLeft} s`,
      {
        details: {
          retryAfterSeconds: secondsLeft,
          headers,
          members: { 'violated-policies': [{ name: policy, quota: perMinute, window_seconds: 60 }] },
        },
      },
    );
  }

  /** The map is in the order of the windows' beginnings. */
  private forgetOldest(): void {
    for (const key of this.windows.keys()) {
      if (this.windows.size <= MAX_COUNTED) return;
      this.windows.delete(key);
    }
  }
}
