/**
 * What a client did that its vendor does not document. A strict test asserts that the list is empty, or that it holds
 * exactly the trespass that it provoked.
 */
export class Violations {
  private found: string[] = [];

  add(...texts: string[]): void {
    this.found.push(...texts);
  }

  get list(): readonly string[] {
    return this.found;
  }

  /** The list, which is empty afterwards. */
  take(): string[] {
    const list = this.found;
    this.found = [];
    return list;
  }
}
