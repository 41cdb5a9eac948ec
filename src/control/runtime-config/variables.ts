import { localTime } from '../../platform/local-time.ts';
import type { Variables } from '../../platform/render-template.ts';
import { firstNameOf, transliterateName } from './transliterate-name.ts';

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
export function templateVariables(sources: VariableSources): Variables {
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

/** Where a customer's name may stand, the first match wins (R83). */
export const NAME_FIELDS = [
  'CUSTOMERNAME',
  'name',
  'customer_name',
  'borrower_name',
  'farmer_name',
  'FIRSTNAME',
] as const;

/**
 * The variables that a name brings with it, by their full names `crm.CUSTOMERNAME_HI`, `crm.FIRSTNAME`,
 * `crm.FIRSTNAME_HI`, `call.<field>_hi`, `call.<field>_firstname` and `call.<field>_firstname_hi`, where `<field>` is
 * the field that the name was found in. Empty where no field holds a name: a value without a letter is none, and the
 * next field of the list is asked.
 */
export function deriveNameVariables(fields: Readonly<Record<string, unknown>>): Record<string, string> {
  for (const field of NAME_FIELDS) {
    const value = Object.hasOwn(fields, field) ? fields[field] : undefined;
    if (typeof value !== 'string' || !/\p{L}/u.test(value)) continue;
    const name = value.trim();
    const firstName = firstNameOf(name);
    const nameInHindi = transliterateName(name);
    const firstNameInHindi = transliterateName(firstName);
    return {
      'crm.CUSTOMERNAME_HI': nameInHindi,
      'crm.FIRSTNAME': firstName,
      'crm.FIRSTNAME_HI': firstNameInHindi,
      [`call.${field}_hi`]: nameInHindi,
      [`call.${field}_firstname`]: firstName,
      [`call.${field}_firstname_hi`]: firstNameInHindi,
    };
  }
  return {};
}
