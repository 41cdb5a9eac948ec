/**
 * Keeps a process from ending in the middle of a native model run.
 *
 * onnxruntime-node 1.30 aborts the whole process ("terminate called after throwing an instance of 'Napi::Error'",
 * exit code 134) when the environment of a worker thread is torn down while that thread is inside the library: its
 * next call into the engine fails, and it throws where nothing can catch. Between runs the same teardown is clean. So
 * the thread enters this gate before each native call and leaves it afterwards, and whoever ends the process closes it
 * first. The gate is one shared integer: it works while both threads are blocked, where messages do not.
 */
export type NativeRunGate = Int32Array<SharedArrayBuffer>;

const FREE = 0;
const RUNNING = 1;
const CLOSED = 2;

/** A new gate, already entered: loading the library and the model is a native call as well. */
export function createEnteredGate(): NativeRunGate {
  const gate = new Int32Array(new SharedArrayBuffer(4));
  gate[0] = RUNNING;
  return gate;
}

/** False when the process is ending: start nothing native any more. */
export function enterGate(gate: NativeRunGate): boolean {
  return Atomics.compareExchange(gate, 0, FREE, RUNNING) === FREE;
}

export function leaveGate(gate: NativeRunGate): void {
  Atomics.compareExchange(gate, 0, RUNNING, FREE);
  Atomics.notify(gate, 0);
}

/**
 * Blocks this thread until no native call is under way, and lets none begin after that. False when a call has not come
 * back within `boundMs`.
 */
export function closeGate(gate: NativeRunGate, boundMs: number): boolean {
  const until = performance.now() + boundMs;
  for (;;) {
    const state = Atomics.compareExchange(gate, 0, FREE, CLOSED);
    if (state !== RUNNING) return true;
    const leftMs = until - performance.now();
    if (leftMs <= 0) return false;
    Atomics.wait(gate, 0, RUNNING, leftMs);
  }
}
