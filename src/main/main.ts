import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FleetHealth } from '../contracts/fleet.ts';
import type { HostSessions } from '../contracts/fleet-sessions.ts';
import { CONFIG_PATH } from '../contracts/http-names.ts';
import type { SlotInit } from '../contracts/slot-messages.ts';
import { SLOT_MESSAGES_VERSION } from '../contracts/versions.ts';
import type { Control } from '../control/control.ts';
import { describeError } from '../platform/app-error.ts';
import { monotonicMs, sleepMs, within } from '../platform/clock.ts';
import { type KeyValueStore, openKeyValueStore } from '../platform/key-value-store.ts';
import type { Logger } from '../platform/logger.ts';
import { loadModelPath } from '../platform/model-files.ts';
import { hostPort, type ListenAddress, type Settings } from '../platform/settings.ts';
import { type DataFolders, makeDataFolders } from './data-folders.ts';
import { fleetHealth } from './fleet-health.ts';
import { DeskRelay } from './handoff/desk-relay.ts';
import { watchHostPressure } from './host-pressure.ts';
import { hostSessions } from './host-sessions.ts';
import { type FleetIngress, openFleetIngress } from './ingress/fleet-ingress.ts';
import { readRecordingKey } from './outbox/recording-links.ts';
import { ResultsOutbox } from './outbox/results-outbox.ts';
import { removeFolder, SpoolIntake } from './outbox/spool-intake.ts';
import { PromptCacheBroker } from './providers/prompt-cache-broker.ts';
import { createPlaneReport } from './providers/prompt-cache-report.ts';
import {
  ProviderHealthTable,
  takeProviderHealth,
  tellProviderHealth,
} from './providers/provider-health-table.ts';
import { RefusedCalls } from './refused-calls.ts';
import { type RoomBounds, type Rooms, startRooms } from './rooms/start-rooms.ts';
import { OrphanCalls } from './slots/orphan-calls.ts';
import { END_BOUNDS, type EndBounds, startProgressWatch } from './slots/progress-watch.ts';
import { RECYCLE_AFTER_CALLS, RECYCLE_AFTER_ROOM_CALLS, SlotPool } from './slots/slot-pool.ts';

/** The ingress opens when a slot is ready, or after this: then it says that the host is full. */
const FIRST_SLOT_MS = 15_000;
/** A stop waits this long for results that are due; the others wait in the outbox for the next start. */
const LAST_DELIVERIES_MS = 5_000;
const LOOK_AGAIN_MS = 50;

export interface Main {
  /** Null where the role has no control plane. */
  controlPort: number | null;
  /** Null where the role has no slots. */
  fleetPort: number | null;
  /** The store was created by this start. */
  freshStore: boolean;
  /** Where the first admin gets an account; null once there is one, or where the role has no control plane. */
  setupUrl: string | null;
  /** The full fleet health; null where the role has no slots. */
  health(): FleetHealth | null;
  /**
   * Drains: new calls get 503, idle slots leave, live calls go on to their end; then everything is closed. With
   * `leaveCalls` the live calls talk on without us (D-2), also in the middle of a drain. Idempotent.
   */
  stop(options?: { leaveCalls?: boolean }): Promise<void>;
}

export interface MainOptions {
  logger: Logger;
  /** Program of a slot; the product's own unless a test brings another. */
  slotEntry?: string;
  /** Shorter or smaller than the product's, where a test cannot wait for those. */
  bounds?: Partial<EndBounds & RoomBounds> & {
    recycleAfterCalls?: number;
    recycleAfterRoomCalls?: number;
  };
}

/**
 * The composition root: what runs in main, in start order, each part with its end. Stopping runs the ends backwards.
 * Throws `bad_setting`, `store_unavailable` or `unknown_version` with a sentence; whatever had started is closed then.
 */
