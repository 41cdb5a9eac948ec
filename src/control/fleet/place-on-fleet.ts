import { monotonicMs } from '../../platform/clock.ts';
import { FleetPoll, type HostCapacity } from './fleet-poll.ts';
import { InFlight } from './in-flight.ts';

/** What a host has said to a request for a call. */
export type HostAnswer<T> =
  | { kind: 'taken'; value: T }
  /** 429: another host may have room. */
  | { kind: 'full' }
  /** This host will not, for a reason that another one need not have. */
  | { kind: 'refused'; reason: RefusalReason }
  /** The call cannot be, whichever host is asked; `code` of its refusal. */
  | { kind: 'declined'; code: string }
  /** The request may have had its effect: it must not be sent to another host. */
  | { kind: 'unknown' };

export type RefusalReason = 'unreachable' | 'secret' | 'no_sip' | 'not_accepting' | 'unexpected';

export type Placement<T> =
  | { kind: 'taken'; url: string; value: T }
  | { kind: 'unknown'; url: string }
  | { kind: 'declined'; url: string; code: string }
  /** `no_host`: none answered. `full`: those that answered have no room. `refused`: those that were asked will not. */
  | { kind: 'none'; why: 'no_host' | 'full' | 'refused' | 'busy'; reasons: RefusalReason[] };

/** The fleet server with the most available capacity takes the call (R23). */
export interface Fleet {
  /** `send` asks one host; it is called for at most {@link MAX_HOSTS_TRIED} of them, one after another. */
  place<T>(send: (url: string) => Promise<HostAnswer<T>>): Promise<Placement<T>>;
}

/** A caller waits for the answer, so the search ends here (D-23). */
export const MAX_HOSTS_TRIED = 3;
/** Requests of this control plane that look for a host at once; more are told that the fleet is busy. */
export const MAX_PLACING = 512;
/** Looks at the fleet for one call, where calls of our own that are on their way hide its last free slots. */
const MAX_ROUNDS = 4;

export function createFleet(urls: () => readonly string[], nowMs: () => number = monotonicMs): Fleet {
  const poll = new FleetPoll(nowMs);
  const inFlight = new InFlight(nowMs);
  let placing = 0;
  return {
    async place(send) {
      if (placing >= MAX_PLACING) return { kind: 'none', why: 'busy', reasons: [] };
      placing++;
      try {
        return await placeOne({ urls: urls(), poll, inFlight }, send);
      } finally {
        placing--;
      }
    },
  };
}

interface FleetState {
  urls: readonly string[];
  poll: FleetPoll;
  inFlight: InFlight;
}

async function placeOne<T>(
  { urls, poll, inFlight }: FleetState,
  send: (url: string) => Promise<HostAnswer<T>>,
): Promise<Placement<T>> {
  const tried = new Set<string>();
  const reasons: RefusalReason[] = [];
  let anyFull = false;
  let anyHost = false;
  for (let round = 0; round < MAX_ROUNDS && tried.size < MAX_HOSTS_TRIED; round++) {
    const hosts = await poll.ask(urls.filter((url) => !tried.has(url)));
    anyHost ||= hosts.length > 0;
    for (;;) {
      // Chosen anew for each try: meanwhile other calls have gone to these hosts.
      const best = tried.size < MAX_HOSTS_TRIED ? bestHost(hosts, tried, inFlight) : null;
      if (best === null) break;
      tried.add(best.url);
      const flight = inFlight.begin(best.url);
      let answer: HostAnswer<T> = { kind: 'unknown' };
      try {
        answer = await send(best.url);
      } finally {
        flight.end(answer.kind === 'taken' || answer.kind === 'unknown');
      }
      if (answer.kind === 'taken') return { kind: 'taken', url: best.url, value: answer.value };
      if (answer.kind === 'unknown') return { kind: 'unknown', url: best.url };
      if (answer.kind === 'declined') return { kind: 'declined', url: best.url, code: answer.code };
      if (answer.kind === 'full') anyFull = true;
      else reasons.push(answer.reason);
    }
    // A host whose free slots are only hidden by calls on their way is looked at again once one of those is decided.
    const hidden = hosts.some((host) => host.available > 0 && !tried.has(host.url));
    if (!hidden) break;
    await inFlight.settled();
  }
  if (reasons.length > 0 && !anyFull) return { kind: 'none', why: 'refused', reasons };
  return { kind: 'none', why: anyHost ? 'full' : 'no_host', reasons };
}

/** The host with the most room that this control plane has not spoken for already; the earlier one of equals. */
function bestHost(
  hosts: readonly HostCapacity[],
  tried: ReadonlySet<string>,
  inFlight: InFlight,
): HostCapacity | null {
  let best: HostCapacity | null = null;
  let bestRoom = 0;
  for (const host of hosts) {
    if (tried.has(host.url)) continue;
    const room = host.available - inFlight.unseen(host.url, host.askedMs);
    if (room > bestRoom) {
      best = host;
      bestRoom = room;
    }
  }
  return best;
}
