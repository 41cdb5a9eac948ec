import { ProviderSettings } from '../provider-settings.ts';
import type { SettingRange, TtsProvider } from './tts-models.ts';

/** Longest name of a model, voice or key that any vendor uses, with room. */
const MAX_NAME_LENGTH = 256;
/** Letters, digits and what ids are made of: the value becomes part of a path or a query. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9:._/@+-]*$/;

/** Reads what all voices have in common, with the checks that the vendor's row of the table asks for. */
export class VoiceSettings extends ProviderSettings {
  private readonly provider: TtsProvider;

  constructor(provider: TtsProvider, values: Record<string, unknown>) {
    super('tts', values);
    this.provider = provider;
  }

  model(): string {
    return (
      this.text('model', { maximumLength: MAX_NAME_LENGTH, pattern: NAME }) ?? this.provider.defaultModel
    );
  }

  /** The voice's id or name. */
  voice(fallback: string | null = this.provider.defaultVoice): string {
    const voice = this.text('voice', { maximumLength: MAX_NAME_LENGTH, pattern: NAME }) ?? fallback;
    if (!voice) {
      throw this.refusal(
        'voice',
        `must name a voice; ${this.provider.title} has none that fits every account`,
      );
    }
    return voice;
  }

  /** null where the vendor needs none and none is set. */
  key(): string | null {
    const key = this.text('api_key', { maximumLength: 1_024, pattern: /^[\x21-\x7e]+$/ });
    if (key !== undefined) return key;
    if (this.provider.needsKey) {
      throw this.refusal(
        'api_key',
        `is missing; set the key of ${this.provider.title} in the system settings`,
      );
    }
    return null;
  }

  /** The rate asked of the vendor: the setting, else the connection's rate. */
  rate(lineRate: number): number {
    const value = this.raw('sample_rate') ?? lineRate;
    if (typeof value !== 'number' || !this.provider.sampleRates.includes(value)) {
      throw this.refusal('sample_rate', `must be one of ${this.provider.sampleRates.join(', ')}`);
    }
    return value;
  }

  /** A number within its row of the table; undefined where the bot and the table leave it to the vendor. */
  ranged(key: string, range: SettingRange): number | undefined {
    if (this.raw(key) === undefined) return range.fallback ?? undefined;
    return this.number(key, { ...range, fallback: range.minimum });
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
