/**
 * What a cloud voice offers, as its client, the validation of bots and the manual read it. Names of models and voices
 * are not refused when they are not listed, because vendors add them faster than a release; ranges are.
 */
export interface TtsModels {
  /** As a bot names the voice's vendor. */
  provider: string;
  /** Where it is asked unless the bot names a `base_url`. */
  baseUrl: string;
  needsKey: boolean;
  defaultModel: string;
  models: readonly TtsModel[];
  /** Null where every bot must name its voice. */
  defaultVoice: string | null;
  /** Voices that the vendor names itself, by model; empty where voices are ids of the customer's account. */
  voices: Readonly<Record<string, readonly string[]>>;
  /** Language codes as the vendor writes them; empty where the list depends on the model and is not fixed. */
  languages: readonly string[];
  /** Rates of LINEAR16 mono that the vendor gives, in Hz. */
  sampleRates: readonly number[];
  settings: Readonly<Record<string, SettingRange>>;
}

export interface TtsModel {
  name: string;
  /** Whether the request may name a language; else the vendor reads it from the text. */
  takesLanguage: boolean;
  /** For live calls or not. */
  realtime: boolean;
}

export interface SettingRange {
  minimum: number;
  maximum: number;
  /** What holds where the bot says nothing; null where the vendor's or the voice's own value holds. */
  fallback: number | null;
  whole?: boolean;
}

/** What is known of the model, or null. */
export function ttsModel(known: TtsModels, name: string): TtsModel | null {
  return known.models.find((model) => model.name === name) ?? null;
}
