import { AppError } from '../../platform/app-error.ts';
import type { Logger } from '../../platform/logger.ts';
import { causeOf } from '../audit/audit-entry.ts';
import type { AuditLog } from '../audit/audit-log.ts';
import type { Actor } from '../http/authenticate.ts';
import type { LoginThrottle } from './login-throttle.ts';
import type { Passwords } from './passwords.ts';
import { type SecondFactorParts, useSecondFactor } from './second-factor.ts';
import { normalEmail, type User } from './user.ts';

/** Where a request comes from, for the throttle and the audit log. */
export interface Origin {
  requestId: string | null;
  ip: string;
}

export interface LoginRequest {
  email: string;
  password: string;
  /** Six digits of the authenticator, or a recovery code. */
  code?: string;
}

export interface LoginParts extends SecondFactorParts {
  passwords: Passwords;
  throttle: LoginThrottle;
  audit: AuditLog;
  logger: Logger;
}

/**
 * Who logs in with this. Throws `unauthorized` with one sentence for everything that may be wrong, so that it does not
 * tell which addresses exist; `totp_required` when only the code is missing; `rate_limited` for guessing. The time is
 * that of one password check, whether the user exists or not.
 */
export async function checkLogin(parts: LoginParts, request: LoginRequest, origin: Origin): Promise<User> {
  const email = normalEmail(request.email);
  const attempt = parts.throttle.begin(email, origin.ip);
  const user = await parts.users.byEmail(email);
  const usable = user !== null && !user.disabled && !user.password_reset_pending;
  const right = await parts.passwords.matches(request.password, usable ? user.password_hash : null);
  if (!right || !usable) {
    await tellFailure(parts, user, origin, 'password');
    throw refused();
  }
  if (user.totp !== null) {
    if (request.code === undefined) {
      // No success: whoever has the password could wipe out wrong codes with it.
      attempt.withdraw();
      throw new AppError('totp_required', 'this account has a second factor; send its code as `code`');
    }
    if (!(await useSecondFactor(parts, user.id, request.code))) {
      await tellFailure(parts, user, origin, 'code');
      throw refused();
    }
  }
  attempt.succeeded();
  const at = new Date(parts.nowMs()).toISOString();
  const logged = await parts.users.update(
    user.id,
    (stored) => {
      // What was checked above is not what stands any more.
      if (stored.credential_epoch !== user.credential_epoch || stored.disabled) throw refused();
      return { ...stored, last_login_at: at };
    },
    null,
  );
  await parts.audit.record({
    ...causeOf(actorOf(user, null), 'auth.login', origin),
    target: `user:${user.id}`,
  });
  return logged;
}

/**
 * Asks the one who is logged in for the password again, before something that a stolen session must not do. Throws
 * `forbidden` where it is wrong; guessing is held down as at the login.
 */
export async function confirmPassword(
  parts: LoginParts,
  user: User,
  password: string,
  origin: Origin,
): Promise<void> {
  const attempt = parts.throttle.begin(user.email, origin.ip);
  if (!(await parts.passwords.matches(password, user.password_hash))) {
    await tellFailure(parts, user, origin, 'password');
    throw new AppError('forbidden', 'the current password is wrong');
  }
  attempt.succeeded();
}

/** Known accounts only, and the throttle bounds them: guessing at random names must not fill the audit log. */
async function tellFailure(
  parts: LoginParts,
  user: User | null,
  origin: Origin,
  wrong: 'password' | 'code',
): Promise<void> {
  parts.logger.warn(
    { request_id: origin.requestId, ip: origin.ip, user_id: user?.id, wrong },
    'login refused',
  );
  if (user === null) return;
  await parts.audit.record({
    ...causeOf({ type: 'public' }, 'auth.login_failed', origin),
    target: `user:${user.id}`,
    after: { wrong },
  });
}

export function actorOf(user: User, sessionId: string | null): Extract<Actor, { type: 'user' }> {
  return { type: 'user', id: user.id, name: user.name, role: user.role, sessionId };
}

function refused(): AppError {
  return new AppError('unauthorized', 'email, password or code is wrong');
}
