import { firstNameOf, transliterateName } from './transliterate-name.ts';

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
