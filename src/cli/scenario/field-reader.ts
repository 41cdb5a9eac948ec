import { nearest } from '../nearest.ts';

/** A scenario file that cannot be understood; the message is one sentence that names the place. */
export class ScenarioError extends Error {}

/** Reads the keys of one object and, at its end, refuses those that nobody asked for. */
export class FieldReader {
  readonly path: string;
  private readonly value: Record<string, unknown>;
  private readonly asked = new Set<string>();

  constructor(path: string, value: unknown) {
    if (!isPlain(value)) throw new ScenarioError(`${path} is an object with keys`);
    this.path = path;
    this.value = value;
  }

  has(name: string): boolean {
    this.asked.add(name);
    return this.value[name] !== undefined;
  }

  text(name: string): string {
    const value = this.get(name);
    if (typeof value !== 'string' || value.trim() === '') throw this.mistake(name, 'is a text');
    return value;
  }

  textOrNull(name: string): string | null {
    return this.has(name) ? this.text(name) : null;
  }

  texts(name: string): string[] {
    const value = this.get(name) ?? [];
    if (!Array.isArray(value) || value.some((item) => typeof item !== 'string')) {
      throw this.mistake(name, 'is a list of texts');
    }
    return value as string[];
  }

  /** Texts that are regular expressions. */
  patterns(name: string): string[] {
    const texts = this.texts(name);
    for (const source of texts) {
      try {
        new RegExp(source, 'iu');
      } catch (cause) {
        throw new ScenarioError(`${this.path}.${name}: ${(cause as Error).message}`, { cause });
      }
    }
    return texts;
  }

  pattern(name: string, form: RegExp, what: string, fallback?: string): string {
    const value = this.get(name) ?? fallback;
    if (typeof value !== 'string' || !form.test(value)) throw this.mistake(name, `is ${what}`);
    return value;
  }

  word<const T extends string>(name: string, words: readonly T[], fallback: T): T {
    const value = this.get(name) ?? fallback;
    const found = words.find((word) => word === value);
    if (found === undefined) throw this.mistake(name, `is one of ${words.join(', ')}`);
    return found;
  }

  words(name: string, words: readonly string[]): string[] {
    const texts = this.texts(name);
    const wrong = texts.find((text) => !words.includes(text));
    if (wrong !== undefined) throw this.mistake(name, `holds "${wrong}"; known are ${words.join(', ')}`);
    return texts;
  }

  number(name: string, minimum: number, maximum: number, fallback?: number): number {
    const value = this.get(name) ?? fallback;
    if (typeof value !== 'number' || !(value >= minimum && value <= maximum)) {
      throw this.mistake(name, `is a number from ${minimum} to ${maximum}`);
    }
    return value;
  }

  numberOrNull(name: string, minimum: number, maximum: number): number | null {
    return this.has(name) ? this.number(name, minimum, maximum) : null;
  }

  /** A key that can only be true. */
  yes(name: string): void {
    if (this.get(name) !== true) throw this.mistake(name, 'is true, or left out');
  }

  list(name: string, maximum: number): unknown[] {
    const value = this.get(name) ?? [];
    if (!Array.isArray(value) || value.length > maximum) {
      throw this.mistake(name, `is a list of at most ${maximum}`);
    }
    return value;
  }

  /** A list, or the one thing that would stand in it. */
  oneOrMore(name: string, maximum: number): unknown[] {
    return Array.isArray(this.value[name]) ? this.list(name, maximum) : [this.get(name)];
  }

  /** The inner object, empty where the key is missing. */
  object(name: string): FieldReader {
    return new FieldReader(`${this.path}.${name}`, this.get(name) ?? {});
  }

  /** An object whose keys are not ours to judge. */
  plain(name: string): Record<string, unknown> {
    const value = this.get(name) ?? {};
    if (!isPlain(value)) throw this.mistake(name, 'is an object');
    return value;
  }

  plains(name: string): Record<string, unknown>[] {
    const value = this.get(name) ?? [];
    if (!Array.isArray(value) || !value.every(isPlain)) throw this.mistake(name, 'is a list of objects');
    return value;
  }

  /** Throws when a key was not asked for. */
  end(): void {
    for (const key of Object.keys(this.value)) {
      if (this.asked.has(key)) continue;
      const close = nearest(key, [...this.asked]);
      throw new ScenarioError(`${this.path} has no key "${key}"${close ? `; did you mean "${close}"?` : ''}`);
    }
  }

  private get(name: string): unknown {
    this.asked.add(name);
    return this.value[name];
  }

  private mistake(name: string, what: string): ScenarioError {
    return new ScenarioError(`${this.path}.${name} ${what}`);
  }
}

function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
