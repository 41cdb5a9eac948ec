import type { RuntimeConfig } from '../../contracts/runtime-config.ts';
import { describeError } from '../../platform/app-error.ts';
import { renderTemplate, type Variables } from '../../platform/render-template.ts';
import { spokenLanguage } from '../../providers/spoken-lines/rescue-lines.ts';
import { callerLine } from '../speak/caller-lines.ts';
import { type CallTool, reasonOf, type ToolOutcome } from '../tools/call-tool.ts';
import type { HandoffSetup } from './handoff-setup.ts';

/** Making a room and joining it, with the SDK loaded for it: 6 s at the most for the join, and what stands before it. */
const PREPARE_MS = 12_000;

/**
 * `transfer_to_agent`: hands the caller to a person at the agent desk (RT-37). The place where the two will meet is
 * made before the caller is promised anything; where it cannot be, the model hears so and goes on with the call.
 */
export function agentTool(
  config: RuntimeConfig,
  parts: { setup: HandoffSetup | null; variables: Variables; isTaken: () => boolean },
): CallTool {
  return {
    name: 'transfer_to_agent',
    isBuiltIn: true,
    declaration: {
      type: 'function',
      function: {
        name: 'transfer_to_agent',
        description:
          'Hands the caller to a person of the team. Use it when they ask for one or you cannot help.',
        parameters: {
          type: 'object',
          properties: { reason: { type: 'string', description: 'Why, in one sentence for the person' } },
          required: ['reason'],
        },
      },
    },
    isSideEffect: true,
    timeoutMs: PREPARE_MS,
    filler: null,
    async run(args): Promise<ToolOutcome> {
      const { setup } = parts;
      if (!config.agent_desk_enabled) return refused('not_enabled', 'this bot has no agent desk');
      if (!setup) return refused('not_configured', 'no media server is set up, so nobody can take over');
      if (parts.isTaken()) return refused('repeated', 'the caller is being handed over already');
      try {
        await setup.place.open();
      } catch (error) {
        return refused('failed', describeError(error));
      }
      return {
        status: 'ok',
        result: { status: 'ok', note: 'The caller is being handed to a person.' },
        after: { kind: 'handoff', reason: reasonOf(args), message: announcement(config, parts.variables) },
      };
    },
  };
}

function announcement(config: RuntimeConfig, variables: Variables): string {
  const own = config.pre_transfer_message;
  if (own !== null && own.trim() !== '') return renderTemplate(own, variables);
  return callerLine(spokenLanguage(config), 'handoff_wait');
}

function refused(status: string, error: string): ToolOutcome {
  const told = 'No person can be reached now. Say so and go on with the call yourself.';
  return { status, result: { status, error: told }, error };
}
