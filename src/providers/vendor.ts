import type { ProviderConfig } from '../contracts/runtime-config.ts';
import type { KeyedProvider } from '../contracts/setting-names.ts';
import type { LanguageModel } from './contract/language-model.ts';
import type { ProviderContext } from './contract/provider-context.ts';
import type { SpeechToText } from './contract/speech-to-text.ts';
import type { TextToSpeech } from './contract/text-to-speech.ts';
import type { LlmModels } from './llm/llm-models.ts';
import type { SttModels } from './stt/stt-models.ts';
import type { TtsModels } from './tts/tts-models.ts';

/**
 * What is known of one vendor: all that the clients, the checks of a bot, the system settings and the probes go by.
 * It is data, and reading it loads no client, so the control plane may look at every vendor.
 */
export interface Vendor {
  /**
   * Its own hosts: the only places, beside the origins that an admin lists, that a key of the system settings is sent
   * to. Empty for what runs on this machine.
   */
  hosts: readonly string[];
  /** Accounts of the system settings whose key it takes; the first that has one counts. Empty where it takes none. */
  accounts: readonly KeyedProvider[];
  /** Null where there is no key to try. */
  probe: KeyProbe | null;
  /** Servers on one's own network speak its interface too, and mostly want no key. */
  hasLocalServers?: true;
  stt?: readonly Provider<SpeechToText, SttModels>[];
  llm?: readonly Provider<LanguageModel, LlmModels>[];
  tts?: readonly Provider<TextToSpeech, TtsModels>[];
}

/** An address that lists models, voices or projects: it answers only to a good key, costs nothing, changes nothing. */
export interface KeyProbe {
  url: string;
  /** Where the key goes; null where the vendor has no such address, so that only the way there is tried. */
  keyHeader: string | null;
  /** What stands before the key, such as `Bearer `. */
  keyPrefix?: string;
  headers?: Readonly<Record<string, string>>;
}

/** What a bot names in `stt`, `llm` or `tts`. */
interface Provider<Client, Models> {
  name: string;
  /** Null for engines of this machine, whose client alone knows what it takes. */
  models: Models | null;
  /** Loads the client and makes one of the bot's settings. Connects to nobody yet. Throws `bad_provider_config`. */
  open(config: ProviderConfig, context: ProviderContext): Promise<Client>;
}

/** A provider over the network: `load` imports what makes its client, the first time that a call wants one. */
export function cloudProvider<Client, Models extends { provider: string }>(
  models: Models,
  load: () => Promise<(models: Models, config: ProviderConfig, context: ProviderContext) => Promise<Client>>,
): Provider<Client, Models> {
  return {
    name: models.provider,
    models,
    open: async (config, context) => (await load())(models, config, context),
  };
}
