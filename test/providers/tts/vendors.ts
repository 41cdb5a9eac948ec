import type { ProviderConfig } from '../../../src/contracts/runtime-config.ts';
import type { ProviderClock } from '../../../src/providers/contract/provider-clock.ts';
import type { ProviderTrouble } from '../../../src/providers/contract/provider-context.ts';
import type { TextToSpeech, WordTiming } from '../../../src/providers/contract/text-to-speech.ts';
import { openTts } from '../../../src/providers/open-providers.ts';
import { startCartesia } from '../../emulators/cartesia.ts';
import { startElevenLabs } from '../../emulators/elevenlabs.ts';
import type { Emulator } from '../../emulators/kit/emulator.ts';
import { startOpenAiSpeech } from '../../emulators/openai-speech.ts';
import { startSarvamTts } from '../../emulators/sarvam-tts.ts';
import { type ToneVoice, toneOf } from '../../emulators/speech-tone.ts';

/** A voice emulator and our client for it, with everything a test wants to look at. */
export interface RunningVoice {
  emulator: Emulator & { apiKey: string | null };
  tts: TextToSpeech;
  troubles: ProviderTrouble[];
  close(): Promise<void>;
}

export interface VoiceOrder {
  clock?: ProviderClock;
  tls?: boolean;
  voice?: Partial<ToneVoice>;
  /** Settings of the bot beside those that every bot of the vendor needs. */
  settings?: Record<string, unknown>;
}

type StartOptions = Pick<VoiceOrder, 'clock' | 'tls' | 'voice'>;

interface Vendor {
  start(options: StartOptions): Promise<Emulator & { apiKey: string | null; baseUrl?: string }>;
  settings: Record<string, unknown>;
  /** Section of the conformance list. */
  section: string;
}

export const SOCKET_VENDORS = ['elevenlabs', 'cartesia', 'sarvam'] as const;
export const ALL_VENDORS = [...SOCKET_VENDORS, 'openai'] as const;
export type VendorName = (typeof ALL_VENDORS)[number];

export const VENDORS: Record<VendorName, Vendor> = {
  elevenlabs: { start: startElevenLabs, settings: { voice: 'voice-1', language: 'en-IN' }, section: '8.9' },
  cartesia: { start: startCartesia, settings: { voice: 'voice-1', language: 'en-IN' }, section: '8.10' },
  sarvam: { start: startSarvamTts, settings: { language: 'en-IN' }, section: '8.11' },
  openai: { start: startOpenAiSpeech, settings: {}, section: '5.6' },
};

export async function startVoice(name: VendorName, order: VoiceOrder = {}): Promise<RunningVoice> {
  const { settings, ...options } = order;
  const emulator = await VENDORS[name].start(options);
  return { ...(await openFor(name, emulator, settings)), emulator };
}

/** Our client for an emulator that a test started itself. */
export async function openFor(
  name: VendorName,
  emulator: Emulator & { apiKey: string | null; baseUrl?: string },
  settings: Record<string, unknown> = {},
): Promise<RunningVoice> {
  const troubles: ProviderTrouble[] = [];
  const config: ProviderConfig = {
    provider: name,
    ...(emulator.apiKey === null ? {} : { api_key: emulator.apiKey }),
    base_url: emulator.baseUrl ?? emulator.wsUrl,
    ...VENDORS[name].settings,
    ...settings,
  };
  const tts = await openTts(config, {
    sampleRate: 8_000,
    clock: emulator.clock,
    report: (trouble) => troubles.push(trouble),
  });
  const close = async () => {
    await tts.close();
    await emulator.close();
  };
  return { emulator, tts, troubles, close };
}

export const never = new AbortController().signal;

export interface Heard {
  samples: Int16Array;
  words: WordTiming[];
  /** What the clause ended with, undefined where it came to its end. */
  error: unknown;
}

/** Speaks a clause to its end, whatever that is. `onBlock` sees how many samples there are so far. */
export async function hear(
  tts: TextToSpeech,
  text: string,
  options: { signal?: AbortSignal; onBlock?: (samples: number) => void } = {},
): Promise<Heard> {
  const blocks: Int16Array[] = [];
  const words: WordTiming[] = [];
  let count = 0;
  let error: unknown;
  try {
    const hooks = { onWords: (more: readonly WordTiming[]) => words.push(...more) };
    for await (const block of tts.speak(text, options.signal ?? never, hooks)) {
      blocks.push(block);
      count += block.length;
      options.onBlock?.(count);
    }
  } catch (cause) {
    error = cause;
  }
  const samples = new Int16Array(count);
  let at = 0;
  for (const block of blocks) {
    samples.set(block, at);
    at += block.length;
  }
  return { samples, words, error };
}

/** Whether the samples are the whole tone of the text, or with `part` a beginning of it. */
export function isToneOf(samples: Int16Array, text: string, rate: number, part?: 'part'): boolean {
  const tone = toneOf(text, rate);
  if (part ? samples.length > tone.length : samples.length !== tone.length) return false;
  return samples.every((sample, index) => sample === tone[index]);
}

/** Class, status and the like of a provider's failure. */
export function failureOf(error: unknown): Record<string, unknown> {
  const { code, details } = (error ?? {}) as { code?: unknown; details?: Record<string, unknown> };
  return { code, ...details };
}
