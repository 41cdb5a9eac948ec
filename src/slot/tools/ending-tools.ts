import type { RuntimeConfig } from '../../contracts/runtime-config.ts';
import type { Variables } from '../../platform/render-template.ts';
import { chooseTransfer } from '../transfer/transfer-order.ts';
import { type CallTool, reasonOf, type ToolOutcome } from './call-tool.ts';

/**
 * The built-in tools that end the bot's part of a call. None of them does anything by itself: what it wants stands in
 * `after` and is done once the caller has heard the reply.
 */
type Ending = Pick<CallTool, 'isBuiltIn' | 'timeoutMs' | 'filler' | 'declaration'>;

const INSTANT = { isBuiltIn: true, timeoutMs: 1_000, filler: null } as const;

export function endCallTool(declaration: Record<string, unknown>, config: RuntimeConfig): CallTool {
  const closing = config.conversation_policy?.closing;
  const how = typeof closing === 'string' && closing !== '' ? ` ${closing}` : '';
  return {
    ...ending(declaration),
    name: 'end_call',
    isSideEffect: true,
    run: (args) => ({
      status: 'ok',
      result: {
        status: 'ok',
        instruction: `The call ends after your next words. Say a short goodbye now.${how}`,
      },
      after: { kind: 'end_call', reason: reasonOf(args) },
    }),
  };
}

export function transferCallTool(
  declaration: Record<string, unknown>,
  config: RuntimeConfig,
  variables: Variables,
): CallTool {
  return {
    ...ending(declaration),
    name: 'transfer_call',
    isSideEffect: true,
    run(args): ToolOutcome {
      const target = typeof args.target === 'string' ? args.target : '';
      const choice = chooseTransfer(
        config,
        { ...variables, args },
        { target: target.slice(0, 200), reason: reasonOf(args) },
      );
      if (choice.status === 'ok') {
        return {
          status: 'ok',
          result: { status: 'ok', note: 'The caller is being passed on.' },
          after: { kind: 'transfer', order: choice.order },
        };
      }
      if (choice.status === 'unknown_target') {
        const error = `there is no transfer target of that name`;
        return { status: choice.status, result: { error, targets: choice.known }, error };
      }
      const error = 'no number is configured for this transfer; the caller stays with you';
      return { status: choice.status, result: { error }, error };
    },
  };
}

export function detectedVoicemailTool(declaration: Record<string, unknown>): CallTool {
  return {
    ...ending(declaration),
    name: 'detected_voicemail',
    isSideEffect: false,
    run: (args) => ({
      status: 'ok',
      result: { status: 'ok' },
      after: { kind: 'voicemail', reason: reasonOf(args) },
    }),
  };
}

function ending(declaration: Record<string, unknown>): Ending {
  return { ...INSTANT, declaration };
}
