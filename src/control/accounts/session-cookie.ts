import { SESSION_COOKIE_NAMES } from '../http/authenticate.ts';
import { COOKIE_LIFE_MS } from './sessions.ts';

const [SECURE_NAME, PLAIN_NAME] = SESSION_COOKIE_NAMES;

/** `Set-Cookie` of a login. The `__Host-` name is bound to https, this host and the path `/` by the browser itself. */
export function setCookie(value: string, https: boolean): string {
  return `${nameAndFlags(value, https)}; Max-Age=${COOKIE_LIFE_MS / 1000}`;
}

/** `Set-Cookie` of a logout. */
export function clearedCookie(https: boolean): string {
  return `${nameAndFlags('', https)}; Max-Age=0`;
}

function nameAndFlags(value: string, https: boolean): string {
  const name = https ? SECURE_NAME : PLAIN_NAME;
  return `${name}=${value}; Path=/; HttpOnly; SameSite=Lax${https ? '; Secure' : ''}`;
}
