import type { ProviderConfig } from '../../contracts/runtime-config.ts';
import { AppError } from '../../platform/app-error.ts';

/**
 * Reads the free keys of a provider's settings. A bot is edited by hand, so every refusal names the key, says what
 * is expected, and comes when the call opens its providers rather than in the middle of a sentence.
 */
export class ProviderSettings {
  private readonly family: string;
  private readonly values: Record<string, unknown>;

  /** `family` is the part of the bot that the keys stand in: `stt`, `llm` or `tts`. */
  constructor(family: string, values: ProviderConfig | Record<string, unknown>) {
    this.family = family;
    this.values = values as Record<string, unknown>;
  }

  /** The value as it stands in the bot; null counts as absent, as everywhere in the config. */
  raw(key: string): unknown {
    return Object.hasOwn(this.values, key) ? (this.values[key] ?? undefined) : undefined;
  }

  /** The error for a wrong value of `key`; the caller throws it. */
  refusal(key: string, sentence: string): AppError {
    return new AppError('bad_provider_config', `${this.family}.${key} ${sentence}`, {
      details: { key: `${this.family}.${key}` },
    });
  }

  number(key: string, rule: { fallback: number; minimum: number; maximum: number; whole?: boolean }): number {
    const value = this.raw(key);
    if (value === undefined) return rule.fallback;
    const fits = typeof value === 'number' && value >= rule.minimum && value <= rule.maximum;
    if (!fits || (rule.whole && !Number.isInteger(value))) {
      const kind = rule.whole ? 'whole number' : 'number';
      throw this.refusal(key, `must be a ${kind} from ${rule.minimum} to ${rule.maximum}`);
    }
    return value;
  }

  flag(key: string, fallback: boolean): boolean {
    const value = this.raw(key);
    if (value === undefined) return fallback;
    if (typeof value !== 'boolean') throw this.refusal(key, 'must be true or false');
    return value;
  }

  /** undefined where the key is absent. */
  text(key: string, rule: { maximumLength: number; pattern?: RegExp }): string | undefined {
    const value = this.raw(key);
    if (value === undefined) return undefined;
    if (typeof value !== 'string' || value.length > rule.maximumLength) {
      throw this.refusal(key, `must be a text of at most ${rule.maximumLength} characters`);
    }
    if (rule.pattern && !rule.pattern.test(value))
      throw this.refusal(key, `must match ${rule.pattern.source}`);
    return value;
  }

  /** Empty where the key is absent. */
  texts(key: string, rule: { maximumItems: number; maximumLength: number }): string[] {
    return this.list(
      key,
      rule.maximumItems,
      `texts of at most ${rule.maximumLength} characters`,
      (item): item is string => typeof item === 'string' && item.length <= rule.maximumLength,
    );
  }

  /** Counting numbers such as turns, 1 for the first; empty where the key is absent. */
  ordinals(key: string): ReadonlySet<number> {
    const isOrdinal = (item: unknown): item is number => Number.isInteger(item) && (item as number) >= 1;
    return new Set(this.list(key, 10_000, 'whole numbers from 1', isOrdinal));
  }

  private list<T>(
    key: string,
    maximumItems: number,
    what: string,
    isItem: (item: unknown) => item is T,
  ): T[] {
    const value = this.raw(key);
    if (value === undefined) return [];
    if (!Array.isArray(value) || value.length > maximumItems || !value.every(isItem)) {
      throw this.refusal(key, `must be a list of at most ${maximumItems} ${what}`);
    }
    return value;
  }
}
