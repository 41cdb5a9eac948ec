/** Remembers the latest names, `max` of them; the oldest is forgotten first. */
export class RecentNames {
  private readonly names = new Set<string>();
  private readonly max: number;

  constructor(max: number) {
    this.max = max;
  }

  add(name: string): void {
    this.names.add(name);
    const oldest = this.names.size > this.max ? this.names.values().next().value : undefined;
    if (oldest !== undefined) this.names.delete(oldest);
  }

  has(name: string): boolean {
    return this.names.has(name);
  }
}
