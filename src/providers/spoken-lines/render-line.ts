import type { ProviderConfig } from '../../contracts/runtime-config.ts';
import { AppError } from '../../platform/app-error.ts';
import { audioKernels } from '../../platform/audio-kernels.ts';
import { realClock } from '../contract/provider-clock.ts';
import type { TextToSpeech } from '../contract/text-to-speech.ts';
import { openTts } from '../open-providers.ts';
import type { Speech } from './speech-cache.ts';

/** A line of a call is a sentence or two; a voice that goes on for longer has lost its way. */
const MAX_LINE_SECONDS = 30;

/** What a line cost, as a usage entry tells it. */
export interface RenderedLine {
  processor: string;
  model: string | null;
  characters: number;
}

/**
 * Speaks one line outside a conversation, with a client of its own that is closed again, and gives the whole audio at
 * `rateHz`. The fallbacks of the voice are left out: the line is wanted in this voice or not at all. Rejects with what
 * the voice fails with, or with the signal's reason. `onSpoken` is told once the voice has begun to speak, from when
 * on its vendor bills the line.
 */
export async function renderLine(
  voice: ProviderConfig,
  text: string,
  rateHz: number,
  signal: AbortSignal,
  onSpoken: (line: RenderedLine) => void = () => undefined,
): Promise<Speech> {
  const { fallbacks: _left, ...alone } = voice;
  const context = { sampleRate: rateHz, clock: realClock, report: () => undefined };
  const tts = await openTts(alone as ProviderConfig, context);
  try {
    const onFirst = () => onSpoken({ processor: tts.name, model: tts.model, characters: text.length });
    return { sampleRate: rateHz, samples: await spoken(tts, { text, rateHz, signal, onFirst }) };
  } finally {
    await tts.close();
  }
}

async function spoken(
  tts: TextToSpeech,
  line: { text: string; rateHz: number; signal: AbortSignal; onFirst: () => void },
): Promise<Int16Array> {
  const { text, rateHz, signal } = line;
  const resampler = tts.sampleRate === rateHz ? null : new (audioKernels().Resampler)(tts.sampleRate, rateHz);
  const blocks: Int16Array[] = [];
  let length = 0;
  const keep = (block: Int16Array) => {
    blocks.push(block);
    length += block.length;
  };
  for await (const block of tts.speak(text, signal)) {
    if (blocks.length === 0) line.onFirst();
    keep(resampler ? resampler.process(block) : block);
    if (length > MAX_LINE_SECONDS * rateHz) {
      throw new AppError('provider_failed', `${tts.name} spoke one line for over ${MAX_LINE_SECONDS} s`);
    }
  }
  if (resampler) keep(resampler.flush());
  if (length === 0) throw new AppError('provider_failed', `${tts.name} gave no audio for a line`);
  return joined(blocks, length);
}

function joined(blocks: readonly Int16Array[], length: number): Int16Array {
  const whole = new Int16Array(length);
  let at = 0;
  for (const block of blocks) {
    whole.set(block, at);
    at += block.length;
  }
  return whole;
}