export async function startMain(settings: Settings, options: MainOptions): Promise<Main> {
  const { logger } = options;
  const ends: { name: string; end: () => void | Promise<void> }[] = [];
  const closeAll = async () => {
    for (const { name, end } of ends.splice(0).reverse()) {
      try {
        await end();
      } catch (error) {
        logger.error({ part: name, err: describeError(error) }, 'a part did not close cleanly');
      }
    }
  };
  try {
    if (settings.role !== 'control') await requireModels(settings);
    const folders = await makeDataFolders(settings.dataDir);
    const freshStore = !existsSync(join(folders.store, 'data.mdb'));
    const store = openKeyValueStore(folders.store, { migrates: true });
    ends.push({ name: 'store', end: () => store.close() });

    let control: Control | null = null;
    let fleet: Fleet | null = null;
    if (settings.role !== 'worker') {
      // Loaded on demand: a worker has no use for the HTTP server of the control plane.
      const { startControl } = await import('../control/control.ts');
      const started = await startControl({
        settings,
        store,
        logger,
        recordingsFolder: folders.recordings,
        ownFleetPort: () => fleet?.port ?? null,
        ...(settings.role === 'control' ? {} : { ownSessions: async () => fleet?.sessions() ?? null }),
      });
      ends.push({ name: 'control', end: () => started.close() });
      control = started;
    }
    if (settings.role !== 'control') {
      fleet = await startFleet(settings, options, folders, store, control, ends);
    }

    let stopping: Promise<void> | null = null;
    return {
      controlPort: control?.port ?? null,
      fleetPort: fleet?.port ?? null,
      freshStore,
      setupUrl: control?.setupUrl ?? null,
      health: () => fleet?.health() ?? null,
      stop(how = {}) {
        if (how.leaveCalls) fleet?.abandon();
        stopping ??= (fleet?.drain() ?? Promise.resolve()).then(closeAll);
        return stopping;
      },
    };
  } catch (error) {
    await closeAll();
    throw error;
  }
}

/**
 * Voice activity is what every call hears with; the turn model may be missing, and silence decides then, unless
 * `MODELS=required`. Rejects with `model_missing`.
 */
async function requireModels(settings: Settings): Promise<void> {
  await loadModelPath('silero-vad', settings.modelDir);
  if (settings.models === 'required' && settings.turnModel !== 'off') {
    await loadModelPath('smart-turn', settings.modelDir);
  }
}

interface Fleet {
  port: number;
  health(): FleetHealth;
  sessions(): Promise<HostSessions>;
  drain(): Promise<void>;
  abandon(): void;
}

