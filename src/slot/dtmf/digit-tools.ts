import type { CallEventName } from '../../contracts/call-events.ts';
import {
  COLLECT_PARAMETERS,
  DIGIT_TOOL_DESCRIPTIONS,
  SEND_DTMF_PARAMETERS,
} from '../../contracts/digit-tools.ts';
import { AppError } from '../../platform/app-error.ts';
import { type CallTool, declarationOf, type ToolOutcome } from '../tools/call-tool.ts';
import { collectRules } from './collect-digits.ts';
import { dtmfTones } from './dtmf-tones.ts';
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
