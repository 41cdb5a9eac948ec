import { sleepMs } from '../../src/platform/clock.ts';

/**
 * How long a test waits for what has to come. Everything here waits for facts, not for time: this only ends a test that
 * would wait for ever, so it leaves room for a machine on which others work, and a test file its own time-out.
 */
export const PATIENCE_MS = 60_000;
/** Between two looks: short against what a test measures, long against what a look costs. */
const LOOK_EVERY_MS = 10;
/** The same after a while, so that looking takes little from what is looked at. */
const LOOK_LATER_EVERY_MS = 50;
const LATER_AFTER_MS = 2_000;

/** Looks until something is found, or is so, and resolves to it. Throws what was waited for when it never comes. */
export async function until<T>(
  find: () => T | Promise<T>,
  what = find.toString(),
  patienceMs = PATIENCE_MS,
): Promise<Exclude<T, false | null | undefined>> {
  const startMs = performance.now();
  for (;;) {
    const found = await find();
    if (found) return found as Exclude<T, false | null | undefined>;
    const passedMs = performance.now() - startMs;
    if (passedMs > patienceMs) throw new Error(`waited ${patienceMs} ms for: ${what}`);
    await sleepMs(passedMs < LATER_AFTER_MS ? LOOK_EVERY_MS : LOOK_LATER_EVERY_MS);
  }
}
