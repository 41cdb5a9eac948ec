import { ProviderSettings } from '../contract/provider-settings.ts';
import type { SettingRange, TtsModels } from './tts-models.ts';

/** Longest name of a model, voice or key that any vendor uses, with room. */
const MAX_NAME_LENGTH = 256;
/** Letters, digits and what ids are made of: the value becomes part of a path or a query. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9:._/@+-]*$/;

/** Reads what all voices have in common, with the checks that the vendor asks for. */
export class VoiceSettings extends ProviderSettings {
  private readonly known: TtsModels;

  constructor(known: TtsModels, values: Record<string, unknown>) {
    super('tts', values);
    this.known = known;
  }

  model(): string {
    return this.text('model', { maximumLength: MAX_NAME_LENGTH, pattern: NAME }) ?? this.known.defaultModel;
  }

  /** The voice's id or name. */
  voice(fallback: string | null = this.known.defaultVoice): string {
    const voice = this.text('voice', { maximumLength: MAX_NAME_LENGTH, pattern: NAME }) ?? fallback;
    if (!voice) {
      throw this.refusal(
        'voice',
        `must name a voice; ${this.known.provider} has none that fits every account`,
      );
    }
    return voice;
  }

  /** null where the vendor needs none and none is set. */
  key(): string | null {
    const key = this.text('api_key', { maximumLength: 1_024, pattern: /^[\x21-\x7e]+$/ });
    if (key !== undefined) return key;
    if (this.known.needsKey) {
      throw this.refusal(
        'api_key',
        `is missing; set the key of ${this.known.provider} in the system settings`,
      );
    }
    return null;
  }

  /** The rate asked of the vendor: the setting, else the connection's rate. */
  rate(lineRate: number): number {
    const value = this.raw('sample_rate') ?? lineRate;
    if (typeof value !== 'number' || !this.known.sampleRates.includes(value)) {
      throw this.refusal('sample_rate', `must be one of ${this.known.sampleRates.join(', ')}`);
    }
    return value;
  }

  /** A number within its range; undefined where it is left to the vendor. */
  ranged(key: string, range: SettingRange = this.range(key)): number | undefined {
    if (this.raw(key) === undefined) return range.fallback ?? undefined;
    return this.number(key, { ...range, fallback: range.minimum });
  }

  /** What the vendor takes for a setting. */
  range(key: string): SettingRange {
    const range = this.known.settings[key];
    if (!range) throw new Error(`the settings of ${this.known.provider} have no ${key}`);
    return range;
  }

  /** The first part of a BCP 47 code in lower case (`hi` of `hi-IN`), undefined where no language is set. */
  baseLanguage(): string | undefined {
    const language = this.language();
    return language?.split('-')[0]?.toLowerCase();
  }

  /** The code as the bot writes it. */
  language(): string | undefined {
    return this.text('language', {
      maximumLength: 35,
      pattern: /^[A-Za-z]{2,3}([-_][A-Za-z0-9]{2,8})*$/,
    })?.replaceAll('_', '-');
  }
}

/** `fields` without those that are undefined: strict vendors refuse a null. */
export function present(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
