import { hash, verify } from '@node-rs/argon2';
import { AppError } from '../../platform/app-error.ts';

/** OWASP's second Argon2id setting: 19 MiB, two passes, one lane; some 30 ms of one core. */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;
/** At once, so that logins never take all threads of libuv's pool, which file access needs, nor more than 40 MB. */
const MAX_AT_ONCE = 2;
/** Beyond it callers are told to come back: about one second of work stands before them. */
const MAX_WAITING = 32;

export const MIN_PASSWORD_CHARS = 12;
/** Argon2 takes any length; nobody types more, and a megabyte would cost time. */
export const MAX_PASSWORD_CHARS = 256;

/** Hashes and checks passwords off the main thread, a bounded number at a time. */
export interface Passwords {
  /** PHC form, with its own salt. Throws `at_capacity` when too many wait. */
  hash(password: string): Promise<string>;
  /** Whether it is the password. Takes the same time without a hash to compare with, and then it is wrong. */
  matches(password: string, stored: string | null): Promise<boolean>;
}

export function createPasswords(): Passwords {
  const waiting: (() => void)[] = [];
  let atWork = 0;
  let decoy: Promise<string> | null = null;

  async function bounded<T>(work: () => Promise<T>): Promise<T> {
    if (atWork >= MAX_AT_ONCE) {
      if (waiting.length >= MAX_WAITING) {
        throw new AppError(
          'at_capacity',
          'too many people log in at this moment; try again in some seconds',
          {
            details: { retryAfterSeconds: 5 },
          },
        );
      }
      // The one who leaves hands its place over, so `atWork` stays as it is.
      await new Promise<void>((resolve) => waiting.push(resolve));
    } else {
      atWork++;
    }
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else atWork--;
    }
  }

  return {
    hash: (password) => bounded(() => hash(password.normalize('NFC'), COST)),
    matches: (password, stored) =>
      bounded(async () => {
        decoy ??= hash('nobody has this password', COST);
        const right = await verify(stored ?? (await decoy), password.normalize('NFC'));
        return right && stored !== null;
      }),
  };
}

/**
 * Why this password cannot be taken, or null. Length is what counts (NIST SP 800-63B section 5.1.1); no rules about
 * kinds of characters.
 */
export function passwordFault(password: string, email: string): string | null {
  const characters = [...password.normalize('NFC')];
  if (characters.length < MIN_PASSWORD_CHARS)
    return `a password has at least ${MIN_PASSWORD_CHARS} characters`;
  if (characters.length > MAX_PASSWORD_CHARS)
    return `a password has at most ${MAX_PASSWORD_CHARS} characters`;
  if (new Set(characters).size < 5) return 'a password has at least five different characters';
  const lower = password.toLowerCase();
  const [local = ''] = email.split('@');
  if (lower === email || (local.length > 3 && lower.replace(/\d+$/, '') === local)) {
    return 'a password is not the email address';
  }
  return null;
}
