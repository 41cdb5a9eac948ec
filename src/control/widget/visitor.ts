import type { WidgetDispatchRequest } from '../../contracts/room-requests.ts';

type Visitor = NonNullable<WidgetDispatchRequest['visitor']>;

const MAX_URL_CHARS = 2_000;

/** In this order: Edge and Opera call themselves Chrome, too, and Chrome calls itself Safari. */
const FAMILIES: readonly [RegExp, string][] = [
  [/\bEdg(A|iOS)?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\b(Firefox|FxiOS)\//, 'Firefox'],
  [/\b(Chrome|CriOS|Chromium)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
];

/**
 * What the headers of a token request tell about the visitor. The browser is only named by its family: more would be
 * a fingerprint.
 */
export function visitorOf(headers: Readonly<Record<string, string>>): Visitor {
  const page = headers.referer ?? headers.origin;
  const locale = /^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8}){0,3}/.exec(headers['accept-language'] ?? '')?.[0];
  const agent = headers['user-agent'] ?? '';
  const family = FAMILIES.find(([pattern]) => pattern.test(agent))?.[1];
  return {
    ...(page !== undefined && /^https?:\/\//.test(page) ? { page_url: page.slice(0, MAX_URL_CHARS) } : {}),
    ...(locale === undefined ? {} : { locale }),
    ...(family === undefined ? {} : { user_agent_family: family }),
  };
}
