import type { RuntimeConfig } from '../../contracts/runtime-config.ts';
import type { Variables } from '../../platform/render-template.ts';

/**
 * What `{{namespace.field}}` stands for when a tool or a transfer runs: the context maps of the config (R67), under
 * the names that prompts use and under their own. Headers of a SIP call are in `call.*` too.
 */
export function callVariables(
  config: Pick<RuntimeConfig, 'sip_context' | 'call_context' | 'crm_context'>,
): Variables {
  const [sip, call, crm] = [config.sip_context, config.call_context, config.crm_context].map(
    (map) => (map ?? {}) as Record<string, unknown>,
  ) as [Record<string, unknown>, Record<string, unknown>, Record<string, unknown>];
  return { sip, call, crm, sip_context: sip, call_context: call, crm_context: crm };
}
