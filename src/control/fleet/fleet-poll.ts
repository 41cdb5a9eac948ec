import { FLEET_HEALTH_PATH } from '../../contracts/http-names.ts';
import { httpCall } from '../../platform/http-client.ts';

/** What a host has said of itself, and when it was asked. */
export interface HostCapacity {
  url: string;
  /** `fleet_available`: calls that it takes now. */
  available: number;
  /** Monotonic ms at which the question left. */
  askedMs: number;
}

/** A host that has not answered by then is not asked to dial (D-23). */
export const POLL_TIMEOUT_MS = 1_500;
const MAX_ANSWER_BYTES = 1_048_576;

/**
 * Asks hosts for their capacity. Questions that come while one is under way share its answer, so that a burst of calls
 * costs a host one poll and not one each.
 */
export class FleetPoll {
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
