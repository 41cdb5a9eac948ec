/** Values by namespace: `{{call.city}}` is `variables.call.city`. */
export type Variables = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/**
 * Fills `{{namespace.field}}` (R81, R82). A variable that is in no namespace stays as it is
 * written. One pass: a value that itself looks like a variable is not filled again, so a caller cannot make the prompt
 * show what was not meant for it.
 */
export function renderTemplate(template: string, variables: Variables): string {
  return template.replace(/\{\{([^{}]*)\}\}/g, (literal, inner: string) => {
    const found = lookUp(inner.trim(), variables);
    return found === undefined ? literal : asText(found);
  });
}

/** The start of the template that holds no variable, cut after its last whole line. */
export function staticPart(template: string): string {
  const variable = template.search(/\{\{[^{}]*\}\}/);
  if (variable < 0) return template;
  return template.slice(0, template.lastIndexOf('\n', variable) + 1);
}

/** Whether the text says the same in every call. */
export function isFixed(template: string): boolean {
  return staticPart(template) === template;
}

function lookUp(name: string, variables: Variables): unknown {
  const dot = name.indexOf('.');
  if (dot <= 0) return undefined;
  const namespace = name.slice(0, dot);
  const field = name.slice(dot + 1);
  if (!Object.hasOwn(variables, namespace)) return undefined;
  const values = variables[namespace] ?? {};
  return Object.hasOwn(values, field) ? values[field] : undefined;
}

function asText(value: unknown): string {
  if (value === null) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
