import { AppError } from '../../platform/app-error.ts';

/** Holds guessing down, by account and by address. In memory: a restart forgives, and guessing cannot fill the disk. */
export interface LoginThrottle {
  /**
   * Counts an attempt before it is made, so that a thousand at once are not all made before the first has failed.
   * Throws `rate_limited` with the time to wait. The account is named by its address, whether it exists or not.
   */
  begin(account: string, remoteAddress: string): Attempt;
}

export interface Attempt {
  /** It was no guess: the account starts afresh and the address is given this attempt back. */
  succeeded(): void;
  /** It was neither right nor wrong: both are given it back, and what was wrong before stays counted. */
  withdraw(): void;
}

/** Ten; each further round of ten costs twice the wait of the one before (D-57). */
const ATTEMPTS = 10;
const FIRST_BLOCK_MS = 60_000;
const LONGEST_BLOCK_MS = 15 * 60_000;
/**
 * An address may be a whole office: its attempts are counted by the minute. Those of an account are counted on until
 * somebody gets in or it was quiet for an hour, or nine a minute would never be held down.
 */
const ADDRESS_WINDOW_MS = 60_000;
const FORGET_MS = 60 * 60_000;
/** Keys that are remembered; the one that was quiet longest makes room. */
const MAX_KEYS = 20_000;

interface Tally {
  /** Attempts of this round, those that are not decided yet included. */
  count: number;
  roundStartMs: number;
  lastMs: number;
  /** Full rounds before this one. */
  rounds: number;
}

export function createLoginThrottle(nowMs: () => number): LoginThrottle {
  const tallies = new Map<string, Tally>();

  function tallyOf(key: string, windowMs: number, now: number): Tally {
    const known = tallies.get(key);
    // Put at the end again: the map's order is the order of use.
    tallies.delete(key);
    const tally =
      known && now - known.lastMs < FORGET_MS
        ? known
        : { count: 0, roundStartMs: now, lastMs: now, rounds: 0 };
    const full = tally.count >= ATTEMPTS;
    if (full ? blockedForMs(tally, now) === 0 : now - tally.roundStartMs >= windowMs) {
      if (full) tally.rounds++;
      tally.count = 0;
      tally.roundStartMs = now;
    }
    tallies.set(key, tally);
    if (tallies.size > MAX_KEYS) {
      const [quietest] = tallies.keys();
      if (quietest !== undefined) tallies.delete(quietest);
    }
    return tally;
  }

  return {
    begin(account, remoteAddress) {
      const now = nowMs();
      const accountKey = `account ${account}`;
      const ofAccount = tallyOf(accountKey, FORGET_MS, now);
      const ofAddress = tallyOf(`address ${network(remoteAddress)}`, ADDRESS_WINDOW_MS, now);
      const waitMs = Math.max(blockedForMs(ofAccount, now), blockedForMs(ofAddress, now));
      if (waitMs > 0) throw tooMany(waitMs);
      for (const tally of [ofAccount, ofAddress]) {
        tally.count++;
        tally.lastMs = now;
      }
      return {
        succeeded() {
          tallies.delete(accountKey);
          giveBack(ofAddress);
        },
        withdraw() {
          giveBack(ofAccount);
          giveBack(ofAddress);
        },
      };
    },
  };
}

/** The tenth attempt of a round is still made; what comes after it waits. */
function blockedForMs(tally: Tally, now: number): number {
  if (tally.count < ATTEMPTS) return 0;
  const blockMs = Math.min(FIRST_BLOCK_MS * 2 ** tally.rounds, LONGEST_BLOCK_MS);
  return Math.max(0, tally.lastMs + blockMs - now);
}

function giveBack(tally: Tally): void {
  tally.count = Math.max(0, tally.count - 1);
}

/** One subscriber has a whole /64 of IPv6. */
function network(address: string): string {
  if (!address.includes(':')) return address;
  const [head = '', tail = ''] = address.split('::');
  const left = head.split(':').filter(Boolean);
  const right = tail.split(':').filter(Boolean);
  const zeros = address.includes('::') ? Array(Math.max(0, 8 - left.length - right.length)).fill('0') : [];
  return [...left, ...zeros, ...right]
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, '').toLowerCase())
    .join(':');
}

function tooMany(waitMs: number): AppError {
  const seconds = Math.ceil(waitMs / 1000);
  return new AppError('rate_limited', `too many attempts to log in; try again in ${seconds} seconds`, {
    details: { retryAfterSeconds: seconds },
  });
}
