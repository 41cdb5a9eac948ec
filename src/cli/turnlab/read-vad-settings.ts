import { VadConfig } from '../../contracts/runtime-config.ts';
import { nearest } from '../nearest.ts';

/** The keys that the lab can try out: all of `vad` that voice activity and the turn machine obey. */
const KEYS = VadConfig.properties as Record<string, { minimum?: number; maximum?: number; type?: string }>;

/** Reads `KEY=VALUE` pairs of a bot's `vad` object. Throws a sentence for an unknown key or a value out of bounds. */
export function readVadSettings(option: string, pairs: readonly string[]): VadConfig {
  const settings: Record<string, unknown> = {};
  for (const pair of pairs) {
    const at = pair.indexOf('=');
    if (at < 1) throw new Error(`${option} ${pair}: write it as KEY=VALUE`);
    const [key, text] = [pair.slice(0, at), pair.slice(at + 1)];
    const schema = KEYS[key];
    if (!schema) {
      const close = nearest(key, Object.keys(KEYS));
      throw new Error(
        `${option} ${key}: "vad" has no such key${close ? `; did you mean ${close}?` : `; it has ${Object.keys(KEYS).join(', ')}`}`,
      );
    }
    settings[key] = settingOf(`${option} ${key}`, text, schema);
  }
  return settings as VadConfig;
}

function settingOf(
  place: string,
  text: string,
  schema: { minimum?: number; maximum?: number; type?: string },
) {
  if (schema.type === 'boolean') {
    if (text !== 'true' && text !== 'false') throw new Error(`${place}: "${text}" is neither true nor false`);
    return text === 'true';
  }
  if (schema.type !== 'number' && schema.type !== 'integer') return text;
  const value = Number(text);
  const { minimum = -Infinity, maximum = Infinity } = schema;
  if (text.trim() === '' || !(value >= minimum && value <= maximum)) {
    throw new Error(`${place}: "${text}" is not a number from ${minimum} to ${maximum}`);
  }
  return value;
}
