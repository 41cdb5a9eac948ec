import type { ProviderConfig } from '../../contracts/runtime-config.ts';
import { AppError } from '../../platform/app-error.ts';
import type { ProviderContext } from '../contract/provider-context.ts';
import { providerError } from '../contract/provider-error.ts';
import { ProviderSettings } from '../contract/provider-settings.ts';
import type { SttModels, SttSettingRule } from './stt-models.ts';

/** What every cloud engine's settings begin with (docs/providers.md, "Speech-to-text"). */
export interface SttSettings {
  read: ProviderSettings;
  /** What is known of the engine. */
  known: SttModels;
  model: string;
  /** As the bot writes it, a BCP 47 tag or a word such as `multi`. */
  language: string | undefined;
  apiKey: string | undefined;
  sampleRate: number;
  handshakeTimeoutMs: number;
  /** Interim results are given on. */
  interim: boolean;
  keyterms: string[];
}

/**
 * Reads the settings that all cloud engines share. Throws `bad_provider_config` naming the key.
 * A key may be absent only where the bot names a server of its own.
 */
export function readSttSettings(
  known: SttModels,
  config: ProviderConfig,
  context: ProviderContext,
): SttSettings {
  const read = new ProviderSettings('stt', config);
  const apiKey = read.text('api_key', { maximumLength: 500, pattern: /^[\x21-\x7e]+$/ });
  if (apiKey === undefined && read.raw('base_url') === undefined) {
    throw new AppError(
      'bad_provider_config',
      `stt.api_key is missing; enter the ${known.account} key in the system settings`,
      { details: { key: 'stt.api_key' } },
    );
  }
  if (!known.sampleRates.includes(context.sampleRate)) {
    throw read.refusal('provider', `"${known.provider}" does not take audio at ${context.sampleRate} Hz`);
  }
  const sampleRate = read.number('sample_rate', {
    fallback: context.sampleRate,
    minimum: 8_000,
    maximum: 48_000,
  });
  // A wrong rate yields garbled text instead of an error at most vendors, so it must not get as far.
  if (sampleRate !== context.sampleRate) {
    throw read.refusal('sample_rate', `must be ${context.sampleRate}, the rate of the line, or absent`);
  }
  return {
    read,
    known,
    model: read.text('model', { maximumLength: 200 }) ?? known.defaultModel,
    language: read.text('language', { maximumLength: 35 }),
    apiKey,
    sampleRate,
    handshakeTimeoutMs: read.number('timeout_ms', { fallback: 4_000, minimum: 500, maximum: 30_000 }),
    interim: read.flag('interim', true),
    keyterms: read.texts('keyterms', { maximumItems: 100, maximumLength: 100 }),
  };
}

/** The language without its region (ISO 639), undefined where the engine is to find out itself. */
export function primaryLanguage(settings: SttSettings): string | undefined {
  const primary = settings.language?.split('-')[0]?.toLowerCase();
  return primary === undefined || ['auto', 'multi', 'unknown', ''].includes(primary) ? undefined : primary;
}

/** The number of a setting by its rule in the table; undefined where it is left to the vendor. */
export function settingNumber(settings: SttSettings, key: string, fallback?: number): number | undefined {
  const rule = ruleOf(settings, key, 'number');
  const standard = fallback ?? rule.fallback ?? undefined;
  if (settings.read.raw(key) === undefined) return standard;
  const { minimum, maximum, whole } = rule;
  return settings.read.number(key, { fallback: minimum, minimum, maximum, ...(whole ? { whole } : {}) });
}

export function settingFlag(settings: SttSettings, key: string): boolean {
  return settings.read.flag(key, ruleOf(settings, key, 'flag').fallback);
}

/** One of the texts that the table lists. */
export function settingChoice(settings: SttSettings, key: string): string {
  const rule = ruleOf(settings, key, 'choice');
  const value = settings.read.raw(key) ?? rule.fallback;
  const found = rule.values.find((one) => one === value);
  if (found === undefined) throw settings.read.refusal(key, `must be one of ${rule.values.join(', ')}`);
  return found;
}

export function settingTexts(settings: SttSettings, key: string): string[] {
  const rule = ruleOf(settings, key, 'texts');
  const values = settings.read.texts(key, rule);
  if (rule.values && !values.every((value) => rule.values?.includes(value))) {
    throw settings.read.refusal(key, `must be a list of ${rule.values.join(', ')}`);
  }
  return values;
}

export function settingText(settings: SttSettings, key: string): string | undefined {
  return settings.read.text(key, ruleOf(settings, key, 'text'));
}

function ruleOf<K extends SttSettingRule['kind']>(
  settings: SttSettings,
  key: string,
  kind: K,
): Extract<SttSettingRule, { kind: K }> {
  const rule = settings.known.settings[key];
  if (rule?.kind !== kind)
    throw new Error(`the settings of ${settings.known.provider} have no ${kind} named ${key}`);
  return rule as Extract<SttSettingRule, { kind: K }>;
}

/** The error of a session that is used after its end. */
export function sessionIsOver(provider: string): AppError {
  return providerError(
    { provider, family: 'stt', class: 'transient', status: null },
    `the ${provider} session is over; open a new one`,
  );
}
