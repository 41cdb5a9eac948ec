import type { StreamShape } from './byte-stream.ts';
import type { EmulatedSocket } from './emulated-socket.ts';
import type { ScriptStep } from './script.ts';

/** What befalls the next handshake or request instead of the vendor's answer. */
export type NextFault =
  | { status: number; headers?: Record<string, string>; body?: unknown }
  /** The answer comes so much later. */
  | { slowMs: number }
  /** No answer at all. */
  | { never: true }
  /** The connection is reset before an answer. */
  | { reset: true }
  /** The TLS handshake of the next connection meets something that is not TLS. */
  | { tlsFailure: true }
  /** The answer's body comes in this shape: slow, in pieces, cut off. */
  | { stream: StreamShape };

const WAIT_MS = 15_000;

/** The test's hand on a running emulator. */
export class EmulatorControl {
  readonly sockets: EmulatedSocket[] = [];
  private readonly nextFaults: NextFault[] = [];
  private readonly scripts: ScriptStep[][] = [];
  private readonly waiting = new Set<() => void>();

  /** Orders a fault for the next `times` handshakes or requests; orders queue up. */
  next(fault: NextFault, times = 1): void {
    for (let time = 0; time < times; time += 1) this.nextFaults.push(fault);
  }

  /** The next connection follows this script instead of the vendor's own behaviour. */
  script(steps: ScriptStep[]): void {
    this.scripts.push(steps);
  }

  /** Connection `index`, counted from 0 in order of acceptance. Throws where there is none yet. */
  connection(index: number): EmulatedSocket {
    const socket = this.sockets[index];
    if (!socket) throw new Error(`connection ${index} was not opened; there are ${this.sockets.length}`);
    return socket;
  }

  latest(): EmulatedSocket {
    return this.connection(this.sockets.length - 1);
  }

  /** Resolves with the `count`-th connection once so many were accepted. */
  opened(count: number, timeoutMs = WAIT_MS): Promise<EmulatedSocket> {
    return new Promise((resolve, reject) => {
      const look = () => {
        if (this.sockets.length < count) return;
        clearTimeout(timer);
        this.waiting.delete(look);
        resolve(this.connection(count - 1));
      };
      const timer = setTimeout(() => {
        this.waiting.delete(look);
        reject(new Error(`only ${this.sockets.length} of ${count} connections came within ${timeoutMs} ms`));
      }, timeoutMs);
      this.waiting.add(look);
      look();
    });
  }

  /** For the emulator: the order for what has just arrived, `tlsFailure` being taken at the connection only. */
  takeFault(at: 'connection' | 'request'): NextFault | undefined {
    const first = this.nextFaults[0];
    if (!first || 'tlsFailure' in first !== (at === 'connection')) return undefined;
    return this.nextFaults.shift();
  }

  takeScript(): ScriptStep[] | undefined {
    return this.scripts.shift();
  }

  accepted(socket: EmulatedSocket): void {
    this.sockets.push(socket);
    for (const wake of [...this.waiting]) wake();
  }
}
