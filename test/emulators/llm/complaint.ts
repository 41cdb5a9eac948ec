import type { FieldRule } from '../kit/field-rules.ts';

/** Why a vendor refuses a request. */
export interface Complaint {
  status: number;
  message: string;
  /** The vendor's code for it, such as `unsupported_parameter` or `NOT_FOUND`. */
  code?: string;
  /** The field that is to blame, where the vendor names one. */
  param?: string;
  /**
   * The client did what the vendor does not document. False where even a good client may meet it: an expired cache
   * entry, a prompt too small to cache, a model that takes no retention hint.
   */
  violation: boolean;
}

/** A rule for a list or object whose items need a look that field rules cannot take. */
export function checked(test: (value: unknown) => string | null, required = false): FieldRule {
  return { type: 'any', required, test };
}

/** The field a problem sentence of `checkFields` is about, without the leading `body.`. */
export function pathOf(problem: string): string {
  const unknown = /^(\S+): (?:unknown key|key) (\S+)/.exec(problem);
  const path = unknown ? `${unknown[1]}.${unknown[2]}` : (/^\S+/.exec(problem)?.[0] ?? '');
  return path.replace(/^body\.?/, '');
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The items of a list that are objects; empty for what is no list. */
export function records(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}
