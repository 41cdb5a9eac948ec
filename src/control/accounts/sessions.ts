import { createHmac } from 'node:crypto';
import { AppError } from '../../platform/app-error.ts';
import { equalsSecret } from '../../platform/constant-time.ts';
import { hashSecret, newId, newSecret } from '../../platform/secret-token.ts';
import { type Role, SESSION_COOKIE_NAMES } from '../http/authenticate.ts';
import type { Credential, Session, SessionStore } from './session-store.ts';
import type { User } from './user.ts';
import type { UserStore } from './user-store.ts';

/** Logged-in people and machines (D-57): a cookie for browsers, short tokens for machines. */
export interface Sessions {
  openCookie(user: User): Promise<CookieSession>;
  openTokens(user: User): Promise<TokenPair>;
  /** Null where the cookie is unknown, too old, idle for too long, or the user may not log in any more. */
  byCookie(cookie: string): Promise<LoggedIn | null>;
  byAccessToken(token: string): Promise<LoggedIn | null>;
  /**
   * New tokens for a refresh token, once. One that was used before has been copied by somebody: then the whole session
   * ends, for the thief and for the owner, and `onReuse` is told. Throws `unauthorized`.
   */
  refresh(token: string): Promise<{ user: User; tokens: TokenPair }>;
  close(sessionId: string): Promise<void>;
  /** After a change of credentials: the session at work goes on, all others end. */
  keepOnly(user: User, sessionId: string | null): Promise<void>;
}

export interface LoggedIn {
  user: User;
  session: Session;
}

export interface CookieSession {
  cookie: string;
  /** What `X-CSRF-Token` must carry whenever this cookie changes something. */
  csrf: string;
  session: Session;
}

export interface TokenPair {
  access_token: string;
  /** Seconds. */
  expires_in: number;
  refresh_token: string;
  refresh_expires_in: number;
  session: Session;
}

const MINUTE_MS = 60_000;
export const COOKIE_LIFE_MS = 12 * 60 * MINUTE_MS;
/** Without a request for this long a session of such a role is over; null for roles that work off a wallboard. */
export const IDLE_MS: Readonly<Record<Role, number | null>> = {
  admin: 30 * MINUTE_MS,
  supervisor: null,
  agent: null,
  analyst: null,
};
export const ACCESS_LIFE_MS = 15 * MINUTE_MS;
/** From the login: then the machine logs in again. Rotation does not prolong it. */
export const REFRESH_LIFE_MS = 30 * 24 * 60 * MINUTE_MS;
/** The last request is written down at most so often; the idle time is right to within this. */
const SEEN_EVERY_MS = MINUTE_MS;
/** Expired things that one login clears away: more than it adds. */
const PRUNED_AT_LOGIN = 100;

export interface SessionsParts {
  store: SessionStore;
  users: UserStore;
  nowMs: () => number;
  onReuse: (session: Session) => Promise<void>;
}

