import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { FleetWorker } from '../../contracts/fleet.ts';
import { HANDOFF_FILE } from '../../contracts/handoff.ts';
import { type HangupOrder, OVERRUN } from '../../contracts/hangup-orders.ts';
import { CONFIG_TIMEOUT_MS, CONNECTED_TIMEOUT_MS, HUNG_AFTER_MS } from '../../contracts/limits.ts';
import type { SpoolOwner } from '../../contracts/spool.ts';
import { describeError } from '../../platform/app-error.ts';
import { monotonicMs } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logger.ts';
import { isAlive } from '../../platform/process-identity.ts';
import type { SalvageCause } from '../outbox/salvage.ts';
import { noteHangup } from './hangup-note.ts';
import { reportHungProcess } from './hung-report.ts';
import { type EndBounds, ROOM_WAIT_MS } from './progress-watch.ts';
import { ownerTouchedAtMs, readFolderFacts, readJournalCall } from './spool-owner.ts';

/** How often known orphans are looked at. */
const POLL_EVERY_MS = 500;
/** How often the spool is searched: for orphans that made their folder late, and for intakes that failed. */
const SWEEP_EVERY_MS = 5_000;
/** A folder without an owner may be one that a slot is just making; after this it is not. */
const OWNERLESS_AFTER_MS = 60_000;

export interface OrphanCallsOptions {
  spoolFolder: string;
  reportsFolder: string;
  bounds: EndBounds;
  /** Whether a slot of this main has this call now. */
  isLeased(callId: string): boolean;
  /** Whether this process is a slot of this main. */
  isOwnProcess(pid: number): boolean;
  intake: {
    isKnown(callId: string): boolean;
    /** `room` is where the dead call stood, null where it had none. */
    take(callId: string, cause: SalvageCause, room: string | null): void;
    leaveForeign(callId: string, detail: string): void;
  };
  /** The number of orphans has changed. */
  onChange(): void;
  logger: Logger;
}

interface Orphan {
  callId: string;
  owner: SpoolOwner;
  /** Null until its journal names it. */
  sessionId: string | null;
  touchedAtMs: number;
  /** Monotonic time when the owner file was last seen to move. Wall clocks may jump; this cannot. */
  movedAtMs: number;
  deadlineWallMs: number | null;
  toldToHangUpAtMs: number | null;
  killing: boolean;
  cause: SalvageCause;
}

/**
 * Calls that outlived the main that started them (D-7). We have no channel to them, only their spool folder
 * and signals: the owner file's time is their heartbeat, SIGTERM asks for a hang-up, SIGKILL ends.
 */
export class OrphanCalls {
  private readonly options: OrphanCallsOptions;
  private readonly orphans = new Map<string, Orphan>();
  private timers: NodeJS.Timeout[] = [];
  private stopped = false;

  constructor(options: OrphanCallsOptions) {
    this.options = options;
  }

  get count(): number {
    return this.orphans.size;
  }

  has(callId: string): boolean {
    return this.orphans.has(callId);
  }

  /** The call that stands in this room. */
  inRoom(roomName: string): string | null {
    for (const { callId, owner } of this.orphans.values()) if (owner.room === roomName) return callId;
    return null;
  }

  /** Whether one of these calls has the session. */
  hasSession(sessionId: string): boolean {
    return [...this.orphans.values()].some((orphan) => orphan.sessionId === sessionId);
  }

  /** The call in this room with the session that its config named; null for a room without one. */
  async sessionInRoom(
    roomName: string,
  ): Promise<{ callId: string; sessionId: string | null; workerId: string } | null> {
    const callId = this.inRoom(roomName);
    const orphan = this.orphans.get(callId ?? '');
    if (!orphan) return null;
    const { sessionId, owner } = orphan;
    return {
      callId: orphan.callId,
      sessionId: sessionId ?? (await this.readSession(orphan.callId)),
      workerId: `orphan-${owner.pid}`,
    };
  }

  private async readSession(callId: string): Promise<string | null> {
    return (await readJournalCall(join(this.options.spoolFolder, callId)))?.sessionId ?? null;
  }

  /** Asks the slot to end the call now. False where there is no such orphan. */
  hangUp(callId: string, order: HangupOrder): boolean {
    const orphan = this.orphans.get(callId);
    if (!orphan) return false;
    orphan.toldToHangUpAtMs ??= monotonicMs();
    void this.tellToEnd(orphan, order);
    return true;
  }

  workers(): FleetWorker[] {
    return [...this.orphans.values()].map(({ callId, owner }) => ({
      id: `orphan-${owner.pid}`,
      state: 'orphan',
      pid: owner.pid,
      call_id: callId,
      bot_id: owner.botId,
      ...(owner.room === undefined ? {} : { room_name: owner.room }),
      since: owner.createdAt,
      rss_bytes: null,
      version: owner.version,
    }));
  }

  /** Searches the spool once, then keeps watching until {@link stop}. */
  async start(): Promise<void> {
    await this.sweep();
    this.repeat(POLL_EVERY_MS, () => this.poll());
    this.repeat(SWEEP_EVERY_MS, () => this.sweep());
  }

  stop(): void {
    this.stopped = true;
    for (const timer of this.timers) clearTimeout(timer);
  }

