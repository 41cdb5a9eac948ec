import { DeepgramClient } from '@deepgram/sdk';
import { startDeepgram } from './deepgram.ts';
import { startFlux } from './deepgram-flux.ts';
import {
  closing,
  GOLDEN_KEY,
  GOLDEN_WORDS,
  GoldenInbox,
  type GoldenRun,
  type GoldenStep,
  goldenFrames,
  goldenRun,
} from './golden-run.ts';
import type { ScriptStep } from './kit/script.ts';

type Settings = Record<string, string | number | string[]>;

/**
 * Deepgram's SDK at `/v1/listen`. `settings` is the query as our client would send it; the SDK leaves out what it does
 * not know. With a `scene` it sends audio and what the scene asks for, and hears it to its end.
 */
export async function goldenDeepgram(
  settings: Settings,
  steps: readonly GoldenStep[] = ['speak', 'keepalive', 'finalize', 'close'],
  scene?: readonly ScriptStep[],
): Promise<GoldenRun> {
  const emulator = await startDeepgram({ key: GOLDEN_KEY, hearing: { words: GOLDEN_WORDS } });
  const inbox = new GoldenInbox();
  if (scene) emulator.control.script(closing(scene));
  return goldenRun(emulator, inbox, async () => {
    const connection = await client(emulator.wsUrl).listen.v1.connect({
      ...settings,
      reconnectAttempts: 0,
    } as never);
    connection.on('message', inbox.take);
    connection.on('close', inbox.close);
    connection.connect();
    await connection.waitForOpen();
    if (scene) {
      for (const frame of goldenFrames(8_000, 20, 0)) connection.sendMedia(frame);
      if (wants(scene, 'Finalize')) connection.sendFinalize({ type: 'Finalize' });
      await inbox.untilClosed();
    }
    for (const step of scene ? [] : steps) {
      if (step === 'speak') {
        for (const frame of goldenFrames(Number(settings.sample_rate), 20, 600)) connection.sendMedia(frame);
        await inbox.until((message) => message.type === 'Results' && message.is_final === true);
      } else if (step === 'keepalive') {
        connection.sendKeepAlive({ type: 'KeepAlive' });
      } else if (step === 'finalize') {
        connection.sendFinalize({ type: 'Finalize' });
        await inbox.until((message) => message.from_finalize === true);
      } else if (step === 'close') {
        connection.sendCloseStream({ type: 'CloseStream' });
        await inbox.until((message) => message.type === 'Metadata');
        await inbox.untilClosed();
      }
    }
    connection.close();
  });
}

/** Deepgram's SDK at `/v2/listen`. */
export async function goldenFlux(
  settings: Settings,
  steps: readonly GoldenStep[] = ['speak', 'configure', 'close'],
  scene?: readonly ScriptStep[],
): Promise<GoldenRun> {
  const emulator = await startFlux({
    key: GOLDEN_KEY,
    hearing: { words: GOLDEN_WORDS },
    connectedAfterMs: 50,
  });
  const inbox = new GoldenInbox();
  if (scene) emulator.control.script(closing(scene));
  return goldenRun(emulator, inbox, async () => {
    const connection = await client(emulator.wsUrl).listen.v2.connect({
      ...settings,
      reconnectAttempts: 0,
    } as never);
    connection.on('message', inbox.take);
    connection.on('close', inbox.close);
    connection.connect();
    await connection.waitForOpen();
    await inbox.until((message) => message.type === 'Connected');
    if (scene) {
      for (const frame of goldenFrames(8_000, 80, 0)) connection.sendMedia(frame);
      if (wants(scene, 'ForceEndTurn')) connection.sendForceEndTurn({ type: 'ForceEndTurn' });
      await inbox.untilClosed();
    }
    for (const step of scene ? [] : steps) {
      if (step === 'speak') {
        for (const frame of goldenFrames(Number(settings.sample_rate), 80, 1_500))
          connection.sendMedia(frame);
        await inbox.until((message) => message.event === 'EndOfTurn');
      } else if (step === 'configure') {
        connection.sendConfigure({ type: 'Configure', thresholds: { eot_threshold: 0.8 } });
        await inbox.until((message) => message.type === 'ConfigureSuccess');
      } else if (step === 'close') {
        connection.sendCloseStream({ type: 'CloseStream' });
        await inbox.untilClosed();
      }
    }
    connection.close();
  });
}

function wants(scene: readonly ScriptStep[], type: string): boolean {
  return scene.some((step) => 'expect' in step && step.expect.type === type);
}

function client(url: string): DeepgramClient {
  const http = url.replace(/^ws/, 'http');
  return new DeepgramClient({
    apiKey: GOLDEN_KEY,
    environment: { base: http, production: url, agent: url, agentRest: http },
  } as never);
}
