import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type DeskAnswer, type DeskNote, HANDOFF_FILE } from '../../contracts/handoff.ts';
import { AGENT_PREFIX, BRIDGED_CALLER_PREFIX } from '../../contracts/rooms.ts';
import { SPOOL_VERSION } from '../../contracts/versions.ts';
import { describeError } from '../../platform/app-error.ts';
import { isoNow } from '../../platform/clock.ts';
import type { QueueClock } from '../../platform/delivery-queue.ts';
import type { KeyValueStore } from '../../platform/key-value-store.ts';
import type { Logger } from '../../platform/logger.ts';
import { HandoffOutbox, type HandoffOutboxOptions, type HandoffRow } from './handoff-outbox.ts';
import { readNotes } from './read-notes.ts';

/** How often the folders of calls that cannot speak to this main are looked into. */
const LOOK_EVERY_MS = 1_000;
/** A handed-over room whose end nobody has told by then is forgotten; the desk finds out by itself. */
const ROOM_MEMORY_MS = 24 * 3_600_000;

export interface DeskRelayOptions {
  store: KeyValueStore;
  spoolFolder: string;
  coreSecret: string;
  ownOrigins: readonly string[];
  /** Passes what the desk said on to the slot of a live call; nothing where no slot of this main has it. */
  tellSlot(callId: string, answer: DeskAnswer): void;
  /** Calls of an earlier main that go on: nobody tells of their notes. */
  orphanCalls(): string[];
  logger: Logger;
  clock?: QueueClock;
}

/** What the media server's webhooks tell of a room, as far as a handoff is concerned (D-45). */
export interface RoomEvent {
  event: string;
  room: string;
  /** Empty where the event is about nobody. */
  identity: string;
}

/**
 * Main's half of a handoff: what slots note for the agent desk goes from their spool folders into the outbox and from
 * there to the desk; what the desk answers goes back to the slot. After a slot has left a handed-over room, main goes
 * on telling the desk what becomes of the customer.
 */
export class DeskRelay {
  private readonly options: DeskRelayOptions;
  private readonly outbox: HandoffOutbox;
  /** Takings under way, by call: two at once would read the same lines for nothing. */
  private readonly taking = new Map<string, Promise<void>>();
  /** Handed-over rooms by name. */
  private readonly rooms = new Map<string, string>();
  private readonly seenBytes = new Map<string, number>();
  private timer: NodeJS.Timeout | undefined;
  private stopped = false;

  constructor(options: DeskRelayOptions) {
    this.options = options;
    const { store, coreSecret, ownOrigins, logger, clock } = options;
    const onAnswer: HandoffOutboxOptions['onAnswer'] = (callId, answer) => options.tellSlot(callId, answer);
    this.outbox = new HandoffOutbox({ store, coreSecret, ownOrigins, onAnswer, logger, clock });
  }

  /** Takes up what an earlier main left, and begins to watch the calls that outlived it. */
  async start(): Promise<void> {
    for await (const row of this.outbox.handoffs()) {
      const isForgotten = Date.now() - row.createdAtMs > ROOM_MEMORY_MS;
      if (row.room && !isForgotten) this.rooms.set(row.room.name, row.callId);
      else if (row.room || row.isFolderDone) await this.outbox.change(row.callId, () => ({ room: null }));
    }
    await this.outbox.queue.start();
    this.watchOrphans();
  }

  /** Handoffs of which the desk has not taken everything yet; for the health. */
  get pending(): number {
    return this.outbox.queue.pending().lanes;
  }

  /** Whether waiting a little longer may still bring something to the desk. */
  get active(): boolean {
    return this.taking.size > 0 || this.outbox.queue.isActive;
  }

