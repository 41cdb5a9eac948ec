import type { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { REFUSALS, type Refusal } from '../../contracts/fleet-refusals.ts';
import type { MediaServerAccess } from '../../contracts/rooms.ts';
import { monotonicMs } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logger.ts';
import type { Settings } from '../../platform/settings.ts';
import type { LeaseSource } from '../slots/slot-pool.ts';
import { type CallTarget, callTarget, checkUpgrade, createCallerCheck } from './call-admission.ts';
import { passSocket } from './pass-socket.ts';
import { refuseOnSocket } from './send-answer.ts';

/** Bytes that a caller may send before its handshake is answered; more is not a dialler. */
const MAX_EARLY_BYTES = 65_536;
/** A misconfigured proxy repeats itself with every call; its log line does not. */
const ADVICE_EVERY_MS = 10_000;

export interface CallSockets {
  /** Takes an upgrade request and its socket. Never throws. */
  onUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** What a request for a call is answered with before it gets a slot; null when it may have one. */
  refusal(request: IncomingMessage): Refusal | null;
}

/**
 * Upgrades of `/ws/{bot_id}` and `/partner/{bot_id}`. The order of the checks is what an outsider may learn: the path
 * first, then who is asking, and only then how the host fares.
 */
export function createCallSockets(options: {
  settings: Settings;
  pool: LeaseSource;
  isDraining(): boolean;
  /** The refusal while the host must not take calls (RT-71), else null. */
  pressure(): Refusal | null;
  /** Whether a call would find a slot now. */
  hasRoom(): boolean;
  /** Takes a ticket for a bot; false where it is unknown, used, too old or for another bot. */
  consumeTicket(ticket: string, botId: string): boolean;
  /** Where a call is brought into a room when it is handed over (D-44). */
  media(): MediaServerAccess | null;
  logger: Logger;
}): CallSockets {
  const { pool, logger } = options;
  const caller = createCallerCheck(options.settings);
  let advisedAtMs = Number.NEGATIVE_INFINITY;

  function refusal(request: IncomingMessage): Refusal | null {
    const target = callTarget(request.url ?? '');
    if (!target) return REFUSALS.notFound;
    const verdict = caller.check(request);
    if (verdict === 'proxied_without_auth' && monotonicMs() - advisedAtMs > ADVICE_EVERY_MS) {
      advisedAtMs = monotonicMs();
      logger.warn(
        'a call came through a proxy, but call sockets are unauthenticated; set WS_AUTH to "secret" or to the networks of your diallers',
      );
    }
    if (verdict !== 'allowed' && (verdict !== 'by_ticket' || target.ticket === ''))
      return REFUSALS.unauthorized;
    if (options.isDraining()) return REFUSALS.draining;
    return checkUpgrade(request) ?? options.pressure();
  }

  function takeTicket(target: CallTarget): Refusal | null {
    return options.consumeTicket(target.ticket, target.botId) ? null : REFUSALS.unauthorized;
  }

  async function admit(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const refused = refusal(request);
    if (refused) {
      refuseOnSocket(socket, refused);
      return;
    }
    const target = callTarget(request.url ?? '');
    if (!target || !(socket instanceof Socket) || head.length > MAX_EARLY_BYTES) {
      socket.destroy();
      return;
    }
    if (caller.check(request) === 'by_ticket') {
      const refusedNow = options.hasRoom() ? takeTicket(target) : REFUSALS.full;
      if (refusedNow) {
        refuseOnSocket(socket, refusedNow);
        return;
      }
    }
    const outcome = await passSocket(pool, target, request, socket, head, options.media(), logger);
    if (outcome === 'full') refuseOnSocket(socket, REFUSALS.full);
    if (outcome === 'failed') refuseOnSocket(socket, REFUSALS.slotsFailed);
  }

  return {
    refusal,
    onUpgrade(request, socket, head) {
      // A caller that resets its connection now is its own affair; without a listener it would be main's end.
      socket.on('error', () => undefined);
      admit(request, socket, head).catch((error: unknown) => {
        logger.error({ err: error }, 'an upgrade failed in an unexpected way');
        socket.destroy();
      });
    },
  };
}