/** Outbox, spool intake, orphans, slots and the ingress, for the roles that take calls. */
async function startFleet(
  settings: Settings,
  options: MainOptions,
  folders: DataFolders,
  store: KeyValueStore,
  control: Control | null,
  ends: { name: string; end: () => void | Promise<void> }[],
): Promise<Fleet> {
  const { logger } = options;
  const startedAt = new Date().toISOString();
  const init = slotInit(settings, control);
  const bounds = { ...END_BOUNDS, ...options.bounds };
  let draining = false;
  let ingress: FleetIngress | null = null;

  const { coreSecret } = settings;
  const outbox = new ResultsOutbox({ store, coreSecret, ownOrigins: init.ownOrigins, logger });
  ends.push({ name: 'delivery', end: () => outbox.queue.stop() });

  const desk: DeskRelay = new DeskRelay({
    store,
    spoolFolder: folders.spool,
    coreSecret: settings.coreSecret,
    ownOrigins: init.ownOrigins,
    tellSlot(callId, answer) {
      const slot = pool.slots().find(({ call }) => call?.callId === callId);
      slot?.tell({ v: SLOT_MESSAGES_VERSION, type: 'desk_answer', callId, answer });
    },
    orphanCalls: () => orphans.workers().flatMap(({ call_id: callId }) => callId ?? []),
    logger,
  });
  ends.push({ name: 'desk relay', end: () => desk.stop() });

  const linkKey = await readRecordingKey(store);
  const intake = new SpoolIntake({
    spoolFolder: folders.spool,
    recordingsFolder: folders.recordings,
    outbox,
    links: () => ({
      baseUrl: settings.recordingBaseUrl || listeningOrigin(settings.fleetListen, ingress?.port),
      key: linkKey,
      lifeSeconds: settings.recordingLinkHours * 3_600,
    }),
    takeNotes: (callId, folder, how) => desk.takeAll(callId, folder, how),
    onTaken: (row) => outbox.queue.offer(row.callId),
    logger,
  });
  ends.push({ name: 'intake', end: () => intake.stop() });

  const planeReport = createPlaneReport({
    configUrl: init.configUrl,
    coreSecret: settings.coreSecret,
    ownOrigins: init.ownOrigins,
    logger,
  });
  ends.push({ name: 'prompt cache report', end: () => planeReport.stop() });
  const promptCaches = new PromptCacheBroker({
    nowMs: monotonicMs,
    wallMs: Date.now,
    tellPlane: planeReport.tell,
  });

  const providerHealth: ProviderHealthTable = new ProviderHealthTable({
    nowMs: monotonicMs,
    onChange: (providers) => {
      for (const slot of pool.slots()) tellProviderHealth(slot, providers);
    },
  });

  const refusedCalls = new RefusedCalls();
  const pool: SlotPool = new SlotPool({
    size: settings.slots,
    entry: options.slotEntry ?? ownSlotEntry(),
    reportsFolder: folders.reports,
    init: (slotId) => ({ ...init, slotId }),
    recycleAfterCalls: options.bounds?.recycleAfterCalls ?? RECYCLE_AFTER_CALLS,
    recycleAfterRoomCalls: options.bounds?.recycleAfterRoomCalls ?? RECYCLE_AFTER_ROOM_CALLS,
    onFinished: (call) => {
      rooms.finished(call);
      intake.take(call.callId, 'slot_died');
    },
    onDied: (call, cause) => {
      rooms.died(call);
      intake.take(call.callId, cause);
    },
    onNews: (slot, message) => {
      if (message.type === 'provider_outcomes') takeProviderHealth(providerHealth, slot, message.outcomes);
      else if (message.type === 'config_refused') refusedCalls.count(message.error);
      else if (message.type === 'desk_notes') void desk.heard(message.callId);
      else if (message.type === 'room_joined' || message.type === 'room_refused') rooms.hear(message);
      else promptCaches.hear(slot, message);
    },
    onSlotGone: (slot) => {
      promptCaches.forget(slot);
      rooms.slotGone(slot);
    },
    logger,
  });
  ends.push({ name: 'slots', end: () => pool.abandon() });

  const rooms: Rooms = await startRooms({
    settings,
    store,
    spoolFolder: folders.spool,
    plane: control,
    pool,
    orphans: () => orphans,
    isBeingTaken: (callId) => intake.isKnown(callId),
    onRoomEvent: (event) => void desk.onRoomEvent(event),
    bounds: options.bounds ?? {},
    logger,
  });
  ends.push({ name: 'rooms', end: () => rooms.stop() });

  const orphans: OrphanCalls = new OrphanCalls({
    spoolFolder: folders.spool,
    reportsFolder: folders.reports,
    bounds,
    isLeased: (callId) => pool.slots().some((slot) => slot.call?.callId === callId),
    isOwnProcess: (pid) => pool.slots().some((slot) => slot.pid === pid),
    intake: {
      isKnown: (callId) => intake.isKnown(callId),
      leaveForeign: (callId, detail) => intake.leaveForeign(callId, detail),
      take(callId, cause, roomName) {
        rooms.orphanLeft(callId, roomName);
        intake.take(callId, cause);
      },
    },
    onChange: () => pool.fill(orphans.count),
    logger,
  });
  ends.push({ name: 'orphans', end: () => orphans.stop() });
  await startDelivery(outbox, folders.spool);
  // Orphans first: a place that one fills must not get a second process.
  await orphans.start();
  await desk.start();

  pool.fill(orphans.count);
  const watch = startProgressWatch({
    slots: () => pool.slots(),
    reportsFolder: folders.reports,
    bounds,
    logger,
  });
  ends.push({ name: 'progress watch', end: () => watch.stop() });
  const pressure = await watchHostPressure({
    dataDir: folders.root,
    pendingResults: () => outbox.queue.pending().count,
    logger,
  });
  ends.push({ name: 'host pressure', end: () => pressure.stop() });

  const health = (detailed: boolean) =>
    fleetHealth(
      {
        pool,
        orphans,
        draining,
        media: rooms.health(),
        pressure: pressure.current(),
        results: outbox.queue.pending(),
        handoffs: desk.pending,
        providers: providerHealth.entries(),
        foreignFolders: intake.foreignFolders,
        failedFolders: intake.failedFolders,
        refusedCalls: refusedCalls.counts(),
        startedAt,
      },
      detailed,
    );
  const sessions = () =>
    hostSessions({ pool, orphans, spoolFolder: folders.spool, outbox: () => outbox.queue.all() });
  await within(pool.firstReady(), FIRST_SLOT_MS, undefined);
  const open = await openFleetIngress({
    settings,
    pool,
    isDraining: () => draining,
    pressure: () => pressure.current(),
    health,
    consumeTicket: (ticket, botId) => control?.consumeTicket(ticket, botId) ?? false,
    media: () => rooms.media.current()?.access ?? null,
    dialOut: rooms.dialOut,
    rooms: rooms.roomService,
    sessions,
    recordings: { recordingsFolder: folders.recordings, linkKey },
    logger,
  });
  ingress = open;
  ends.push({ name: 'ingress', end: () => open.close() });

  return {
    port: open.port,
    health: () => health(true),
    sessions,
    abandon: () => {
      draining = true;
      pool.abandon();
    },
    async drain() {
      draining = true;
      await pool.drain();
      await intake.settled();
      const until = Date.now() + LAST_DELIVERIES_MS;
      while ((outbox.queue.isActive || desk.active) && Date.now() < until) await sleepMs(LOOK_AGAIN_MS);
    },
  };
}

