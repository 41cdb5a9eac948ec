import { Compile } from 'typebox/compile';
import { HostSessions } from '../../contracts/fleet-sessions.ts';
import { CORE_SECRET_HEADER, SESSIONS_PATH } from '../../contracts/http-names.ts';
import { httpCall } from '../../platform/http-client.ts';

/** What all hosts together have of calls, by session. */
interface FleetSessions {
  /** Somebody may be talking. */
  live: ReadonlySet<string>;
  /** Results are still to come. */
  owed: ReadonlySet<string>;
}

/** Asks the hosts which sessions they have. */
export interface SessionFinder {
  /**
   * Null where a host does not say: its calls may go on all the same. One that has not answered for
   * {@link FORGOTTEN_AFTER_MS} is gone, and its calls with it.
   */
  ask(): Promise<FleetSessions | null>;
}

export interface SessionFinderParts {
  /** The slots of this process; null while they are still starting. Absent where it has none. */
  own?: (() => Promise<HostSessions | null>) | undefined;
  /** Fleet ports of other hosts. */
  urls: () => readonly string[];
  coreSecret: string;
  nowMs: () => number;
}

/** A main that is started again is back long before; its calls have talked on meanwhile (D-7). */
export const FORGOTTEN_AFTER_MS = 600_000;
const ANSWER_WITHIN_MS = 5_000;
/** Ten thousand sessions that are owed fit in ten times over. */
const MAX_ANSWER_BYTES = 4_194_304;

const hostSessions = Compile(HostSessions);

export function createSessionFinder(parts: SessionFinderParts): SessionFinder {
  /** Since when a host does not answer, by its address. */
  const silentSinceMs = new Map<string, number>();

  async function askHost(url: string): Promise<HostSessions | null> {
    const told = await readSessions(url, parts.coreSecret);
    if (told) {
      silentSinceMs.delete(url);
      return told;
    }
    const nowMs = parts.nowMs();
    const sinceMs = silentSinceMs.get(url) ?? nowMs;
    silentSinceMs.set(url, sinceMs);
    return nowMs - sinceMs < FORGOTTEN_AFTER_MS ? null : NOTHING;
  }

  return {
    async ask() {
      const answers = await Promise.all([
        parts.own ? parts.own() : Promise.resolve(NOTHING),
        ...parts.urls().map(askHost),
      ]);
      const told = answers.filter((answer) => answer !== null);
      if (told.length < answers.length) return null;
      return {
        live: new Set(told.flatMap(({ live }) => live)),
        owed: new Set(told.flatMap(({ owed }) => owed)),
      };
    },
  };
}

const NOTHING: HostSessions = { live: [], owed: [] };

/** Null where the host cannot be reached, refuses, or does not know the question. */
async function readSessions(url: string, coreSecret: string): Promise<HostSessions | null> {
  try {
    const answer = await httpCall(`${url}${SESSIONS_PATH}`, {
      headers: coreSecret === '' ? {} : { [CORE_SECRET_HEADER]: coreSecret },
      timeoutMs: ANSWER_WITHIN_MS,
      maxBytes: MAX_ANSWER_BYTES,
    });
    if (answer.status !== 200) return null;
    const told: unknown = JSON.parse(answer.body);
    return hostSessions.Check(told) ? told : null;
  } catch {
    return null;
  }
}
