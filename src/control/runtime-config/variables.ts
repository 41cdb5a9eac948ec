import { localTime } from '../../platform/local-time.ts';
import type { Variables } from '../../platform/render-template.ts';
import { deriveNameVariables } from './name-variables.ts';

/** Where the variables of a call come from. */
export interface VariableSources {
  /** From the query; `call.caller_id` where the handshake itself has none. Empty: not known. */
  callerId: string;
  /** The connected event without the reserved flags. */
  fields: Readonly<Record<string, unknown>>;
  sip: Readonly<Record<string, unknown>>;
  /** Empty unless this attempt calls back someone who asked for it. */
  callback: Readonly<Record<string, unknown>>;
  mockCrm: Readonly<Record<string, unknown>>;
  /** What the CRM answered before the call. */
  prefetched: Readonly<Record<string, unknown>>;
  /** One that exists. */
  timezone: string;
  nowIso: string;
}

/**
 * The merged dictionary of a call (R77 to R81). Derived name variables come in addition and
 * replace nothing that the dialler or the CRM has said itself.
 */
export function callVariables(sources: VariableSources): Variables {
  const crm = effectiveCrm(sources);
  const derived = deriveNameVariables(crm);
  return {
    system: systemVariables(sources.timezone, sources.nowIso),
    call: {
      ...namespaced(derived, 'call'),
      ...(sources.callerId === '' ? {} : { caller_id: sources.callerId }),
      ...sources.callback,
      ...sources.sip,
      ...sources.fields,
    },
    crm: { ...namespaced(derived, 'crm'), ...crm },
  };
}

/** Each source overrides the ones before it (R80). */
export function effectiveCrm(
  sources: Pick<VariableSources, 'fields' | 'mockCrm' | 'prefetched'>,
): Record<string, unknown> {
  return { ...sources.fields, ...sources.mockCrm, ...sources.prefetched };
}

function namespaced(derived: Readonly<Record<string, string>>, namespace: string): Record<string, string> {
  const prefix = `${namespace}.`;
  const own = Object.entries(derived).filter(([name]) => name.startsWith(prefix));
  return Object.fromEntries(own.map(([name, value]) => [name.slice(prefix.length), value]));
}

/** Every name there is in `system.*`. */
export const SYSTEM_VARIABLES = ['current_date', 'current_time', 'current_datetime', 'timezone'] as const;

export function systemVariables(
  timezone: string,
  nowIso: string,
): Record<(typeof SYSTEM_VARIABLES)[number], string> {
  const { date, time } = localTime(timezone, Date.parse(nowIso));
  return { current_date: date, current_time: time, current_datetime: `${date} ${time}`, timezone };
}
