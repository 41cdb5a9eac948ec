import { describeError } from '../../platform/app-error.ts';
import { monotonicMs } from '../../platform/clock.ts';
import type { KeyValueStore, Table } from '../../platform/key-value-store.ts';
import { type Logger, maskNumber } from '../../platform/logger.ts';
import { MediaServer } from '../../platform/media-server.ts';
import { newId } from '../../platform/secret-token.ts';
import type { SecretBox } from '../settings/secret-box.ts';
import type { SystemSettings } from '../settings/system-settings.ts';
import { mediaAccess } from './media-access.ts';
import type { NumberStore } from './number-store.ts';
import { syncPass, type TrunkOutcome, type WantedTrunk } from './sync-pass.ts';
import { type SyncState, type Trunk, takesCalls } from './trunk.ts';
import type { TrunkStore } from './trunk-store.ts';

/** What is known of our trunks in the media server. */
export interface SyncedTrunks {
  /** Null where the trunk is not in the media server at `url`. */
  outboundId(trunkId: string, url: string): string | null;
  state(trunk: Trunk): SyncState;
}

/** Keeps the media server's trunks as they stand here: after each change, and every minute against drift. */
export interface TrunkSync extends SyncedTrunks {
  start(): void;
  /** Something has changed: looks soon. */
  wake(): void;
  /** The media server of the settings is at `url`; looks soon where that is news. */
  noteServer(url: string): void;
  /** One pass now; resolves when it is over, whatever came of it. */
  run(): Promise<void>;
  stop(): Promise<void>;
}

export interface TrunkSyncParts {
  store: KeyValueStore;
  trunks: TrunkStore;
  numbers: NumberStore;
  box: SecretBox;
  settings: () => Promise<SystemSettings>;
  logger: Logger;
  nowIso: () => string;
}

/** What somebody has changed by hand in the media server is put right within this. */
const SYNC_EVERY_MS = 60_000;
/** Several changes in a row are one pass. */
const WAKE_AFTER_MS = 50;
/** A server that is away is asked again after this. */
const RETRY_MS = 5_000;

/** A row outlives the process, so that calls can be dialled at once after a start. */
interface SyncRow {
  /** Of the media server that the ids belong to. */
  url: string;
  inbound_id: string | null;
  outbound_id: string | null;
  error: string | null;
  /** Version of the trunk that was brought there. */
  version: number;
  at: string;
}

export function createTrunkSync(parts: TrunkSyncParts): TrunkSync {
  return new MediaTrunkSync(parts);
}

class MediaTrunkSync implements TrunkSync {
  private readonly parts: TrunkSyncParts;
  private readonly table: Table<SyncRow>;
  private readonly installations: Table<string>;
  private readonly rows = new Map<string, SyncRow>();
  private problem: 'not_configured' | 'unreachable' | null = null;
  private unreachable = '';
  /** Of the server that was looked at last, whatever came of it. */
  private url: string | null = null;
  private timer: NodeJS.Timeout | null = null;
  private dueMs = 0;
  private running: Promise<void> | null = null;
  private again = false;
  private started = false;
  private lastLogged = '';

  constructor(parts: TrunkSyncParts) {
    this.parts = parts;
    this.table = parts.store.table('sip-trunk-sync');
    this.installations = parts.store.table('media-installation');
    for (const { key, value } of this.table.range({ limit: MAX_ROWS })) this.rows.set(String(key), value);
  }

  outboundId(trunkId: string, url: string): string | null {
    const row = this.rows.get(trunkId);
    return row?.url === url ? row.outbound_id : null;
  }

  state(trunk: Trunk): SyncState {
    const row = this.rows.get(trunk.id);
    const ids = {
      inbound_trunk_id: row?.inbound_id ?? null,
      outbound_trunk_id: row?.outbound_id ?? null,
    };
    const at = row?.at ?? null;
    if (this.problem === 'not_configured') return { state: 'not_configured', at, error: null, ...ids };
    if (this.problem === 'unreachable') {
      return { state: 'waiting', at, error: this.unreachable, ...ids };
    }
    if (!row || row.version !== trunk.version) return { state: 'waiting', at, error: null, ...ids };
    if (row.error !== null) return { state: 'failed', at, error: row.error, ...ids };
    const nothing = row.inbound_id === null && row.outbound_id === null;
    return { state: nothing ? 'off' : 'in_sync', at, error: null, ...ids };
  }

  start(): void {
    this.started = true;
    this.schedule(0);
  }

  wake(): void {
    if (this.started) this.schedule(WAKE_AFTER_MS);
  }

  noteServer(url: string): void {
    if (url !== this.url) this.wake();
  }

  run(): Promise<void> {
    this.again = this.running !== null;
    this.running ??= this.passes().finally(() => {
      this.running = null;
    });
    return this.running;
  }

