/**
 * What a client did that its vendor does not document. A strict test asserts that the list is empty, or that it holds
 * exactly the trespass that it provoked.
 */
export class Violations {
  #list: string[] = [];

  add(...texts: string[]): void {
    this.#list.push(...texts);
  }

  get list(): readonly string[] {
    return this.#list;
  }

  /** The list, which is empty afterwards. */
  take(): string[] {
    const list = this.#list;
    this.#list = [];
    return list;
  }
}
