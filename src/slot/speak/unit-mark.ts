import type { Unit } from './speech-ledger.ts';

/** The mark behind a unit. Each sending has its own: the echo of one that was dropped proves nothing. */
export function markName(unit: Unit): string {
  return `unit-${unit.id}${unit.sending > 1 ? `.${unit.sending}` : ''}`;
}

export function unitOfMark(name: string): { unitId: number; sending: number } {
  const match = /^unit-(\d{1,9})(?:\.(\d{1,4}))?$/.exec(name);
  return match ? { unitId: Number(match[1]), sending: Number(match[2] ?? 1) } : { unitId: -1, sending: 0 };
}