  async stop(): Promise<void> {
    this.started = false;
    this.again = false;
    if (this.timer) clearTimeout(this.timer);
    await this.running;
  }

  /** The earlier of two wishes counts: the next look of the minute must not put off a change. */
  private schedule(ms: number): void {
    const dueMs = monotonicMs() + ms;
    if (this.timer) {
      if (this.dueMs <= dueMs) return;
      clearTimeout(this.timer);
    }
    this.dueMs = dueMs;
    this.timer = setTimeout(() => {
      this.timer = null;
      void this.run();
    }, ms).unref();
  }

  /** A change that comes while a pass is at work makes another one, so that none is missed. */
  private async passes(): Promise<void> {
    do {
      this.again = false;
      await this.pass();
    } while (this.again);
    if (this.started) this.schedule(this.problem === 'unreachable' ? RETRY_MS : SYNC_EVERY_MS);
  }

  private async pass(): Promise<void> {
    try {
      const access = mediaAccess(await this.parts.settings());
      const wanted = await this.wanted();
      this.url = access?.url ?? null;
      if (access === null) {
        this.problem = 'not_configured';
        return;
      }
      // An installation that never had a trunk has nothing to look for in other people's server.
      if (wanted.length === 0 && this.rows.size === 0) {
        this.problem = null;
        return;
      }
      const installation = await this.installation();
      const server = new MediaServer(access);
      const { outcomes, ruleError, writes } = await syncPass(server.sip, installation, wanted);
      this.problem = null;
      await this.note(access.url, wanted, outcomes, ruleError);
      if (writes > 0) this.log('info', 'the trunks were brought to the media server', { writes });
    } catch (error) {
      this.problem = 'unreachable';
      this.unreachable = `the media server does not answer: ${describeError(error)}`;
      this.log('warn', 'the trunks could not be compared with the media server', {
        err: describeError(error),
      });
    }
  }

  private async wanted(): Promise<WantedTrunk[]> {
    const { trunks, numbers, box } = this.parts;
    const wanted: WantedTrunk[] = [];
    for (const trunk of await trunks.all()) {
      const called = takesCalls(trunk) ? await numbers.ofTrunk(trunk.id) : [];
      wanted.push({
        trunk,
        password: trunk.auth_password === null ? '' : box.open(trunk.auth_password),
        numbers: called.filter((number) => number.enabled).map((number) => number.number),
      });
    }
    return wanted;
  }

  /** Rows are written only when they say something new: a pass a minute must not wear the disk. */
  private async note(
    url: string,
    wanted: readonly WantedTrunk[],
    outcomes: ReadonlyMap<string, TrunkOutcome>,
    ruleError: string | null,
  ): Promise<void> {
    const at = this.parts.nowIso();
    for (const { trunk, numbers } of wanted) {
      const outcome = outcomes.get(trunk.id);
      const answers = takesCalls(trunk) && trunk.enabled && numbers.length > 0;
      const row: SyncRow = {
        url,
        inbound_id: outcome?.inboundId ?? null,
        outbound_id: outcome?.outboundId ?? null,
        error: outcome?.error ?? (answers ? ruleError : null),
        version: trunk.version,
        at,
      };
      const before = this.rows.get(trunk.id);
      this.rows.set(trunk.id, row);
      if (!isSame(before, row)) await this.table.put(trunk.id, row);
      if (row.error !== null && row.error !== before?.error) {
        this.parts.logger.warn(
          { trunk_id: trunk.id, err: withoutNumbers(row.error) },
          'a trunk is not in the media server',
        );
      }
    }
    const kept = new Set(wanted.map(({ trunk }) => trunk.id));
    for (const id of [...this.rows.keys()].filter((id) => !kept.has(id))) {
      this.rows.delete(id);
      await this.table.remove(id);
    }
  }

  private async installation(): Promise<string> {
    const known = this.installations.get('id');
    if (known !== undefined) return known;
    const made = newId('ins_');
    await this.installations.put('id', made);
    return made;
  }

  /** A server that stays away is told of once, and once more when it is back. */
  private log(level: 'info' | 'warn', sentence: string, fields: Record<string, unknown>): void {
    const text = `${level} ${JSON.stringify(fields)}`;
    if (level === 'warn' && text === this.lastLogged) return;
    this.lastLogged = text;
    this.parts.logger[level](fields, sentence);
  }
}

/** What the media server says may name numbers, and a log holds no whole ones. */
function withoutNumbers(text: string): string {
  return text.replace(/\+?\d{6,}/g, maskNumber);
}

/** More than there can be trunks. */
const MAX_ROWS = 1_000;

function isSame(before: SyncRow | undefined, after: SyncRow): boolean {
  if (!before) return false;
  const text = ({ at: _, ...row }: SyncRow) => JSON.stringify(row);
  return text(before) === text(after);
}
