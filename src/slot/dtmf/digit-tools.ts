import type { CallEventName } from '../../contracts/call-events.ts';
import {
  COLLECT_PARAMETERS,
  DIGIT_TOOL_DESCRIPTIONS,
  MAX_TONE_KEYS,
  SEND_DTMF_PARAMETERS,
} from '../../contracts/digit-tools.ts';
import { LINE_RATE_HZ } from '../../contracts/limits.ts';
import { AppError } from '../../platform/app-error.ts';
import { type CallTool, declarationOf, type ToolOutcome } from '../tools/call-tool.ts';
import { collectRules } from './collect-digits.ts';
import { COLUMN_HZ, keyPlace, ROW_HZ } from './dtmf-keys.ts';
import type { KeyPad } from './key-pad.ts';

export interface DigitToolParts {
  pad: KeyPad;
  /** Keys to the far end by a message of its transport; null where that has none, and they are sent as tones. */
  sendKeys: ((keys: string) => void) | null;
  report(event: CallEventName, detail: Record<string, unknown>): void;
}

/** A little more than the longest entry. */
const COLLECT_TIMEOUT_MS = 65_000;
const SEND_TIMEOUT_MS = 1_000;

/** The tools `collect_digits` and `send_dtmf` (RT-32, RT-33), for bots that list them. */
export function digitTools(parts: DigitToolParts): CallTool[] {
  return [collectTool(parts.pad), sendTool(parts)];
}

function collectTool(pad: KeyPad): CallTool {
  return {
    name: 'collect_digits',
    isBuiltIn: true,
    declaration: declarationOf({
      name: 'collect_digits',
      description: DIGIT_TOOL_DESCRIPTIONS.collect_digits,
      parameters: COLLECT_PARAMETERS,
    }),
    isSideEffect: false,
    waitsForCaller: true,
    timeoutMs: COLLECT_TIMEOUT_MS,
    filler: null,
    async run(args, { signal }): Promise<ToolOutcome> {
      const rules = collectRules(args);
      const { status, digits } = await pad.collect(rules, signal);
      const given = rules.isSecret && digits !== '' ? pad.keepSecret(digits) : digits;
      return { status: status === 'complete' ? 'ok' : status, result: { status, digits: given } };
    },
  };
}

function sendTool({ pad, sendKeys, report }: DigitToolParts): CallTool {
  return {
    name: 'send_dtmf',
    isBuiltIn: true,
    declaration: declarationOf({
      name: 'send_dtmf',
      description: DIGIT_TOOL_DESCRIPTIONS.send_dtmf,
      parameters: SEND_DTMF_PARAMETERS,
    }),
    isSideEffect: true,
    timeoutMs: SEND_TIMEOUT_MS,
    filler: null,
    run(args): ToolOutcome {
      const keys = typeof args.keys === 'string' ? args.keys.trim().slice(0, 200) : '';
      const plain = pad.reveal(keys);
      let tones: Int16Array;
      try {
        tones = dtmfTones(plain);
      } catch (error) {
        if (!(error instanceof AppError)) throw error;
        return { status: 'failed', result: { error: error.message }, error: error.message };
      }
      sendKeys?.(plain);
      // The placeholder of a secret, and not the secret.
      report('dtmf_sent', { digits: keys });
      return { status: 'ok', result: { status: 'ok' }, ...(sendKeys ? {} : { sound: tones }) };
    },
  };
}

/** 100 ms on, 80 ms off (RT-33). */
const ON_MS = 100;
const OFF_MS = 80;
/** A comma waits, as in every dialling string. */
const COMMA_MS = 1_000;
/** Edges are rounded, because a hard edge is a click that sounds on every frequency. */
const EDGE_MS = 2;

/** The high group is 2 dB stronger, since lines lose more of it (ITU-T Q.23, Q.24); 0 dBm0 is 3.14 dB below full scale. */
const ROW_DBM0 = -11;
const COLUMN_DBM0 = -9;
const FULL_SCALE_DBM0 = 3.14;

/**
 * The tones of a dialling string (0 to 9, *, #, A to D, and a comma for one second of silence) as LINEAR16, for far
 * ends that take no digit messages (RT-33). Throws `bad_request` for anything else, and for more than 32 signs.
 */
export function dtmfTones(keys: string, rateHz: 8_000 | 16_000 = LINE_RATE_HZ): Int16Array<ArrayBuffer> {
  if (keys.length === 0 || keys.length > MAX_TONE_KEYS) {
    throw new AppError('bad_request', `a dialling string has 1 to ${MAX_TONE_KEYS} signs; send it in parts`);
  }
  const perMs = rateHz / 1_000;
  const lengthMs = (key: string) => (key === ',' ? COMMA_MS : ON_MS + OFF_MS);
  const tones = new Int16Array([...keys].reduce((sum, key) => sum + lengthMs(key), 0) * perMs);
  let at = 0;
  for (const key of keys) {
    const place = keyPlace(key);
    if (!place && key !== ',') {
      throw new AppError(
        'bad_request',
        'a dialling string has only 0 to 9, *, #, A to D and commas; correct it',
      );
    }
    if (place) writeTone(tones.subarray(at, at + ON_MS * perMs), place.row, place.column, rateHz);
    at += lengthMs(key) * perMs;
  }
  return tones;
}

function writeTone(into: Int16Array, row: number, column: number, rateHz: number): void {
  const rowStep = (2 * Math.PI * (ROW_HZ[row] as number)) / rateHz;
  const columnStep = (2 * Math.PI * (COLUMN_HZ[column] as number)) / rateHz;
  const rowAmplitude = amplitudeOf(ROW_DBM0);
  const columnAmplitude = amplitudeOf(COLUMN_DBM0);
  const edge = (EDGE_MS * rateHz) / 1_000;
  for (let n = 0; n < into.length; n++) {
    const fromEdge = Math.min(n, into.length - 1 - n);
    const gain = fromEdge >= edge ? 1 : 0.5 - 0.5 * Math.cos((Math.PI * fromEdge) / edge);
    const value = rowAmplitude * Math.sin(rowStep * n) + columnAmplitude * Math.sin(columnStep * n);
    into[n] = Math.round(gain * value);
  }
}

function amplitudeOf(dbm0: number): number {
  return 32_768 * 10 ** ((dbm0 - FULL_SCALE_DBM0) / 20);
}
