/**
 * The keypad tools as language models are told of them: the control plane serves these with the config, the slot obeys
 * them. Plain constants, so that a slot may use them.
 */

/** The most digits of one entry, and the longest waits that a call of `collect_digits` may ask for. */
export const MAX_COLLECTED_DIGITS = 32;
export const MAX_INTER_DIGIT_MS = 10_000;
export const MAX_COLLECT_MS = 60_000;
/** Signs of one dialling string: enough for a menu, an extension or a card number with its pauses. */
export const MAX_TONE_KEYS = 32;

/** JSON Schema of the arguments of `collect_digits`. */
export const COLLECT_PARAMETERS = {
  type: 'object',
  additionalProperties: false,
  properties: {
    min_digits: { type: 'integer', minimum: 1, maximum: MAX_COLLECTED_DIGITS },
    max_digits: { type: 'integer', minimum: 1, maximum: MAX_COLLECTED_DIGITS },
    terminator: {
      type: 'string',
      enum: ['#', '*', ''],
      description: 'Key that ends the entry, # by default',
    },
    inter_digit_ms: { type: 'integer', minimum: 500, maximum: MAX_INTER_DIGIT_MS },
    timeout_ms: { type: 'integer', minimum: 1_000, maximum: MAX_COLLECT_MS },
    secret: { type: 'boolean', description: 'True for a PIN, a card number or anything like it' },
  },
  required: [],
} as const;

/** JSON Schema of the arguments of `send_dtmf`. */
export const SEND_DTMF_PARAMETERS = {
  type: 'object',
  additionalProperties: false,
  properties: { keys: { type: 'string', minLength: 1, maxLength: MAX_TONE_KEYS } },
  required: ['keys'],
} as const;

export const DIGIT_TOOL_DESCRIPTIONS = {
  collect_digits:
    'Wait for digits that the caller presses on the keypad; ask for them in the same reply. A secret entry comes back ' +
    'as a placeholder, which other tools take in place of the digits.',
  send_dtmf: 'Press keys towards the other side, for its menu. A comma waits one second.',
} as const;