  /** Sorts every folder of the spool: a call of ours, an orphan, or something to take in. */
  async sweep(): Promise<void> {
    for (const callId of await readdir(this.options.spoolFolder)) {
      const { intake } = this.options;
      if (this.orphans.has(callId) || this.options.isLeased(callId) || intake.isKnown(callId)) continue;
      const facts = await readFolderFacts(join(this.options.spoolFolder, callId));
      // Reading took a moment; the call may have become one of ours meanwhile.
      if (!facts || this.stopped || this.options.isLeased(callId)) continue;
      if (facts.kind === 'foreign') {
        intake.leaveForeign(callId, `spool version ${String(facts.version)}`);
      } else if (facts.kind === 'ownerless') {
        if (facts.finished || facts.ageMs > OWNERLESS_AFTER_MS) intake.take(callId, 'slot_died', null);
      } else if (isAlive(facts.owner) && !this.options.isOwnProcess(facts.owner.pid)) {
        this.adopt(callId, facts.owner, facts.ownerTouchedAtMs, await this.readSession(callId));
      } else {
        intake.take(callId, 'slot_died', facts.owner.room ?? null);
      }
    }
  }

  private adopt(callId: string, owner: SpoolOwner, touchedAtMs: number, sessionId: string | null): void {
    this.orphans.set(callId, {
      callId,
      owner,
      sessionId,
      touchedAtMs,
      movedAtMs: monotonicMs(),
      deadlineWallMs: null,
      toldToHangUpAtMs: null,
      killing: false,
      cause: 'slot_died',
    });
    this.options.logger.info(
      { call_id: callId, slot_pid: owner.pid, version: owner.version },
      'a call of an earlier main goes on; it counts against SLOTS until it ends',
    );
    this.options.onChange();
  }

  private async poll(): Promise<void> {
    for (const orphan of [...this.orphans.values()]) {
      if (!isAlive(orphan.owner)) {
        // Read again: a call on a socket gets its room only when it is handed over.
        const facts = await readFolderFacts(join(this.options.spoolFolder, orphan.callId));
        const room = facts?.kind === 'owned' ? facts.owner.room : orphan.owner.room;
        this.orphans.delete(orphan.callId);
        this.options.logger.info(
          { call_id: orphan.callId, slot_pid: orphan.owner.pid },
          'an orphan has left',
        );
        this.options.intake.take(orphan.callId, orphan.cause, room ?? null);
        this.options.onChange();
      } else {
        await this.watch(orphan);
      }
    }
  }

  /** The two promises that main keeps for its own slots too: no hung call, no endless call. */
  private async watch(orphan: Orphan): Promise<void> {
    if (orphan.killing) return;
    const folder = join(this.options.spoolFolder, orphan.callId);
    const touchedAtMs = await ownerTouchedAtMs(folder);
    const nowMs = monotonicMs();
    orphan.sessionId ??= await this.readSession(orphan.callId);
    if (touchedAtMs !== null && touchedAtMs !== orphan.touchedAtMs) {
      orphan.touchedAtMs = touchedAtMs;
      orphan.movedAtMs = nowMs;
    }
    if (nowMs - orphan.movedAtMs > HUNG_AFTER_MS) {
      this.kill(orphan, 'an orphan does not answer; it is dumped and killed');
      return;
    }
    if (orphan.toldToHangUpAtMs !== null) {
      if (nowMs - orphan.toldToHangUpAtMs > this.options.bounds.hangupToKillMs)
        this.kill(orphan, 'an orphan does not hang up');
      return;
    }
    const deadlineWallMs = await this.deadlineOf(orphan, folder);
    if (Date.now() > deadlineWallMs + this.options.bounds.overrunGraceMs) {
      orphan.toldToHangUpAtMs = nowMs;
      this.options.logger.warn(
        { call_id: orphan.callId },
        'an orphan is over its maximum duration; it is ended',
      );
      await this.tellToEnd(orphan, OVERRUN);
    }
  }

  /** A signal says only that the call is to end; why lies in its folder before it comes. */
  private async tellToEnd({ callId, owner }: Orphan, order: HangupOrder): Promise<void> {
    await noteHangup(this.options.spoolFolder, callId, order);
    signal(owner, 'SIGTERM');
  }

  /** When the call should be over, in wall-clock ms; without a session only the set-up may take time. */
  private async deadlineOf(orphan: Orphan, folder: string): Promise<number> {
    // Once the agent desk has the call, no maximum duration ends it (D-44).
    if (await exists(join(folder, HANDOFF_FILE))) return Number.POSITIVE_INFINITY;
    if (orphan.deadlineWallMs === null) {
      const waitMs = orphan.owner.room === undefined ? 0 : ROOM_WAIT_MS;
      const call = await readJournalCall(folder);
      if (!call)
        return Date.parse(orphan.owner.createdAt) + CONNECTED_TIMEOUT_MS + CONFIG_TIMEOUT_MS + waitMs;
      orphan.deadlineWallMs = Date.parse(call.startedAt) + call.maxCallSeconds * 1000 + waitMs;
    }
    return orphan.deadlineWallMs;
  }

  private kill(orphan: Orphan, why: string): void {
    orphan.killing = true;
    orphan.cause = 'slot_hung';
    this.options.logger.error({ call_id: orphan.callId, slot_pid: orphan.owner.pid }, why);
    void reportHungProcess(orphan.owner.pid, orphan.callId, this.options.reportsFolder).finally(() =>
      signal(orphan.owner, 'SIGKILL'),
    );
  }

  /** Runs `action` again and again, never twice at once. */
  private repeat(everyMs: number, action: () => Promise<void>): void {
    const slot = this.timers.length;
    const run = () => {
      action()
        .catch((error: unknown) =>
          this.options.logger.error({ err: describeError(error) }, 'the spool cannot be searched'),
        )
        .finally(() => {
          if (!this.stopped) this.timers[slot] = setTimeout(run, everyMs);
        });
    };
    this.timers.push(setTimeout(run, everyMs));
  }
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

/** Signals exactly this process: the pid may have been given away since it was last looked at. */
function signal(owner: SpoolOwner, name: NodeJS.Signals): void {
  if (!isAlive(owner)) return;
  try {
    process.kill(owner.pid, name);
  } catch {
    // It ended between the look and the signal.
  }
}
