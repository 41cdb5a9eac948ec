/**
 * Stretches of time in which something was the case, in order of their beginning. The last one may still be open.
 */
export class Spans {
  private list: { fromMs: number; toMs: number }[] = [];

  /** It is the case from now until told otherwise; said twice, the first time counts. */
  open(fromMs: number): void {
    if (this.list.at(-1)?.toMs === Number.POSITIVE_INFINITY) return;
    this.list.push({ fromMs, toMs: Number.POSITIVE_INFINITY });
  }

  /** The open one has ended. Without an open one this means nothing. */
  close(toMs: number): void {
    const last = this.list.at(-1);
    if (last && last.toMs === Number.POSITIVE_INFINITY) last.toMs = Math.max(last.fromMs, toMs);
  }

  /** The open one was a mistake. */
  cancel(): void {
    if (this.list.at(-1)?.toMs === Number.POSITIVE_INFINITY) this.list.pop();
  }

  /** A stretch whose two ends are known; one that begins where the last one ended prolongs it. */
  add(fromMs: number, toMs: number): void {
    const last = this.list.at(-1);
    if (last && Math.abs(fromMs - last.toMs) < 1) last.toMs = toMs;
    else this.list.push({ fromMs, toMs });
  }

  /** Nothing of it was the case from here on. */
  truncate(atMs: number): void {
    while ((this.list.at(-1)?.fromMs ?? Number.NEGATIVE_INFINITY) >= atMs) this.list.pop();
    const last = this.list.at(-1);
    if (last && last.toMs > atMs) last.toMs = atMs;
  }

  covers(atMs: number): boolean {
    for (let i = this.list.length - 1; i >= 0; i--) {
      const span = this.list[i];
      if (span && span.fromMs <= atMs && atMs < span.toMs) return true;
    }
    return false;
  }

  /** Where something changes. */
  edges(): number[] {
    return this.list.flatMap((span) => [span.fromMs, span.toMs]);
  }

  /** Forgets what ended before a moment. */
  forget(beforeMs: number): void {
    this.list = this.list.filter((span) => span.toMs > beforeMs);
  }

  get count(): number {
    return this.list.length;
  }
}

/**
 * Goes through a stretch of time and gives every piece of it to one owner. The edges are where an owner may change, so
 * the middle of each piece speaks for all of it; nothing is counted twice and nothing is left out.
 */
export function sweep<Owner extends string>(
  fromMs: number,
  toMs: number,
  edges: readonly number[],
  ownerAt: (atMs: number) => Owner,
  give: (owner: Owner, fromMs: number, toMs: number) => void,
): void {
  const cuts = edges.filter((edge) => edge > fromMs && edge < toMs).sort((a, b) => a - b);
  let beganMs = fromMs;
  for (const cutMs of [...cuts, toMs]) {
    if (cutMs <= beganMs) continue;
    give(ownerAt((beganMs + cutMs) / 2), beganMs, cutMs);
    beganMs = cutMs;
  }
}
