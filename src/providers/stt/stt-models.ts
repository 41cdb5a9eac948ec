import type { ProviderConfig } from '../../contracts/runtime-config.ts';
import type { KeyedProvider } from '../../contracts/setting-names.ts';

/**
 * What a cloud speech-to-text engine takes, as its client, the validation of bots and the manual read it. A model that
 * is not listed may be new, so it is worth a warning and no refusal.
 */
export interface SttModels {
  /** As a bot names the engine. */
  provider: string;
  /** Whose key it takes; engines of one vendor share an account. */
  account: KeyedProvider;
  /** Where it is asked unless the bot names a `base_url`. */
  baseUrl: string;
  defaultModel: string;
  models: readonly string[];
  /** Languages as the bot writes them; null where the vendor's list is longer than what is known here. */
  languages: readonly string[] | null;
  /** Hz; a line of another rate cannot be served. */
  sampleRates: readonly number[];
  /**
   * Whether it hears along and has a final soon after the last word. Others collect a turn and look at it as a whole, so
   * the pace at which it comes is nothing to them.
   */
  isStreaming: boolean;
  /** Whether these settings of a bot make it say nothing before the end of an utterance. */
  isSilentUntilEnd?(config: ProviderConfig): boolean;
  settings: Readonly<Record<string, SttSettingRule>>;
}

/** What a setting allows. */
export type SttSettingRule =
  | { kind: 'number'; minimum: number; maximum: number; fallback: number | null; whole?: boolean }
  | { kind: 'flag'; fallback: boolean }
  | { kind: 'choice'; values: readonly string[]; fallback: string | null }
  | { kind: 'texts'; maximumItems: number; maximumLength: number; values?: readonly string[] }
  | { kind: 'text'; maximumLength: number }
  | { kind: 'object' };
