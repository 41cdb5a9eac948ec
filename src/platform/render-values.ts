import { renderTemplate, type Variables } from './render-template.ts';

/** What becomes of a text that names an unknown variable (contracts/crm.ts, PostCallPush). */
export type Missing = 'literal' | 'null' | 'omit';

export interface RenderedValue {
  value: unknown;
  /** Names that no namespace has, each once, in the order of the template. */
  missing: readonly string[];
}

/** Deeper templates are refused when a bot is saved; here they end as null. */
const MAX_DEPTH = 20;
const VARIABLE = /\{\{([^{}]*)\}\}/g;

/**
 * Fills every text of a JSON template. A text that is one variable and nothing else takes the value as it is, so that
 * numbers stay numbers and lists stay lists. Keys are not templates.
 */
export function renderJson(template: unknown, variables: Variables, missing: Missing): RenderedValue {
  const unknown = new Set<string>();
  const value = render(template, variables, missing, unknown, 0);
  return { value: value === OMITTED ? null : value, missing: [...unknown] };
}

/**
 * The URL with each value percent-encoded where it stands. A host never comes from a variable (contracts/crm.ts), and
 * neither does a step up in the path: `..` has no encoded form that URL parsers do not undo, so its dots are encoded
 * twice and name nothing.
 */
export function renderUrl(template: string, variables: Variables): { url: string; missing: string[] } {
  const missing = unknownVariables(template, variables);
  const url = template.replace(VARIABLE, (literal, inner: string) => {
    const found = variableValue(inner.trim(), variables);
    if (found === undefined) return literal;
    const text = plainText(found).toWellFormed();
    return /^\.{1,2}$/.test(text) ? text.replaceAll('.', '%252E') : encodeURIComponent(text);
  });
  return { url, missing };
}

/**
 * Header values. Line breaks and other control characters of a value become spaces, so that no variable can begin a
 * header of its own; what is beyond ASCII is percent-encoded, because HTTP has no other form for it. Names are written
 * small, unless something other than HTTP reads them.
 */
export function renderHeaders(
  templates: Readonly<Record<string, string>>,
  variables: Variables,
  options: { keepCase?: boolean } = {},
): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, template] of Object.entries(templates)) {
    if (isOwnHeader(name)) continue;
    headers[options.keepCase ? name : name.toLowerCase()] = renderTemplate(template, variables)
      .toWellFormed()
      .replace(/[\p{Cc}]+/gu, ' ')
      .replace(/[^\x20-\x7e]+/g, encodeURIComponent)
      .trim();
  }
  return headers;
}

/** What the client itself says about a request, and what a signature covers; nobody else sets these. */
export function isOwnHeader(name: string): boolean {
  return OWN_HEADERS.test(name);
}

const OWN_HEADERS =
  /^(host|content-length|content-type|transfer-encoding|connection|upgrade|te|trailer|expect|accept-encoding|user-agent|webhook-.*)$/i;

/** Names in a template that no namespace has. */
export function unknownVariables(template: string, variables: Variables): string[] {
  const names = [...template.matchAll(VARIABLE)].map((match) => (match[1] ?? '').trim());
  return [...new Set(names)].filter((name) => variableValue(name, variables) === undefined);
}

const OMITTED = Symbol('omitted');

function render(
  template: unknown,
  variables: Variables,
  missing: Missing,
  unknown: Set<string>,
  depth: number,
): unknown {
  if (typeof template === 'string') return renderText(template, variables, missing, unknown);
  if (typeof template !== 'object' || template === null) return template;
  if (depth >= MAX_DEPTH) return null;
  const inner = (value: unknown) => render(value, variables, missing, unknown, depth + 1);
  if (Array.isArray(template)) return template.map(inner).filter((value) => value !== OMITTED);
  return Object.fromEntries(
    Object.entries(template)
      .map(([key, value]) => [key, inner(value)] as const)
      .filter(([, value]) => value !== OMITTED),
  );
}

function renderText(template: string, variables: Variables, missing: Missing, unknown: Set<string>): unknown {
  const names = unknownVariables(template, variables);
  for (const name of names) unknown.add(name);
  if (names.length > 0 && missing !== 'literal') return missing === 'null' ? null : OMITTED;
  const single = /^\{\{([^{}]*)\}\}$/.exec(template);
  const value = single ? variableValue((single[1] ?? '').trim(), variables) : undefined;
  return value === undefined ? renderTemplate(template, variables) : value;
}

function variableValue(name: string, variables: Variables): unknown {
  const dot = name.indexOf('.');
  if (dot <= 0) return undefined;
  const namespace = name.slice(0, dot);
  const values = Object.hasOwn(variables, namespace) ? variables[namespace] : undefined;
  const field = name.slice(dot + 1);
  return values !== undefined && Object.hasOwn(values, field) ? values[field] : undefined;
}

function plainText(value: unknown): string {
  if (value === null) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
