import { REFUSALS, type Refusal } from './refusal.ts';

/** How the host fares, as a route of the ingress asks it. */
export interface HostState {
  isDraining(): boolean;
  /** The refusal while the host must not take calls (RT-71), else null. */
  pressure(): Refusal | null;
  freeSlots(): number;
}

/** Why a new call cannot be taken now, in the order in which an outsider learns it; null when it can. */
export function admission(host: HostState): Refusal | null {
  if (host.isDraining()) return REFUSALS.draining;
  return host.pressure() ?? (host.freeSlots() === 0 ? REFUSALS.full : null);
}
