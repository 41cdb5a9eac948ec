import { closeSync, readdirSync, readlinkSync, realpathSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo, Socket } from 'node:net';
import { join } from 'node:path';
import type { WebSocket } from 'ws';
import type { MainToSlot, SlotCall, SlotInit, SlotRoomCall } from '../contracts/slot-messages.ts';
import { SLOT_MESSAGES_VERSION } from '../contracts/versions.ts';
import { describeError } from '../platform/app-error.ts';
import { audioKernels } from '../platform/audio-kernels.ts';
import { monotonicMs, within } from '../platform/clock.ts';
import { createLogger } from '../platform/logger.ts';
import { loadModelPath } from '../platform/model-files.ts';
import type { CallTools, RunningCall } from './call/hold-call.ts';
import { runRoomCall } from './call/room-call.ts';
import { runCall } from './call/run-call.ts';
import { TurnModel } from './listen/turn-model.ts';
import { VoiceActivity } from './listen/voice-activity.ts';
import { startProviderHealthLink } from './main-link/provider-health-link.ts';
import { fromMain, Heartbeat, tellMain } from './main-link/slot-channel.ts';
import { orderBehindSignal } from './process/hangup-order.ts';
import { leaveProcess } from './process/leave-process.ts';
import { speakableOptions, toSpeakable } from './speak/text/to-speakable.ts';
import { acceptSocket } from './transport/accept-socket.ts';
import { TelephonyTransport } from './transport/telephony-transport.ts';
import type { EndVerdict } from './wrap-up/end-arbiter.ts';

/**
 * A slot: one process, one call at a time. Main tells it what it needs to know, hands it sockets, and may vanish at
 * any moment; a call that runs then goes on to its end, leaves its spool, and the slot leaves with it (D-2).
 */
const WARM_UP_BOUND_MS = 2_000;
/** Said to nobody: the rules that put text into words are compiled when a line first meets them, which takes 80 ms. */
const WARM_UP_LINES = [
  ['en', 'Hello, how can I help you today? It is 10:30 on 5 May, and Rs. 500 are due.'],
  ['hi', 'नमस्ते, मैं आपकी क्या मदद करूँ? आज 5 मई है, सुबह के 10:30 बजे हैं, और ₹500 बाकी हैं।'],
] as const;

let tools: CallTools | undefined;
let current: { callId: string; running: RunningCall | undefined } | undefined;
let leaving = false;

process.on('message', (message: MainToSlot, socket?: Socket) => {
  if (message.v !== SLOT_MESSAGES_VERSION) {
    process.stderr.write(
      `slot ${process.pid}: main speaks version ${message.v} of the slot messages, this slot ${SLOT_MESSAGES_VERSION}; restart the appliance after an upgrade\n`,
    );
    void leaveProcess(1);
    return;
  }
  switch (message.type) {
    case 'init':
      prepare(message).catch((error) => {
        process.stderr.write(`slot ${process.pid}: cannot start: ${describeError(error)}\n`);
        void leaveProcess(1);
      });
      return;
    case 'call':
      void takeCall(message, socket);
      return;
    case 'room_call':
      void takeRoomCall(message);
      return;
    case 'hangup':
      if (current?.callId === message.callId)
        current.running?.order({ cause: message.cause ?? 'host', reason: message.reason });
      return;
    case 'leave':
      leaving = true;
      leaveWhenIdle();
      return;
    default:
      fromMain(message);
  }
});

process.on('disconnect', () => {
  leaving = true;
  leaveWhenIdle();
});

// A Ctrl-C at main's terminal is main's to answer; a SIGTERM of its own means that this process has to go.
process.on('SIGINT', () => undefined);
process.on('SIGTERM', () => {
  leaving = true;
  if (tools && current?.running) current.running.order(orderBehindSignal(tools.init.dataDir, current.callId));
  leaveWhenIdle();
});

