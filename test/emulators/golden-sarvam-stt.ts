import { SarvamAIClient } from 'sarvamai';
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
import { startSarvamStt } from './sarvam-stt.ts';

type Settings = Record<string, string>;

/** Sarvam's SDK at the realtime socket; `settings` is the query, all values as texts. */
export async function goldenSarvam(
  settings: Settings,
  steps: readonly GoldenStep[] = ['speak', 'keepalive', 'configure', 'close'],
  scene?: readonly ScriptStep[],
): Promise<GoldenRun> {
  const emulator = await startSarvamStt({ key: GOLDEN_KEY, hearing: { words: GOLDEN_WORDS } });
  const inbox = new GoldenInbox();
  const isManual = settings.endpointing === 'manual';
  if (scene) emulator.control.script(closing(scene));
  return goldenRun(emulator, inbox, async () => {
    const connection = await withHeaders(async () => {
      const opening = await client(emulator.wsUrl).speechToTextRealtimeStreaming.connect({
        ...settings,
        'Api-Subscription-Key': GOLDEN_KEY,
        reconnectAttempts: 0,
      } as never);
      opening.on('message', inbox.take);
      opening.on('close', inbox.close);
      await opening.waitForOpen();
      return opening;
    });
    await inbox.until((message) => message.event === 'session.begin');
    if (scene) {
      for (const frame of goldenFrames(8_000, 50, 0))
        connection.sendRealtimeAudioInput({ event: 'audio_input', audio: frame.toString('base64') });
      await inbox.untilClosed();
    }
    for (const step of scene ? [] : steps) {
      if (step === 'speak') {
        if (isManual) connection.sendRealtimeSpeechStart({ event: 'speech_start' });
        for (const frame of goldenFrames(Number(settings.sample_rate ?? 16_000), 50, 700))
          connection.sendRealtimeAudioInput({ event: 'audio_input', audio: frame.toString('base64') });
        if (isManual) connection.sendRealtimeSpeechEnd({ event: 'speech_end' });
        await inbox.until((message) => message.event === 'transcript.final');
      } else if (step === 'finalize' && isManual) {
        connection.sendRealtimeFlush({ event: 'flush' });
      } else if (step === 'keepalive') {
        connection.sendRealtimePing({ event: 'ping' });
        await inbox.until((message) => message.event === 'pong');
      } else if (step === 'configure') {
        connection.sendRealtimeConfigUpdate({ event: 'config.update', prompt: 'dates and names' });
        await inbox.until((message) => message.event === 'config.updated');
      } else if (step === 'close') {
        connection.sendRealtimeEnd({ event: 'end' });
        await inbox.until((message) => message.event === 'session.end');
        await inbox.untilClosed();
      }
    }
    connection.close();
  });
}

/** Sarvam's SDK at the legacy socket. */
export async function goldenSarvamLegacy(
  settings: Settings,
  steps: readonly GoldenStep[] = ['speak', 'finalize', 'close'],
): Promise<GoldenRun> {
  const emulator = await startSarvamStt({ key: GOLDEN_KEY, hearing: { words: GOLDEN_WORDS } });
  const inbox = new GoldenInbox();
  return goldenRun(emulator, inbox, async () => {
    const connection = await withHeaders(async () => {
      const opening = await client(emulator.wsUrl).speechToTextStreaming.connect({
        ...settings,
        'Api-Subscription-Key': GOLDEN_KEY,
        reconnectAttempts: 0,
      } as never);
      opening.on('message', inbox.take);
      opening.on('close', inbox.close);
      await opening.waitForOpen();
      return opening;
    });
    for (const step of steps) {
      if (step === 'speak') {
        for (const frame of goldenFrames(Number(settings.sample_rate ?? 16_000), 50, 700))
          connection.transcribe({
            audio: frame.toString('base64'),
            sample_rate: 16_000,
            encoding: 'audio/wav',
          });
        await inbox.until((message) => message.type === 'data');
      } else if (step === 'finalize') {
        connection.flush();
      } else if (step === 'close') {
        connection.close();
        await emulator.log.waitFor((entry) => entry.kind === 'close');
      }
    }
  });
}

function client(url: string): SarvamAIClient {
  return new SarvamAIClient({
    apiSubscriptionKey: GOLDEN_KEY,
    environment: { base: url.replace(/^ws/, 'http'), creative: url, production: url },
  } as never);
}

/**
 * The SDK takes the runtime's own WebSocket where there is one, which sends no headers, and its realtime socket then
 * comes without a key. Where there is none it takes `ws`, as it does on the Node versions that it was made for.
 */
async function withHeaders<T>(connect: () => Promise<T>): Promise<T> {
  const own = globalThis.WebSocket;
  Reflect.deleteProperty(globalThis, 'WebSocket');
  try {
    return await connect();
  } finally {
    Object.assign(globalThis, { WebSocket: own });
  }
}