export function createSessions(parts: SessionsParts): Sessions {
  const { store, users, nowMs } = parts;

  async function open(user: User, kind: Session['kind'], lifeMs: number): Promise<Session> {
    const now = nowMs();
    await store.prune(now, PRUNED_AT_LOGIN);
    return {
      id: newId('ses_'),
      user_id: user.id,
      kind,
      epoch: user.credential_epoch,
      created_ms: now,
      last_seen_ms: now,
      expires_ms: now + lifeMs,
    };
  }

  /** The one place that decides whether a credential still opens anything. */
  async function check(secret: string, use: Credential['use']): Promise<LoggedIn | null> {
    const found = await store.find(hashSecret(secret));
    if (found === null || found.credential.use !== use) return null;
    const { session, credential } = found;
    const now = nowMs();
    if (credential.expires_ms <= now || session.expires_ms <= now) return null;
    const user = await users.get(session.user_id);
    if (!user || user.disabled || user.credential_epoch !== session.epoch) return null;
    return { user, session };
  }

  return {
    async openCookie(user) {
      const session = await open(user, 'cookie', COOKIE_LIFE_MS);
      const cookie = newSecret('tks_');
      await store.open(session, [credentialOf(session, cookie, 'cookie', session.expires_ms)]);
      return { cookie, csrf: csrfOf(cookie), session };
    },

    async openTokens(user) {
      const session = await open(user, 'token', REFRESH_LIFE_MS);
      const pair = newPair(session, nowMs());
      await store.open(session, pair.credentials);
      return pair.tokens;
    },

    async byCookie(cookie) {
      const found = await check(cookie, 'cookie');
      if (found === null) return null;
      const now = nowMs();
      const idleMs = IDLE_MS[found.user.role];
      if (idleMs !== null && now - found.session.last_seen_ms >= idleMs) {
        await store.close(found.session.id);
        return null;
      }
      if (now - found.session.last_seen_ms >= SEEN_EVERY_MS) {
        await store.update(found.session.id, (session) => ({ ...session, last_seen_ms: now }));
      }
      return found;
    },

    byAccessToken: (token) => check(token, 'access'),

    async refresh(token) {
      const found = await check(token, 'refresh');
      if (found === null) throw refused();
      const { user, session } = found;
      const pair = newPair(session, nowMs());
      const outcome = await store.rotate(hashSecret(token), pair.credentials);
      if (outcome === 'rotated') return { user, tokens: pair.tokens };
      if (outcome === 'used_before') {
        await store.close(session.id);
        await parts.onReuse(session);
      }
      throw refused();
    },

    close: (sessionId) => store.close(sessionId),

    async keepOnly(user, sessionId) {
      if (sessionId !== null) {
        await store.update(sessionId, (session) => ({ ...session, epoch: user.credential_epoch }));
      }
      await store.closeAllOf(user.id, sessionId ?? undefined);
    },
  };
}

/** Bound to the session and not the secret itself: a page may know it, and it opens nothing without the cookie. */
export function csrfOf(cookie: string): string {
  return createHmac('sha256', cookie).update('csrf').digest('base64url');
}

export function isCsrfToken(given: string | undefined, cookie: string): boolean {
  return equalsSecret(given, csrfOf(cookie));
}

function newPair(session: Session, now: number): { tokens: TokenPair; credentials: Credential[] } {
  const access = newSecret('tka_');
  const refresh = newSecret('tkr_');
  const accessEndsMs = Math.min(now + ACCESS_LIFE_MS, session.expires_ms);
  return {
    tokens: {
      access_token: access,
      expires_in: Math.floor((accessEndsMs - now) / 1000),
      refresh_token: refresh,
      refresh_expires_in: Math.floor((session.expires_ms - now) / 1000),
      session,
    },
    credentials: [
      credentialOf(session, access, 'access', accessEndsMs),
      credentialOf(session, refresh, 'refresh', session.expires_ms),
    ],
  };
}

function credentialOf(
  session: Session,
  secret: string,
  use: Credential['use'],
  expiresMs: number,
): Credential {
  return { hash: hashSecret(secret), session_id: session.id, use, expires_ms: expiresMs, used: false };
}

function refused(): AppError {
  return new AppError(
    'unauthorized',
    'the refresh token is wrong, was used before or has expired; log in again',
  );
}

const [SECURE_NAME, PLAIN_NAME] = SESSION_COOKIE_NAMES;

/** `Set-Cookie` of a login. The `__Host-` name is bound to https, this host and the path `/` by the browser itself. */
export function setCookie(value: string, https: boolean): string {
  return `${nameAndFlags(value, https)}; Max-Age=${COOKIE_LIFE_MS / 1000}`;
}

/** `Set-Cookie` of a logout. */
export function clearedCookie(https: boolean): string {
  return `${nameAndFlags('', https)}; Max-Age=0`;
}

function nameAndFlags(value: string, https: boolean): string {
  const name = https ? SECURE_NAME : PLAIN_NAME;
  return `${name}=${value}; Path=/; HttpOnly; SameSite=Lax${https ? '; Secure' : ''}`;
}