async function prepare(init: SlotInit): Promise<void> {
  const startedAtMs = monotonicMs();
  const logger = createLogger({ level: init.logLevel, role: 'slot', slot: init.slotId });
  closeInherited(join(init.dataDir, 'store'));
  audioKernels();
  const vadPath = await loadModelPath('silero-vad', init.modelDir);
  const vad = await VoiceActivity.create(vadPath);
  let turnModel: TurnModel | null = null;
  let turnState: 'ready' | 'missing' | 'off' = 'off';
  if (init.turnModel === 'slot') {
    try {
      turnModel = await TurnModel.start({
        modelPath: await loadModelPath('smart-turn', init.modelDir),
        onDied: (error) =>
          logger.error({ err: describeError(error) }, 'the turn model died; the silence rule decides'),
      });
      turnState = 'ready';
    } catch (error) {
      turnState = 'missing';
      logger.warn({ err: describeError(error) }, 'no turn model; the silence rule decides');
    }
  }
  const providerHealth = startProviderHealthLink();
  tools = { init, vad, turnModel, providerHealth, heartbeat: new Heartbeat(), logger };
  tools.heartbeat.startTimer(() => current?.callId ?? null);
  await within(warmUpgradePath(), WARM_UP_BOUND_MS, undefined);
  for (const [language, text] of WARM_UP_LINES) toSpeakable(text, speakableOptions(language));
  tellMain({
    type: 'ready',
    models: { 'silero-vad': 'ready', 'smart-turn': turnState },
    warmupMs: Math.round(monotonicMs() - startedAtMs),
  });
}

async function takeCall(call: SlotCall, socket: Socket | undefined): Promise<void> {
  if (!socket || !tools || current) {
    // The caller left on the way here, or main and slot disagree about who is free: nothing of the call exists yet.
    socket?.destroy();
    if (!current) tellMain({ type: 'finished', callId: call.callId, hasResult: false, disconnectedBy: null });
    return;
  }
  await serve(
    call.callId,
    tools,
    (lent, onRunning) => runCall(call, socket, lent, onRunning),
    () => socket.destroy(),
  );
}

async function takeRoomCall(call: SlotRoomCall): Promise<void> {
  if (!tools || current) return;
  await serve(
    call.callId,
    tools,
    (lent, onRunning) => runRoomCall(call, lent, onRunning),
    () => undefined,
  );
}

/** One call from its beginning to its end. `drop` is for a defect that left its line standing. */
async function serve(
  callId: string,
  lent: CallTools,
  run: (lent: CallTools, onRunning: (running: RunningCall) => void) => Promise<EndVerdict | null>,
  drop: () => void,
): Promise<void> {
  current = { callId, running: undefined };
  let verdict: EndVerdict | null = null;
  try {
    verdict = await run(lent, (running) => {
      if (current) current.running = running;
    });
  } catch (error) {
    lent.logger.error({ call_id: callId, err: describeError(error) }, 'the call failed');
    drop();
  }
  current = undefined;
  tellMain({
    type: 'finished',
    callId,
    hasResult: verdict !== null,
    disconnectedBy: verdict?.disconnectedBy ?? null,
  });
  if (leaving || !process.connected) leaveWhenIdle();
}

function leaveWhenIdle(): void {
  if (!current) void leaveProcess(0);
}

const ws = createRequire(import.meta.url)('ws') as { WebSocket: typeof WebSocket };

/**
 * Runs one dummy handshake and a few frames through the real code at slot start, which takes 3 ms off the first
 * caller's set-up. Resolves once done; a failure only means a cold first call.
 */
async function warmUpgradePath(): Promise<void> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const done = new Promise<void>((resolve) => {
    server.on('upgrade', (request: IncomingMessage, line: Socket, head: Buffer) => {
      const call = {
        request: {
          method: 'GET',
          url: '/ws/warm-up',
          headers: request.headers as Record<string, string>,
          rawHeaders: request.rawHeaders,
        },
        head: head.toString('base64'),
      };
      void acceptSocket(call, line).then(async (socket) => {
        if (socket) {
          const transport = new TelephonyTransport(socket, line, { event: 'connected' });
          transport.sendAudio(new Int16Array(160));
          transport.sendMark('warm-up');
          await transport.hangUp('warm-up');
        }
        resolve();
      });
    });
  });
  const { port } = server.address() as AddressInfo;
  const client = new ws.WebSocket(`ws://127.0.0.1:${port}/ws/warm-up`, { perMessageDeflate: false });
  client.on('error', () => undefined);
  await done;
  client.terminate();
  server.close();
}

/**
 * Closes descriptors that a fork of main left open on files below `folder`. LMDB opens its data file without
 * close-on-exec, so a slot would hold a writable descriptor of a store that is none of its business (D-6).
 */
function closeInherited(folder: string): void {
  let real: string;
  try {
    real = realpathSync(folder);
  } catch {
    return;
  }
  for (const name of readdirSync('/proc/self/fd')) {
    const descriptor = Number(name);
    try {
      if (readlinkSync(`/proc/self/fd/${name}`).startsWith(`${real}/`)) closeSync(descriptor);
    } catch {
      // The descriptor that read the folder itself is gone by now.
    }
  }
}
