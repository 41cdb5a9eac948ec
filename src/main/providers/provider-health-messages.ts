import type { ProviderHealthEntry, ProviderOutcome } from '../../contracts/provider-health.ts';
import type { MainToSlot } from '../../contracts/slot-messages.ts';
import { SLOT_MESSAGES_VERSION } from '../../contracts/versions.ts';
import type { ProviderHealthTable } from './provider-health-table.ts';

/** What the provider health needs of a slot process. */
interface ProviderHealthSlot {
  readonly slotId: number;
  tell(message: MainToSlot): void;
}

/** A slot tells what it met; with an empty list it asks for what is known. */
export function takeProviderHealth(
  table: ProviderHealthTable,
  slot: ProviderHealthSlot,
  outcomes: readonly ProviderOutcome[],
): void {
  if (outcomes.length === 0) tellProviderHealth(slot, table.entries());
  else table.hear(slot.slotId, outcomes);
}

export function tellProviderHealth(slot: ProviderHealthSlot, providers: ProviderHealthEntry[]): void {
  slot.tell({ v: SLOT_MESSAGES_VERSION, type: 'provider_health', providers });
}
