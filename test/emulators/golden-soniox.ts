import { SonioxNodeClient } from '@soniox/node';
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
import { startSoniox } from './soniox.ts';

/** Soniox's SDK; `config` is the first frame without its key. */
export async function goldenSoniox(
  config: Record<string, unknown>,
  steps: readonly GoldenStep[] = ['speak', 'keepalive', 'finalize', 'close'],
  scene?: readonly ScriptStep[],
): Promise<GoldenRun> {
  const emulator = await startSoniox({ key: GOLDEN_KEY, hearing: { words: GOLDEN_WORDS } });
  const inbox = new GoldenInbox();
  if (scene) emulator.control.script(finishing(scene));
  return goldenRun(emulator, inbox, async () => {
    const client = new SonioxNodeClient({
      api_key: GOLDEN_KEY,
      realtime: { ws_base_url: `${emulator.wsUrl}/transcribe-websocket` },
    } as never);
    const session = client.realtime.stt(config as never);
    session.on('result', inbox.take);
    session.on('endpoint', () => inbox.take({ marker: 'endpoint' }));
    session.on('finalized', () => inbox.take({ marker: 'finalized' }));
    session.on('error', (error: unknown) => {
      inbox.take({ error: String(error) });
      inbox.close();
    });
    session.on('disconnected', inbox.close);
    session.on('finished', inbox.close);
    await session.connect();
    if (scene) {
      for (const frame of goldenFrames(8_000, 100, 0)) session.sendAudio(frame);
      if (scene.some((step) => 'expect' in step)) session.finalize();
      await inbox.untilClosed();
    }
    for (const step of scene ? [] : steps) {
      if (step === 'speak') {
        for (const frame of goldenFrames(Number(config.sample_rate), 100, 900)) session.sendAudio(frame);
        if (config.enable_endpoint_detection) await inbox.until((message) => message.marker === 'endpoint');
      } else if (step === 'keepalive') {
        session.keepAlive();
      } else if (step === 'finalize') {
        session.finalize();
        await inbox.until((message) => message.marker === 'finalized');
      } else if (step === 'close') {
        await session.finish();
      }
    }
    session.close();
    await emulator.log.waitFor((entry) => entry.kind === 'close' && entry.direction === 'in');
  });
}

/** A close without `finished` before it is an error to the SDK. */
function finishing(scene: readonly ScriptStep[]): ScriptStep[] {
  const last = scene.at(-1);
  if (last && 'close' in last) return [...scene];
  const finished = { tokens: [], final_audio_proc_ms: 1_000, total_audio_proc_ms: 1_000, finished: true };
  return closing([...scene, { emit: finished }]);
}