/**
 * Rows of earlier runs. Where the folder still lies in the spool, an earlier main was killed between the two: the row is
 * the proof that everything of the folder had been taken in, so what is left of it goes, and delivery may start. Must
 * run before anything else looks into the spool.
 */
async function startDelivery({ queue }: ResultsOutbox, spoolFolder: string): Promise<void> {
  for await (const { callId } of queue.all()) {
    const folder = join(spoolFolder, callId);
    if (existsSync(folder)) await removeFolder(folder);
  }
  await queue.start();
}

/** What every slot is told. Its own control plane is reached on loopback, also on one host over HTTP (D-12). */
function slotInit(settings: Settings, control: Control | null): SlotInit {
  const controlOrigin = control === null ? null : listeningOrigin(settings.controlListen, control.port);
  const baseUrl = control?.baseUrl ?? settings.baseUrl;
  const origins = [baseUrl, settings.configUrl, controlOrigin, ...settings.trustedOrigins].flatMap((url) =>
    url ? [new URL(url.replaceAll('{bot_id}', 'bot')).origin] : [],
  );
  return {
    v: SLOT_MESSAGES_VERSION,
    type: 'init',
    slotId: 0,
    dataDir: settings.dataDir,
    modelDir: settings.modelDir,
    turnModel: settings.turnModel,
    logLevel: settings.logLevel,
    configUrl: settings.configUrl || `${controlOrigin}${CONFIG_PATH}`,
    coreSecret: settings.coreSecret,
    ownOrigins: [...new Set(origins)],
    baseUrl: settings.role === 'worker' ? '' : baseUrl,
    ownConfigUrls: control === null ? [] : [`${controlOrigin}${CONFIG_PATH}`, `${baseUrl}${CONFIG_PATH}`],
  };
}

/** Where a process of this machine reaches what listens there; `port` is the real one, where it is known. */
function listeningOrigin({ host, port: wanted }: ListenAddress, port?: number): string {
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `http://${hostPort({ host: reachable, port: port ?? wanted })}`;
}

/** Source runs from source, compiled code from compiled code. */
function ownSlotEntry(): string {
  const file = import.meta.url.endsWith('.ts') ? '../slot/slot.ts' : '../slot/slot.js';
  return fileURLToPath(new URL(file, import.meta.url));
}
