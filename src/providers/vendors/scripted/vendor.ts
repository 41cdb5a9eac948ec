import type { Vendor } from '../../vendor.ts';

const COMMON = { name: 'scripted', models: null } as const;

/** Providers that follow a script of the bot: for demos, tests and benches. */
export const scripted: Vendor = {
  hosts: [],
  accounts: [],
  probe: null,
  stt: [
    {
      ...COMMON,
      open: async (config, context) => (await import('./stt.ts')).createScriptedStt(config, context),
    },
  ],
  llm: [{ ...COMMON, open: async (config) => (await import('./llm.ts')).createScriptedLlm(config) }],
  tts: [{ ...COMMON, open: async (config) => (await import('./tts.ts')).createScriptedTts(config) }],
};
