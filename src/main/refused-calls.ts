import type { ErrorCode } from '../contracts/error-catalogue.ts';

/**
 * Counts the calls that their config endpoint has turned away since the start, by error code (D-20). A call that gets no
 * session leaves no result, so that a worker knows of it by this alone.
 */
export class RefusedCalls {
  private readonly byCode = new Map<ErrorCode, number>();

  /** The codes are those of the catalogue, so the table is bounded. */
  count(code: ErrorCode): void {
    this.byCode.set(code, (this.byCode.get(code) ?? 0) + 1);
  }

  counts(): Partial<Record<ErrorCode, number>> {
    return Object.fromEntries(this.byCode);
  }
}
