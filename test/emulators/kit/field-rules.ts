/** What one key of a query, a header set or a JSON object may hold. */
export interface FieldRule {
  type: 'string' | 'number' | 'integer' | 'boolean' | 'object' | 'array' | 'null' | 'any';
  required?: boolean;
  nullable?: boolean;
  oneOf?: readonly (string | number | boolean)[];
  min?: number;
  max?: number;
  maxLength?: number;
  /** Of a query only: the key may stand more than once. */
  repeatable?: boolean;
  /** Of an object: its keys, all others being refused. Absent: anything goes in it. */
  fields?: Fields;
  items?: FieldRule;
  maxItems?: number;
  /** A rule that the others cannot say; returns what is wrong. */
  test?(value: never): string | null;
}

export type Fields = Readonly<Record<string, FieldRule>>;

/** Every way in which `value` differs from what is documented, empty where it does not. `where` begins each sentence. */
export function checkFields(value: unknown, fields: Fields, where: string): string[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return [`${where} is not an object`];
  const problems: string[] = [];
  for (const [key, item] of Object.entries(value)) {
    const rule = ruleOf(fields, key);
    if (!rule) problems.push(`${where}: unknown key ${key}`);
    else problems.push(...checkValue(item, rule, `${where}.${key}`));
  }
  for (const [key, rule] of Object.entries(fields)) {
    if (rule.required && !Object.hasOwn(value, key)) problems.push(`${where}: key ${key} is missing`);
  }
  return problems;
}

export function checkValue(value: unknown, rule: FieldRule, where: string): string[] {
  if (value === null && rule.nullable) return [];
  if (!hasType(value, rule.type)) return [`${where} is not of type ${rule.type}`];
  const problems: string[] = [];
  if (rule.oneOf && !rule.oneOf.includes(value as string))
    problems.push(`${where} is not one of ${rule.oneOf.join(', ')}`);
  if (typeof value === 'number') {
    if (rule.min !== undefined && value < rule.min) problems.push(`${where} is below ${rule.min}`);
    if (rule.max !== undefined && value > rule.max) problems.push(`${where} is above ${rule.max}`);
  }
  if (typeof value === 'string' && rule.maxLength !== undefined && value.length > rule.maxLength)
    problems.push(`${where} is longer than ${rule.maxLength} characters`);
  if (rule.fields) problems.push(...checkFields(value, rule.fields, where));
  if (Array.isArray(value)) {
    if (rule.maxItems !== undefined && value.length > rule.maxItems)
      problems.push(`${where} has more than ${rule.maxItems} items`);
    if (rule.items) {
      for (const [index, item] of value.entries())
        problems.push(...checkValue(item, rule.items, `${where}[${index}]`));
    }
  }
  const wrong = rule.test?.(value as never);
  if (wrong) problems.push(`${where} ${wrong}`);
  return problems;
}

/** As `checkFields`, for a query: values are texts that must read as the rule's type. */
export function checkQuery(query: URLSearchParams, fields: Fields): string[] {
  const problems: string[] = [];
  for (const key of new Set(query.keys())) {
    const rule = ruleOf(fields, key);
    const values = query.getAll(key);
    if (!rule) {
      problems.push(`query: unknown key ${key}`);
      continue;
    }
    if (values.length > 1 && !rule.repeatable) problems.push(`query: ${key} stands ${values.length} times`);
    for (const value of values) problems.push(...checkValue(readText(value, rule), rule, `query.${key}`));
  }
  for (const [key, rule] of Object.entries(fields)) {
    if (rule.required && !query.has(key)) problems.push(`query: key ${key} is missing`);
  }
  return problems;
}

/** A query's value in the type of its rule; where it does not read as such, the text, which the check then refuses. */
export function readText(value: string, rule: FieldRule): unknown {
  if (rule.type === 'number' || rule.type === 'integer') {
    return /^-?\d+(\.\d+)?$/.test(value) ? Number(value) : value;
  }
  if (rule.type === 'boolean') return value === 'true' ? true : value === 'false' ? false : value;
  return value;
}

function ruleOf(fields: Fields, key: string): FieldRule | undefined {
  return Object.hasOwn(fields, key) ? fields[key] : undefined;
}

function hasType(value: unknown, type: FieldRule['type']): boolean {
  switch (type) {
    case 'any':
      return true;
    case 'null':
      return value === null;
    case 'integer':
      return Number.isInteger(value);
    case 'number':
      return typeof value === 'number' && Number.isFinite(value);
    case 'array':
      return Array.isArray(value);
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value);
    default:
      return typeof value === type;
  }
}
