import { closeGate, type NativeRunGate } from './native-run-gate.ts';

/** Tidy ends get this long together; what is not closed then is left to {@link guardExit}. */
const TIDY_END_MS = 2_000;
/** The longest that an exit waits for a native run; one takes about 40 ms, and loading the model below one second. */
const NATIVE_RUN_BOUND_MS = 3_000;

const tidyEnds = new Set<() => Promise<void>>();
const gates = new Set<NativeRunGate>();

/**
 * The way out of a process that may own inference threads: closes what registered with {@link onLeave}, within 2 s,
 * then exits with `code`. A plain `process.exit` or an uncaught error is safe as well (see {@link guardExit}); this way
 * also gives the models back.
 */
export async function leaveProcess(code: number): Promise<never> {
  const ends = [...tidyEnds].map((end) => end().catch(() => undefined));
  let timer: NodeJS.Timeout | undefined;
  const bound = new Promise((resolve) => {
    timer = setTimeout(resolve, TIDY_END_MS);
  });
  await Promise.race([Promise.all(ends), bound]);
  clearTimeout(timer);
  process.exit(code);
}

/** Registers an end for {@link leaveProcess}; returns the function that takes it back. */
export function onLeave(end: () => Promise<void>): () => void {
  tidyEnds.add(end);
  return () => tidyEnds.delete(end);
}

/**
 * Makes every exit that runs JavaScript's `exit` event wait for the native run behind `gate`: `process.exit`, an
 * uncaught error, an empty event loop. A run that does not come back in 3 s cannot be left alive (the exit would join
 * its thread) nor interrupted (the library would abort), so then the process kills itself. Returns the function that
 * takes the guard back.
 */
export function guardExit(gate: NativeRunGate): () => void {
  if (gates.size === 0) process.once('exit', closeAllGates);
  gates.add(gate);
  return () => {
    gates.delete(gate);
    if (gates.size === 0) process.removeListener('exit', closeAllGates);
  };
}

function closeAllGates(): void {
  for (const gate of gates) {
    if (!closeGate(gate, NATIVE_RUN_BOUND_MS)) process.kill(process.pid, 'SIGKILL');
  }
}
