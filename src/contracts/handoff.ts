import type { TranscriptEntry } from './call-results.ts';

/**
 * The worker's half of the agent desk (R47, R130; docs/handoff.md): what a slot leaves in its spool
 * for main to bring to the desk, in order and until it is taken, also after the slot and this main are gone.
 */
export const DESK_PATH = '/api/v1/agent-desk';

/** `handoff.jsonl` in the spool folder: one {@link DeskNote} per line, appended and synced before main is told. */
export const HANDOFF_FILE = 'handoff.jsonl';

/** Body of `POST /enqueue` (R47, R122). */
export interface EnqueueBody {
  call_id: string;
  room: string;
  caller: { number: string; name?: string; identity: string; language?: string };
  bot: { bot_id: string; name?: string };
  escalation_reason: string;
  transcript: TranscriptEntry[];
  variables: Record<string, unknown>;
  context: unknown;
  /** Ours beside the eight names of the interface. */
  session_id: string;
}

/** What the desk is told of one call, in this order. `seq` counts from 1 and names a note for good. */
export type DeskNote =
  | { v: number; seq: number; kind: 'enqueue'; origin: string; body: EnqueueBody }
  /** `POST /calls/{call_id}/customer-disconnected`. */
  | {
      v: number;
      seq: number;
      kind: 'customer_disconnected';
      origin: string;
      callId: string;
      body: { reason: string; at: string };
    }
  /** `POST /calls/{call_id}/events`: hold began, agent joined as the slot saw it, bot left. */
  | {
      v: number;
      seq: number;
      kind: 'event';
      origin: string;
      callId: string;
      body: { event: string; at: string; [extra: string]: unknown };
    };

/**
 * What a desk that answered an enqueue said (docs/handoff.md, "What the desk receives"); every field may be missing.
 */
export interface DeskAnswer {
  position: number | null;
  agentsAvailable: number | null;
  estimatedWaitSeconds: number | null;
  timeoutSeconds: number | null;
}
