import { randomBytes } from 'node:crypto';
import { AppError } from '../../platform/app-error.ts';
import { equalsSecret } from '../../platform/constant-time.ts';
import { hashSecret } from '../../platform/secret-token.ts';
import type { AuditCause } from '../audit/audit-log.ts';
import type { SecretBox } from '../settings/secret-box.ts';
import { acceptedStep, newTotpSecret } from './totp.ts';
import type { User } from './user.ts';
import type { UserStore } from './user-store.ts';

export interface SecondFactorParts {
  users: UserStore;
  /** Seals the secrets of the authenticator apps; they cannot be kept as hashes. */
  secretBox: SecretBox;
  nowMs: () => number;
}

const RECOVERY_CODES = 10;
/** 80 bits each: beyond guessing through a throttled login, so that a plain hash keeps them. */
const RECOVERY_BYTES = 10;

/** A new secret to put into the authenticator app. It asks for nothing until it was confirmed. Throws `conflict`. */
export async function enrolSecondFactor(parts: SecondFactorParts, userId: string): Promise<string> {
  const secret = newTotpSecret();
  await parts.users.update(
    userId,
    (user) => {
      if (user.totp !== null) {
        throw new AppError(
          'conflict',
          'there is a second factor already; disable it before you enrol another',
        );
      }
      return { ...user, totp_pending: { secret: parts.secretBox.seal(secret), created_at: isoAt(parts) } };
    },
    null,
  );
  return secret;
}

/**
 * Turns the enrolled secret on with a first code of it, and gives out the recovery codes, once. Throws `conflict` where
 * nothing was enrolled and `validation_error` for a wrong code.
 */
export async function confirmSecondFactor(
  parts: SecondFactorParts,
  userId: string,
  code: string,
  cause: AuditCause,
): Promise<{ user: User; recoveryCodes: string[] }> {
  const recoveryCodes = Array.from({ length: RECOVERY_CODES }, newRecoveryCode);
  const user = await parts.users.update(
    userId,
    (stored) => {
      const pending = stored.totp_pending;
      if (pending === null)
        throw new AppError('conflict', 'nothing is enrolled; enrol a second factor first');
      const step = acceptedStep(parts.secretBox.open(pending.secret), plain(code), parts.nowMs(), 0);
      if (step === null) {
        throw new AppError('validation_error', 'the code is not right; check the clock of the telephone');
      }
      return {
        ...stored,
        totp_pending: null,
        totp: {
          secret: pending.secret,
          last_step: step,
          recovery_hashes: recoveryCodes.map((recovery) => hashSecret(plain(recovery))),
          confirmed_at: isoAt(parts),
        },
        credential_epoch: stored.credential_epoch + 1,
      };
    },
    cause,
  );
  return { user, recoveryCodes };
}

/** Throws `conflict` where there is none. */
export function disableSecondFactor(
  parts: Pick<SecondFactorParts, 'users'>,
  userId: string,
  cause: AuditCause,
): Promise<User> {
  return parts.users.update(
    userId,
    (stored) => {
      if (stored.totp === null && stored.totp_pending === null) {
        throw new AppError('conflict', 'this account has no second factor');
      }
      return { ...stored, totp: null, totp_pending: null, credential_epoch: stored.credential_epoch + 1 };
    },
    cause,
  );
}

/**
 * Whether `code` opens the account now. It is used up in the same write: a code of the app is accepted once (RFC 6238
 * section 5.2), and so is a recovery code, also when two requests bring it at the same moment.
 */
export async function useSecondFactor(
  parts: SecondFactorParts,
  userId: string,
  code: string,
): Promise<boolean> {
  let accepted = false;
  await parts.users.update(
    userId,
    (user) => {
      accepted = false;
      if (user.totp === null) return user;
      const entered = plain(code);
      const step = acceptedStep(
        parts.secretBox.open(user.totp.secret),
        entered,
        parts.nowMs(),
        user.totp.last_step,
      );
      if (step !== null) {
        accepted = true;
        return { ...user, totp: { ...user.totp, last_step: step } };
      }
      const hash = hashSecret(entered);
      const left = user.totp.recovery_hashes.filter((known) => !equalsSecret(hash, known));
      accepted = left.length < user.totp.recovery_hashes.length;
      return accepted ? { ...user, totp: { ...user.totp, recovery_hashes: left } } : user;
    },
    null,
  );
  return accepted;
}

/** `3f9a1-c04be-...`: people type these from paper. */
function newRecoveryCode(): string {
  return (randomBytes(RECOVERY_BYTES).toString('hex').match(/.{5}/g) ?? []).join('-');
}

function plain(code: string): string {
  return code.replace(/[\s-]/g, '').toLowerCase();
}

function isoAt(parts: SecondFactorParts): string {
  return new Date(parts.nowMs()).toISOString();
}
