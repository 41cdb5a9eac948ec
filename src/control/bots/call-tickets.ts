import { createHash, randomBytes } from 'node:crypto';

/** A ticket opens one call socket, once, within this time (D-17). */
export const TICKET_LIFE_MS = 60_000;
/** Unused tickets at once; at the limit the oldest goes, which would have expired first. */
const MAX_TICKETS = 10_000;
const TICKET_BYTES = 32;

/**
 * Tickets for call sockets of clients that must not know the core secret, such as a test call in a browser. Kept as
 * hashes in the memory of main, which is both the plane that issues them and the ingress that takes them: a restart
 * voids them.
 */
export interface CallTickets {
  issue(botId: string): { ticket: string; expiresAtMs: number };
  /** Whether the ticket opens a call to this bot now. It never does again, whatever the answer. */
  consume(ticket: string, botId: string): boolean;
}

/** `nowMs` is wall time. */
export function createCallTickets(nowMs: () => number): CallTickets {
  const tickets = new Map<string, { botId: string; expiresAtMs: number }>();
  return {
    issue(botId) {
      const now = nowMs();
      // The map is in the order of issue, and every ticket lives equally long.
      for (const [hash, { expiresAtMs }] of tickets) {
        if (expiresAtMs > now && tickets.size < MAX_TICKETS) break;
        tickets.delete(hash);
      }
      const ticket = randomBytes(TICKET_BYTES).toString('base64url');
      const expiresAtMs = now + TICKET_LIFE_MS;
      tickets.set(digest(ticket), { botId, expiresAtMs });
      return { ticket, expiresAtMs };
    },
    consume(ticket, botId) {
      const hash = digest(ticket);
      const found = tickets.get(hash);
      tickets.delete(hash);
      return found !== undefined && found.botId === botId && found.expiresAtMs > nowMs();
    },
  };
}

/** Looked up by hash, so the time of a look-up says nothing about a ticket. */
function digest(ticket: string): string {
  return createHash('sha256').update(ticket).digest('hex');
}
