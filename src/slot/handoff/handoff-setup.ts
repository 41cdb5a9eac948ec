import { DeskNotes, type DeskNotesTarget } from './desk-notes.ts';
import type { HandoffTimes } from './handoff-machine.ts';
import type { HandoffRoom } from './handoff-room.ts';

/** What a call needs to be handed to a person; made with the call, and used only when it comes to that. */
export interface HandoffSetup {
  callId: string;
  /** The caller's telephone number; empty where there is none. */
  callerNumber: string;
  place: HandoffRoom;
  notes: DeskNotes;
  /** Only tests bring others. */
  times?: HandoffTimes;
}

/** Null where no media server is set up: then no agent can ever meet the caller. */
export function handoffSetup(
  call: DeskNotesTarget & { callerNumber: string },
  place: HandoffRoom | null,
): HandoffSetup | null {
  if (!place) return null;
  return { callId: call.callId, callerNumber: call.callerNumber, place, notes: new DeskNotes(call) };
}
