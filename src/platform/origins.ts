/** Whether a host name or literal can only be reached from this machine. */
export function isLoopbackHost(host: string): boolean {
  const bare = host.replace(/^\[|\]$/g, '').toLowerCase();
  return bare === 'localhost' || bare === '::1' || /^127(\.\d{1,3}){3}$/.test(bare);
}

/** Plain http is for loopback only (D-53). */
export function isSafeTransport(url: URL): boolean {
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopbackHost(url.hostname));
}

/** The core secret goes to own origins only, never to an arbitrary webhook or config URL (D-52). */
export function mayReceiveSecret(url: string, ownOrigins: readonly string[]): boolean {
  if (!URL.canParse(url)) return false;
  const parsed = new URL(url);
  return ownOrigins.includes(parsed.origin) && isSafeTransport(parsed);
}

/** The host of a URL alone, for logs: paths and queries hold personal data. */
export function hostOf(url: string): string | null {
  return URL.canParse(url) ? new URL(url).host : null;
}
