import type { ProviderClock } from '../contract/provider-clock.ts';

/**
 * The next step of a stream, or `late` when it did not come in time. The step that was late stays pending: the caller
 * aborts the stream and asks no more. A failure of the stream rejects.
 */
export async function nextWithin<T>(
  iterator: AsyncIterator<T>,
  ms: number,
  clock: ProviderClock,
): Promise<IteratorResult<T> | 'late'> {
  const { promise: late, resolve } = Promise.withResolvers<'late'>();
  const cancel = clock.after(ms, () => resolve('late'));
  const next = iterator.next();
  next.catch(() => undefined);
  try {
    return await Promise.race([next, late]);
  } finally {
    cancel();
  }
}

/** Ends a stream that nobody reads any more; never rejects and waits for nothing. */
export function abandonStream(iterator: AsyncIterator<unknown>): void {
  iterator.return?.()?.catch(() => undefined);
}

/** Aborts with `outer`; `release` ends the link, so that a long-lived signal keeps no listener of a short request. */
export function linkedAbort(outer: AbortSignal): { controller: AbortController; release(): void } {
  const controller = new AbortController();
  const onAbort = () => controller.abort(outer.reason);
  if (outer.aborted) onAbort();
  else outer.addEventListener('abort', onAbort, { once: true });
  return { controller, release: () => outer.removeEventListener('abort', onAbort) };
}
