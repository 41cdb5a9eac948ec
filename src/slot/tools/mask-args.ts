import { isRecord } from '../../platform/json-shapes.ts';
/**
 * Arguments of a tool as the events of a call may show them. What an argument's name, its schema (`writeOnly`, `format:
 * password`) or its digits (a payment card) give away as a secret is masked; long texts and large values are cut, since
 * an event is no archive.
 */
export function maskArgs(args: Record<string, unknown>, schema: unknown): unknown {
  return mask(args, schema, 0);
}

const MASK = '***';
const SECRET_NAME =
  /(pass(word|code|phrase)?$|secret|token|api_?key|credential|authorization|^pin$|_pin$|pin_?(code|number)|otp|one_?time|cvv|cvc|card_?(no|num|number)|aadha?ar|^pan$|_pan$|ssn|account_?(no|num|number)|iban)/i;
/** `pin` in an address is a postal code in India. */
const NO_SECRET = /^(pin_?code|postal.*)$/i;
const CARD = /\b\d(?:[ -]?\d){12,18}\b/g;
const MAX_TEXT_CHARS = 500;
const MAX_ENTRIES = 50;
const MAX_DEPTH = 6;

function mask(value: unknown, schema: unknown, depth: number): unknown {
  if (typeof value === 'string') return maskText(value);
  if (typeof value === 'number' && Number.isSafeInteger(value)) {
    const text = maskText(String(value));
    return text === String(value) ? value : text;
  }
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= MAX_DEPTH) return '[nested]';
  if (Array.isArray(value)) {
    const items = isRecord(schema) ? schema.items : undefined;
    return value.slice(0, MAX_ENTRIES).map((inner) => mask(inner, items, depth + 1));
  }
  const properties = isRecord(schema) && isRecord(schema.properties) ? schema.properties : {};
  const entries = Object.entries(value).slice(0, MAX_ENTRIES);
  return Object.fromEntries(
    entries.map(([name, inner]) => {
      const own = Object.hasOwn(properties, name) ? properties[name] : undefined;
      return [name, isSecret(name, own) ? MASK : mask(inner, own, depth + 1)];
    }),
  );
}

function isSecret(name: string, schema: unknown): boolean {
  if (isRecord(schema) && (schema.writeOnly === true || schema.format === 'password')) return true;
  return SECRET_NAME.test(name) && !NO_SECRET.test(name);
}

function maskText(text: string): string {
  const masked = text.replace(CARD, (digits) => (passesLuhn(digits.replace(/\D/g, '')) ? MASK : digits));
  return masked.length <= MAX_TEXT_CHARS ? masked : `${masked.slice(0, MAX_TEXT_CHARS)}…`;
}

/** ISO/IEC 7812-1, annex B: the check digit of payment cards. */
function passesLuhn(digits: string): boolean {
  let sum = 0;
  for (let index = 0; index < digits.length; index++) {
    let digit = Number(digits[digits.length - 1 - index]);
    if (index % 2 === 1) {
      digit *= 2;
      if (digit > 9) digit -= 9;
    }
    sum += digit;
  }
  return sum % 10 === 0;
}
