import { AppError } from '../../platform/app-error.ts';
import { newId } from '../../platform/secret-token.ts';
import type { AuditCause } from '../audit/audit-log.ts';
import type { Role } from '../http/authenticate.ts';
import { invalidBody } from '../http/validation-issues.ts';
import { deadToken, type OneTimeTokens } from './one-time-tokens.ts';
import { type Passwords, passwordFault } from './passwords.ts';
import type { Sessions } from './sessions.ts';
import { normalEmail, type User } from './user.ts';
import type { UserStore } from './user-store.ts';

export interface ManageUsersParts {
  users: UserStore;
  sessions: Pick<Sessions, 'keepOnly'>;
  tokens: OneTimeTokens;
  passwords: Passwords;
  nowMs: () => number;
}

export interface NewUser {
  email: string;
  name: string;
  role: Role;
  skills?: string[];
  /** Left out, the person chooses one through the link. */
  password?: string;
}

export interface UserChange {
  email?: string;
  name?: string;
  role?: Role;
  skills?: string[];
  disabled?: boolean;
}

/** A user, and where one has to choose a password, the token of the link for that. */
export interface UserAndToken {
  user: User;
  passwordToken: string | null;
}

/** Throws `conflict` where the address is taken and `validation_error` for a password that cannot be taken. */
export async function createUser(
  parts: ManageUsersParts,
  wanted: NewUser,
  cause: AuditCause,
): Promise<UserAndToken> {
  const user = await newUser(parts, wanted);
  await parts.users.insert(user, cause);
  const passwordToken = wanted.password === undefined ? await parts.tokens.mint(`password:${user.id}`) : null;
  return { user, passwordToken };
}

/**
 * The first admin, through the token that the start printed. Throws `unauthorized` for a wrong token, `conflict` once
 * there is an admin: of two at the same moment one wins.
 */
export async function createFirstAdmin(
  parts: ManageUsersParts,
  token: string,
  wanted: Required<Pick<NewUser, 'email' | 'name' | 'password'>>,
  cause: AuditCause,
): Promise<User> {
  if ((await parts.tokens.peek(token)) !== 'setup') throw deadToken();
  const user = await newUser(parts, { ...wanted, role: 'admin' });
  await parts.users.insert(user, cause, { onlyAsFirstAdmin: true });
  await parts.tokens.revoke('setup');
  return user;
}

/** A token for the first admin, or null where there is one. An earlier token ends. */
export async function mintSetupToken(
  parts: Pick<ManageUsersParts, 'users' | 'tokens'>,
): Promise<string | null> {
  return (await parts.users.hasActiveAdmin()) ? null : parts.tokens.mint('setup');
}

/** `check` sees the stored user in the same write and may throw, for `If-Match`. Disabling ends all sessions. */
export async function changeUser(
  parts: ManageUsersParts,
  id: string,
  change: UserChange,
  check: (user: User) => void,
  cause: AuditCause,
): Promise<User> {
  const user = await parts.users.update(
    id,
    (stored) => {
      check(stored);
      const disabling = change.disabled === true && !stored.disabled;
      return {
        ...stored,
        ...change,
        ...(change.email === undefined ? {} : { email: normalEmail(change.email) }),
        credential_epoch: stored.credential_epoch + (disabling ? 1 : 0),
        updated_at: isoAt(parts),
      };
    },
    cause,
  );
  if (user.disabled) {
    await parts.sessions.keepOnly(user, null);
    await parts.tokens.revoke(`password:${id}`);
  }
  return user;
}

export async function removeUser(
  parts: ManageUsersParts,
  id: string,
  check: (user: User) => void,
  cause: AuditCause,
): Promise<void> {
  let removed: User | null = null;
  await parts.users.remove(
    id,
    (stored) => {
      check(stored);
      removed = stored;
    },
    cause,
  );
  if (removed !== null) await parts.sessions.keepOnly(removed, null);
  await parts.tokens.revoke(`password:${id}`);
}

/** The old password and the second factor stop at once, all sessions end, and the token leads to a new password. */
export async function resetUser(
  parts: ManageUsersParts,
  id: string,
  cause: AuditCause,
): Promise<{ user: User; passwordToken: string }> {
  const user = await parts.users.update(
    id,
    (stored) => {
      if (stored.disabled) {
        throw new AppError('conflict', 'this user is disabled; enable the account before you reset it');
      }
      return {
        ...stored,
        password_reset_pending: stored.password_hash !== null,
        totp: null,
        totp_pending: null,
        credential_epoch: stored.credential_epoch + 1,
        updated_at: isoAt(parts),
      };
    },
    cause,
  );
  await parts.sessions.keepOnly(user, null);
  return { user, passwordToken: await parts.tokens.mint(`password:${id}`) };
}

/** Takes the token of an invitation or a reset. Throws `unauthorized` for a dead one. */
export async function choosePassword(
  parts: ManageUsersParts,
  token: string,
  password: string,
  cause: (user: User) => AuditCause,
): Promise<User> {
  const purpose = await parts.tokens.peek(token);
  if (!purpose?.startsWith('password:')) throw deadToken();
  const user = await parts.users.get(purpose.slice('password:'.length));
  if (!user || user.disabled) throw deadToken();
  refuseBadPassword(password, user.email, '/password');
  const hash = await parts.passwords.hash(password);
  await parts.tokens.take(token);
  return setPassword(parts, user.id, hash, null, cause(user));
}

/** `oldHash` is the one that was checked: where it stands no longer, somebody else has changed it meanwhile. */
export async function changePassword(
  parts: ManageUsersParts,
  user: User,
  password: string,
  sessionId: string | null,
  cause: AuditCause,
): Promise<User> {
  refuseBadPassword(password, user.email, '/new_password');
  const hash = await parts.passwords.hash(password);
  return setPassword(parts, user.id, hash, { oldHash: user.password_hash, sessionId }, cause);
}

async function setPassword(
  parts: ManageUsersParts,
  id: string,
  hash: string,
  kept: { oldHash: string | null; sessionId: string | null } | null,
  cause: AuditCause,
): Promise<User> {
  const user = await parts.users.update(
    id,
    (stored) => {
      if (kept !== null && (stored.password_hash !== kept.oldHash || stored.password_reset_pending)) {
        throw new AppError('conflict', 'the password was changed meanwhile; log in again');
      }
      return {
        ...stored,
        password_hash: hash,
        password_reset_pending: false,
        credential_epoch: stored.credential_epoch + 1,
        updated_at: isoAt(parts),
      };
    },
    cause,
  );
  await parts.sessions.keepOnly(user, kept?.sessionId ?? null);
  return user;
}

async function newUser(parts: ManageUsersParts, wanted: NewUser): Promise<User> {
  const email = normalEmail(wanted.email);
  if (wanted.password !== undefined) refuseBadPassword(wanted.password, email, '/password');
  const at = isoAt(parts);
  return {
    id: newId('usr_'),
    email,
    name: wanted.name.trim(),
    role: wanted.role,
    skills: wanted.skills ?? [],
    disabled: false,
    password_hash: wanted.password === undefined ? null : await parts.passwords.hash(wanted.password),
    password_reset_pending: false,
    credential_epoch: 1,
    totp: null,
    totp_pending: null,
    version: 1,
    created_at: at,
    updated_at: at,
    last_login_at: null,
  };
}

function refuseBadPassword(password: string, email: string, pointer: string): void {
  const fault = passwordFault(password, email);
  if (fault !== null) throw invalidBody(pointer, fault);
}

function isoAt(parts: Pick<ManageUsersParts, 'nowMs'>): string {
  return new Date(parts.nowMs()).toISOString();
}
