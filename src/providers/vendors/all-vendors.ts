import type { ProviderFamily } from '../../contracts/provider-health.ts';
import type { Vendor } from '../vendor.ts';
import { anthropic } from './anthropic/vendor.ts';
import { cartesia } from './cartesia/vendor.ts';
import { deepgram } from './deepgram/vendor.ts';
import { elevenLabs } from './elevenlabs/vendor.ts';
import { espeak } from './espeak/vendor.ts';
import { gemini } from './gemini/vendor.ts';
import { openAi } from './openai/vendor.ts';
import { pocketsphinx } from './pocketsphinx/vendor.ts';
import { sarvam } from './sarvam/vendor.ts';
import { scripted } from './scripted/vendor.ts';
import { soniox } from './soniox/vendor.ts';

/** Every vendor of this product. A new one is a folder and a line here (docs/providers.md, "Adding a vendor"). */
export const VENDORS: readonly Vendor[] = [
  anthropic,
  cartesia,
  deepgram,
  elevenLabs,
  gemini,
  openAi,
  sarvam,
  soniox,
  espeak,
  pocketsphinx,
  scripted,
];

type ProviderOf<F extends ProviderFamily> = NonNullable<Vendor[F]>[number];

/** What a bot may name in one of its steps. */
export function providersOf<F extends ProviderFamily>(family: F): ProviderOf<F>[] {
  return VENDORS.flatMap((vendor) => (vendor[family] ?? []) as readonly ProviderOf<F>[]);
}

/** Undefined where nobody knows the name. */
export function findProvider<F extends ProviderFamily>(family: F, name: string): ProviderOf<F> | undefined {
  return providersOf(family).find((provider) => provider.name === name);
}

/** Whose provider a bot names, in whichever step; undefined where nobody knows the name. */
export function vendorOf(provider: string): Vendor | undefined {
  return VENDORS.find(({ stt = [], llm = [], tts = [] }) =>
    [...stt, ...llm, ...tts].some(({ name }) => name === provider),
  );
}
