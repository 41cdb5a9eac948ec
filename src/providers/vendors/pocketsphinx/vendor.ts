import type { Vendor } from '../../vendor.ts';

/** The program pocketsphinx_continuous of this machine. */
export const pocketsphinx: Vendor = {
  hosts: [],
  accounts: [],
  probe: null,
  stt: [
    {
      name: 'pocketsphinx',
      models: null,
      open: async (config, context) => (await import('./stt.ts')).createPocketsphinx(config, context),
    },
  ],
};
