import { FLEET_HEALTH_PATH } from '../../contracts/http-names.ts';
import { monotonicMs, within } from '../../platform/clock.ts';
import { httpCall } from '../../platform/http-client.ts';
import { hostPort, type Settings } from '../../platform/settings.ts';

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

/** What a host has said of itself, and when it was asked. */
interface HostCapacity {
  url: string;
  /** `fleet_available`: calls that it takes now. */
  available: number;
  /** Monotonic ms at which the question left. */
  askedMs: number;
}

/** A host that has not answered by then is not asked to dial (D-23). */
const POLL_TIMEOUT_MS = 1_500;
const MAX_ANSWER_BYTES = 1_048_576;

/**
 * Asks hosts for their capacity. Questions that come while one is under way share its answer, so that a burst of calls
 * costs a host one poll and not one each.
 */
class FleetPoll {
  private readonly running = new Map<string, Promise<HostCapacity | null>>();
  private readonly nowMs: () => number;

  constructor(nowMs: () => number) {
    this.nowMs = nowMs;
  }

  /** All hosts at once; those that do not answer properly are left out. */
  async ask(urls: readonly string[]): Promise<HostCapacity[]> {
    const answers = await Promise.all(urls.map((url) => this.askOne(url)));
    return answers.filter((answer) => answer !== null);
  }

  private askOne(url: string): Promise<HostCapacity | null> {
    const running = this.running.get(url);
    if (running) return running;
    const started = readCapacity(url, this.nowMs()).finally(() => this.running.delete(url));
    this.running.set(url, started);
    return started;
  }
}

async function readCapacity(url: string, askedMs: number): Promise<HostCapacity | null> {
  try {
    const answer = await httpCall(`${url}${FLEET_HEALTH_PATH}`, {
      timeoutMs: POLL_TIMEOUT_MS,
      maxBytes: MAX_ANSWER_BYTES,
    });
    if (answer.status !== 200) return null;
    const { fleet_available: available } = JSON.parse(answer.body) as { fleet_available?: unknown };
    return Number.isSafeInteger(available) ? { url, available: available as number, askedMs } : null;
  } catch {
    return null;
  }
}

/**
 * Requests that this control plane has sent to a host and that its last health answer may not show yet. A host takes a
 * slot for a call before anything that lasts, so an answer shows the call when it was asked for after the host's yes, or
 * a while after the request left.
 */
class InFlight {
  private readonly byHost = new Map<string, Set<SentRequest>>();
  private readonly nowMs: () => number;
  private waiters: (() => void)[] = [];

  constructor(nowMs: () => number) {
    this.nowMs = nowMs;
  }

  /** Notes a request; `end` says whether the host has, or may have, taken the call. */
  begin(url: string): { end(taken: boolean): void } {
    const requests = this.requests(url);
    const request: SentRequest = { shownFromMs: this.nowMs() + SHOWN_AFTER_MS };
    requests.add(request);
    return {
      end: (taken) => {
        if (taken) request.shownFromMs = Math.min(request.shownFromMs, this.nowMs());
        else requests.delete(request);
        const waiters = this.waiters;
        this.waiters = [];
        for (const wake of waiters) wake();
      },
    };
  }

  /** Calls that an answer asked for at `askedMs` may leave out. */
  unseen(url: string, askedMs: number): number {
    const requests = this.requests(url);
    const forgottenMs = this.nowMs() - KEPT_MS;
    let count = 0;
    for (const request of requests) {
      if (request.shownFromMs >= askedMs) count++;
      else if (request.shownFromMs < forgottenMs) requests.delete(request);
    }
    return count;
  }

  /** Resolves when the next request is answered, or once every answer that is asked for now shows all of them. */
  async settled(): Promise<void> {
    const answered = new Promise<void>((resolve) => this.waiters.push(resolve));
    await within(answered, SHOWN_AFTER_MS, undefined);
  }

  private requests(url: string): Set<SentRequest> {
    const known = this.byHost.get(url);
    if (known) return known;
    const made = new Set<SentRequest>();
    this.byHost.set(url, made);
    return made;
  }
}

interface SentRequest {
  /** Monotonic ms: health answers asked for after it show the call. */
  shownFromMs: number;
}

/** More than a request needs to reach the host and take a slot there. */
const SHOWN_AFTER_MS = 250;
/** No health answer older than this is ever looked at. */
const KEPT_MS = 10_000;

/**
 * The fleet ports of this control plane: `FLEET_URLS`, or the own one. `ownPort` is what the own ingress really listens
 * on, where it is known; an ingress on every address is reached on loopback.
 */
export function fleetUrls(
  settings: Pick<Settings, 'fleetUrls' | 'fleetListen'>,
  ownPort: number | null,
): readonly string[] {
  if (settings.fleetUrls.length > 0) return settings.fleetUrls;
  const { host, port } = settings.fleetListen;
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return [`http://${hostPort({ host: reachable, port: ownPort ?? port })}`];
}
