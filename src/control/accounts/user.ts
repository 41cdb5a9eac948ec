import { type Static, Type } from 'typebox';
import { AppError } from '../../platform/app-error.ts';
import type { Role } from '../http/authenticate.ts';

/** A person who may log in. Never leaves the control plane as it is: {@link userView} is what others see. */
export interface User {
  id: string;
  /** Lower case; the name to log in with. */
  email: string;
  name: string;
  role: Role;
  skills: string[];
  disabled: boolean;
  /** Argon2id in PHC form; null until the invitation was taken up. */
  password_hash: string | null;
  /** An admin has asked for a new password: the old one opens nothing any more. */
  password_reset_pending: boolean;
  /** Raised by whatever must end every session: password, reset, second factor, disabling. */
  credential_epoch: number;
  totp: Totp | null;
  /** Enrolled and not confirmed yet: asks for nothing at login. */
  totp_pending: { secret: string; created_at: string } | null;
  /** Counts the edits, for `ETag`. Logging in is no edit. */
  version: number;
  created_at: string;
  updated_at: string;
  last_login_at: string | null;
}

export interface Totp {
  /** What the authenticator app holds, sealed. */
  secret: string;
  /** Time step of the newest code that was accepted: no code is accepted twice (RFC 6238 section 5.2). */
  last_step: number;
  recovery_hashes: string[];
  confirmed_at: string;
}

export const ROLES = ['admin', 'supervisor', 'agent', 'analyst'] as const satisfies readonly Role[];

export const RoleSchema = Type.Union(
  [Type.Literal('admin'), Type.Literal('supervisor'), Type.Literal('agent'), Type.Literal('analyst')],
  {
    description:
      'admin: everything; supervisor: desk, campaigns, records, recordings; agent: own desk and own records; analyst: reads records and metrics, numbers masked',
  },
);
export const Email = Type.String({
  minLength: 3,
  maxLength: 254,
  pattern: '^[^\\s@<>"]+@[^\\s@<>"]+$',
  description: 'The name to log in with; upper and lower case are the same',
});
export const PersonName = Type.String({ minLength: 1, maxLength: 120, pattern: '\\S' });
export const Skills = Type.Array(Type.String({ minLength: 1, maxLength: 64 }), { maxItems: 50 });

export const UserView = Type.Object(
  {
    id: Type.String(),
    email: Type.String(),
    name: Type.String(),
    role: RoleSchema,
    skills: Type.Array(Type.String()),
    disabled: Type.Boolean(),
    /** `invited`: has no password yet. `reset`: must choose a new one before the next login. */
    state: Type.Union([
      Type.Literal('active'),
      Type.Literal('invited'),
      Type.Literal('reset'),
      Type.Literal('disabled'),
    ]),
    totp_enabled: Type.Boolean(),
    version: Type.Integer(),
    created_at: Type.String(),
    updated_at: Type.String(),
    last_login_at: Type.Union([Type.String(), Type.Null()]),
  },
  { title: 'User' },
);
export type UserView = Static<typeof UserView>;

export function userView(user: User): UserView {
  const { id, email, name, role, skills, disabled, version, created_at, updated_at, last_login_at } = user;
  return {
    id,
    email,
    name,
    role,
    skills,
    disabled,
    state: disabled
      ? 'disabled'
      : user.password_hash === null
        ? 'invited'
        : user.password_reset_pending
          ? 'reset'
          : 'active',
    totp_enabled: user.totp !== null,
    version,
    created_at,
    updated_at,
    last_login_at,
  };
}

/** Who can still let everybody else in. There is always one, once there has been one. */
export function isActiveAdmin(user: User): boolean {
  return user.role === 'admin' && !user.disabled && user.password_hash !== null;
}

/** The one form of an address that is stored and searched for. */
export function normalEmail(email: string): string {
  return email.trim().normalize('NFC').toLowerCase();
}

export function lastAdmin(): AppError {
  return new AppError(
    'conflict',
    'this is the last active admin; make somebody else an admin first, or nobody could manage users',
  );
}
