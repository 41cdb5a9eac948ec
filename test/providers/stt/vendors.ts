import type { ProviderConfig } from '../../../src/contracts/runtime-config.ts';
import { startDeepgram } from '../../emulators/deepgram.ts';
import { startFlux } from '../../emulators/deepgram-flux.ts';
import type { SttEmulator, SttEmulatorOptions } from '../../emulators/kit/stt-emulator.ts';
import { startSarvamStt } from '../../emulators/sarvam-stt.ts';
import { startSoniox } from '../../emulators/soniox.ts';
import { WORDS } from './caller.ts';

/** The streaming engines, for what must hold for each of them alike. */
export interface Vendor {
  name: string;
  section: string;
  start(options?: SttEmulatorOptions): Promise<SttEmulator>;
  config(emulator: SttEmulator, more?: Record<string, unknown>): ProviderConfig;
}

function vendor(
  name: string,
  section: string,
  provider: string,
  start: (options: SttEmulatorOptions) => Promise<SttEmulator>,
  own: Record<string, unknown> = {},
): Vendor {
  return {
    name,
    section,
    start: (options = {}) => start({ hearing: { words: WORDS }, ...options }),
    config: (emulator, more = {}) => ({
      provider,
      language: 'en',
      api_key: emulator.key,
      base_url: emulator.wsUrl,
      ...own,
      ...more,
    }),
  };
}

export const VENDORS: readonly Vendor[] = [
  vendor('deepgram', '8.2', 'deepgram', startDeepgram),
  vendor('deepgram_flux', '8.3', 'deepgram_flux', (options) =>
    startFlux({ connectedAfterMs: 0, ...options }),
  ),
  vendor('sarvam', '8.4', 'sarvam', startSarvamStt),
  vendor('sarvam legacy', '8.4', 'sarvam', startSarvamStt, { endpoint: 'legacy' }),
  vendor('soniox', '8.5', 'soniox', startSoniox),
];
