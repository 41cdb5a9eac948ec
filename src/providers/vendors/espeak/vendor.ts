import type { Vendor } from '../../vendor.ts';

/** The program espeak-ng of this machine. */
export const espeak: Vendor = {
  hosts: [],
  accounts: [],
  probe: null,
  tts: [
    {
      name: 'espeak',
      models: null,
      open: async (config) => (await import('./tts.ts')).createEspeak(config),
    },
  ],
};
