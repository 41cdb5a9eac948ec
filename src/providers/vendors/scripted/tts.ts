import { FRAME_MS, LINE_RATE_HZ } from '../../../contracts/limits.ts';
import type { ProviderConfig } from '../../../contracts/runtime-config.ts';
import { AppError } from '../../../platform/app-error.ts';
import { monotonicMs } from '../../../platform/clock.ts';
import { untilAborted, waitUntil } from '../../connect/abortable-wait.ts';
import { ProviderSettings } from '../../contract/provider-settings.ts';
import type { TextToSpeech } from '../../contract/text-to-speech.ts';
import { stampedTone } from './frame-stamp.ts';

const BLOCK_FRAMES = 5;
/** A text that would be longer than this is cut here. */
const LONGEST_MS = 120_000;

/**
 * Text to speech for the bench: instead of a voice, frames that say which they are (frame-stamp.ts).
 *
 * Settings: `ms_per_char` (60: the pace of a voice), `first_audio_ms` (0), `rate` (times real time at which audio
 * comes; 0, the default, is as fast as it is taken), `fail_on` and `stall_on` (speak() calls, from 1, that throw
 * `provider_failed` or give nothing until aborted; both before any audio). Every speak() gives whole frames.
 */
export async function createScriptedTts(config: ProviderConfig): Promise<TextToSpeech> {
  const settings = new ProviderSettings('tts', config);
  const msPerChar = settings.number('ms_per_char', { fallback: 60, minimum: 1, maximum: 1_000 });
  const firstAudioMs = settings.number('first_audio_ms', { fallback: 0, minimum: 0, maximum: 60_000 });
  const rate = settings.number('rate', { fallback: 0, minimum: 0, maximum: 1_000 });
  const failOn = settings.ordinals('fail_on');
  const stallOn = settings.ordinals('stall_on');
  let spoken = 0;

  return {
    name: 'scripted',
    model: config.model ?? null,
    sampleRate: LINE_RATE_HZ,

    async *speak(text, signal) {
      signal.throwIfAborted();
      const speak = ++spoken;
      const startMs = monotonicMs() + firstAudioMs;
      await waitUntil(startMs, signal);
      if (failOn.has(speak)) throw new AppError('provider_failed', `the script fails speech ${speak}`);
      if (stallOn.has(speak)) await untilAborted(signal);
      const frames = framesOf(text, msPerChar);
      for (let frame = 0; frame < frames; frame += BLOCK_FRAMES) {
        // The deadline counts from the start, so that a late block does not delay the ones behind it.
        if (rate > 0) await waitUntil(startMs + (frame * FRAME_MS) / rate, signal);
        signal.throwIfAborted();
        yield stampedTone(Math.min(BLOCK_FRAMES, frames - frame), { speak, frame });
      }
      signal.throwIfAborted();
    },

    async close() {},
  };
}

function framesOf(text: string, msPerChar: number): number {
  const lengthMs = Math.min(text.length * msPerChar, LONGEST_MS);
  return Math.ceil(lengthMs / FRAME_MS);
}
