import {
  MAX_OUTCOMES_AT_ONCE,
  OUTCOMES_EVERY_MS,
  type ProviderOutcome,
} from '../../contracts/provider-health.ts';
import { LocalProviderHealth, type ProviderHealth } from '../../providers/resilient/provider-health.ts';
import { onMain, tellMain } from './slot-channel.ts';

/**
 * How the providers do, as this slot and, through main, the others of the host have met them. One per process. Without
 * main it works on with what the slot itself meets.
 */
export function startProviderHealthLink(): ProviderHealth {
  const batch = new OutcomeBatch((outcomes) => tellMain({ type: 'provider_outcomes', outcomes }));
  const providerHealth = new LocalProviderHealth({ onOutcome: (outcome) => batch.add(outcome) });
  onMain('provider_health', (message) => providerHealth.hear(message.providers));
  // An empty list asks for what main knows already.
  tellMain({ type: 'provider_outcomes', outcomes: [] });
  return providerHealth;
}

/** Sends bad news at once and good news in company. Bounded: the oldest are dropped. */
export class OutcomeBatch {
  private readonly send: (outcomes: ProviderOutcome[]) => void;
  private waiting: ProviderOutcome[] = [];
  private timer: NodeJS.Timeout | undefined;

  constructor(send: (outcomes: ProviderOutcome[]) => void) {
    this.send = send;
  }

  add(outcome: ProviderOutcome): void {
    this.waiting.push(outcome);
    if (this.waiting.length > MAX_OUTCOMES_AT_ONCE) this.waiting.shift();
    if (outcome.result !== 'ok') this.flush();
    else this.timer ??= setTimeout(() => this.flush(), OUTCOMES_EVERY_MS).unref();
  }

  private flush(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    const outcomes = this.waiting;
    this.waiting = [];
    this.send(outcomes);
  }
}