  async stop(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.timer);
    await Promise.all(this.taking.values());
    await this.outbox.queue.stop();
  }

  /** A slot says that notes lie in its folder. Never rejects: what cannot be taken now is taken with the folder. */
  async heard(callId: string): Promise<void> {
    while (this.taking.has(callId)) await this.taking.get(callId);
    if (this.stopped) return;
    const folder = join(this.options.spoolFolder, callId);
    const work = this.takeFolder(callId, folder, { isFolderDone: false, isDead: false })
      .catch((error: unknown) => {
        this.options.logger.error(
          { call_id: callId, err: describeError(error) },
          'notes for the agent desk could not be taken; they are taken with the folder of the call',
        );
      })
      .finally(() => this.taking.delete(callId));
    this.taking.set(callId, work);
    await work;
  }

  /**
   * Before a call's folder goes: takes what is left in it. `isDead`: its slot did not live to finish the call, so that
   * a caller who still waited for a person has lost the line, and the desk is told. Rejects with `store_unavailable`;
   * the folder must stay then.
   */
  async takeAll(callId: string, folder: string, { isDead }: { isDead: boolean }): Promise<void> {
    await this.taking.get(callId);
    this.seenBytes.delete(callId);
    if (existsSync(join(folder, HANDOFF_FILE))) {
      await this.takeFolder(callId, folder, { isFolderDone: true, isDead });
    }
  }

  /** What the media server tells of a room that a slot has left to an agent; of any other it is ignored. Never rejects. */
  async onRoomEvent(told: RoomEvent): Promise<void> {
    const callId = this.rooms.get(told.room);
    if (callId === undefined || this.stopped) return;
    try {
      await this.noteRoomEvent(callId, told);
    } catch (error) {
      this.options.logger.error(
        { call_id: callId, event: told.event, err: describeError(error) },
        'the agent desk cannot be told of an event of a room',
      );
    }
  }

  private async noteRoomEvent(callId: string, told: RoomEvent): Promise<void> {
    const row = await this.outbox.change(
      callId,
      // After the customer has left nothing more is the worker's to tell.
      (standing) => (isCustomersEnd(standing, told) ? { room: null } : {}),
      (standing) => roomNote(standing, told),
    );
    if (row?.room === null) this.rooms.delete(told.room);
  }

  private async takeFolder(
    callId: string,
    folder: string,
    how: { isFolderDone: boolean; isDead: boolean },
  ): Promise<void> {
    const notes = await readNotes(folder);
    const takenSeq = this.outbox.row(callId)?.takenSeq ?? 0;
    const isStranded = how.isDead && notes.length > 0 && !isOver(notes);
    // The slot has left the caller to an agent: by going, or by dying where it only recorded the two (D-45).
    const isLeft = isStranded
      ? isWithAgent(notes)
      : notes.some((note) => note.seq > takenSeq && isBotLeft(note));
    const room = isLeft ? roomOf(notes) : null;
    const isCut = isStranded && !isLeft;
    await this.outbox.take(
      callId,
      notes,
      { ...(how.isFolderDone ? { isFolderDone: true } : {}), ...(room ? { room } : {}) },
      isCut ? (seq) => cutNote(callId, notes[0]?.origin ?? '', seq) : null,
    );
    if (room) this.rooms.set(room.name, callId);
  }

  private watchOrphans(): void {
    if (this.stopped) return;
    this.timer = setTimeout(() => {
      void this.lookAtOrphans().finally(() => this.watchOrphans());
    }, LOOK_EVERY_MS);
  }

  private async lookAtOrphans(): Promise<void> {
    for (const callId of this.options.orphanCalls()) {
      const path = join(this.options.spoolFolder, callId, HANDOFF_FILE);
      const bytes = await stat(path).then(
        ({ size }) => size,
        () => 0,
      );
      if (bytes === (this.seenBytes.get(callId) ?? 0)) continue;
      this.seenBytes.set(callId, bytes);
      await this.heard(callId);
    }
  }
}

/** Who waited for a person has lost the line with the slot. */
function cutNote(callId: string, origin: string, seq: number): DeskNote {
  const body = { reason: 'slot_died', at: isoNow() };
  return { v: SPOOL_VERSION, seq, kind: 'customer_disconnected', origin, callId, body };
}

/** Whether the notes say themselves what became of the customer. */
function isOver(notes: readonly DeskNote[]): boolean {
  return notes.some((note) => note.kind === 'customer_disconnected' || isBotLeft(note));
}

function isBotLeft(note: DeskNote): boolean {
  return note.kind === 'event' && note.body.event === 'bot_left';
}

/** Whether a caller who is in the room themselves has an agent there. */
function isWithAgent(notes: readonly DeskNote[]): boolean {
  const last = notes.findLast((note) => note.kind === 'event' && note.body.event.startsWith('participant_'));
  const enqueue = notes.find((note) => note.kind === 'enqueue');
  const isBridge = enqueue?.body.caller.identity.startsWith(BRIDGED_CALLER_PREFIX) ?? true;
  return !isBridge && last?.kind === 'event' && last.body.event === 'participant_joined';
}

function roomOf(notes: readonly DeskNote[]): HandoffRow['room'] {
  const enqueue = notes.find((note) => note.kind === 'enqueue');
  if (!enqueue) return null;
  const { room, caller } = enqueue.body;
  return { name: room, customer: caller.identity, origin: enqueue.origin };
}

function isCustomersEnd(row: HandoffRow, told: RoomEvent): boolean {
  if (told.event === 'room_finished') return true;
  return told.event === 'participant_left' && told.identity === row.room?.customer;
}

function roomNote({ callId, room, nextOwnSeq: seq }: HandoffRow, told: RoomEvent): DeskNote | null {
  if (!room) return null;
  const note = { v: SPOOL_VERSION, seq, origin: room.origin, callId };
  const at = isoNow();
  const { event, identity } = told;
  if (event === 'participant_left' && identity === room.customer) {
    return { ...note, kind: 'customer_disconnected', body: { reason: 'hangup', at } };
  }
  if (event === 'room_finished') {
    return { ...note, kind: 'event', body: { event: 'room_closed', at } };
  }
  if (!identity.startsWith(AGENT_PREFIX)) return null;
  if (event !== 'participant_joined' && event !== 'participant_left') return null;
  return { ...note, kind: 'event', body: { event, at, data: { identity } } };
}
