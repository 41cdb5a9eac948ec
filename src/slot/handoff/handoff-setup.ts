import { DeskNotes, type DeskNotesPlace } from './desk-notes.ts';
import type { HandoffTimes } from './handoff-machine.ts';
import type { HandoffPlace } from './handoff-place.ts';

/** What a call needs to be handed to a person; made with the call, and used only when it comes to that. */
export interface HandoffSetup {
  callId: string;
  /** The caller's telephone number; empty where there is none. */
  callerNumber: string;
  place: HandoffPlace;
  notes: DeskNotes;
  /** Only tests bring others. */
  times?: HandoffTimes;
}

/** Null where no media server is set up: then no agent can ever meet the caller. */
export function handoffSetup(
  call: DeskNotesPlace & { callerNumber: string },
  place: HandoffPlace | null,
): HandoffSetup | null {
  if (!place) return null;
  return { callId: call.callId, callerNumber: call.callerNumber, place, notes: new DeskNotes(call) };
}
