import { invalidBody } from '../http/validation-issues.ts';
import { PLATFORM_NAMES, RESERVED_FLAGS } from '../runtime-config/connected-event.ts';

/** What a page may tell about its visitor (D-25). It is the visitor's word and proves nothing. */
const MAX_KEYS = 50;
const MAX_NAME_CHARS = 64;
const MAX_VALUE_CHARS = 2_000;
const MAX_BYTES = 8_192;

/**
 * The `context` of a token request as fields of the connected event (`{{call.name}}` in prompts). Names that steer the
 * platform (they begin with `_`, or it reads them itself), and names that no template can hold (dots, braces), are
 * dropped. Throws `validation_error` for what is no flat object within the limits.
 */
export function readContext(context: unknown): Record<string, string | number | boolean> {
  if (context === undefined || context === null) return {};
  if (typeof context !== 'object' || Array.isArray(context)) {
    throw invalidBody('/context', 'context is an object of texts, numbers and booleans');
  }
  const entries = Object.entries(context);
  if (entries.length > MAX_KEYS) throw invalidBody('/context', `context has at most ${MAX_KEYS} fields`);
  if (Buffer.byteLength(JSON.stringify(context)) > MAX_BYTES) {
    throw invalidBody('/context', `context has at most ${MAX_BYTES} bytes as JSON`);
  }
  const kept: [string, string | number | boolean][] = [];
  for (const [name, value] of entries) {
    const pointer = `/context/${name.slice(0, MAX_NAME_CHARS).replaceAll('~', '~0').replaceAll('/', '~1')}`;
    if (name === '' || name.length > MAX_NAME_CHARS) {
      throw invalidBody(pointer, `names in context have 1 to ${MAX_NAME_CHARS} characters`);
    }
    const isText = typeof value === 'string' && value.length <= MAX_VALUE_CHARS;
    if (!isText && typeof value !== 'number' && typeof value !== 'boolean') {
      throw invalidBody(
        pointer,
        `values in context are texts of at most ${MAX_VALUE_CHARS} characters, numbers or booleans`,
      );
    }
    if (!steersThePlatform(name) && !/[.{}]/.test(name)) kept.push([name, value]);
  }
  return Object.fromEntries(kept);
}

function steersThePlatform(name: string): boolean {
  return name.startsWith('_') || RESERVED_FLAGS.has(name) || PLATFORM_NAMES.has(name.toLowerCase());
}
