import type { IncomingHttpHeaders } from 'node:http';
import type { AppError } from '../../platform/app-error.ts';
import { retryAfterMs } from '../../platform/retry-after.ts';
import { classOfStatus, type FailureClass, providerError } from '../contract/provider-error.ts';

/** So much of the body of a refusal is read. */
export const MAX_REFUSAL_BYTES = 16_384;
/** So much of what a vendor says is put into a message. */
const MAX_SAID_CHARS = 300;
/** A Retry-After beyond this is taken as this. */
const MAX_RETRY_AFTER_MS = 3_600_000;

/** What a vendor's own error says; what is absent is mapped by the status or close code. */
export interface VendorRefusal {
  class?: FailureClass;
  vendorCode?: string;
  requestId?: string;
  message?: string;
  retryAfterMs?: number;
}

/** The error of a handshake or request that was answered with another status than success. */
export function handshakeError(
  vendor: {
    provider: string;
    family: 'stt' | 'llm' | 'tts';
    secrets?: readonly (string | undefined)[];
    readRefusal?(answer: { status: number; headers: IncomingHttpHeaders; body: string }): VendorRefusal;
  },
  answer: { status: number; headers: IncomingHttpHeaders; body: string },
): AppError {
  const { provider, family } = vendor;
  const { status } = answer;
  const read = vendor.readRefusal?.(answer) ?? {};
  const said = tidyVendorText(read.message ?? answer.body, vendor);
  const waitMs = read.retryAfterMs ?? retryAfterMs(answer.headers['retry-after'], MAX_RETRY_AFTER_MS);
  return providerError(
    {
      provider,
      family,
      class: read.class ?? classOfStatus(status),
      status,
      ...(read.vendorCode === undefined ? {} : { vendorCode: read.vendorCode }),
      ...(read.requestId === undefined ? {} : { requestId: read.requestId }),
      ...(waitMs === null ? {} : { retryAfterMs: waitMs }),
    },
    `${provider} (${family}) refused with status ${status}${said === '' ? '' : `: ${said}`}`,
  );
}

/** Close codes that mean the same everywhere (RFC 6455 7.4.1): what was sent is wrong, or the line went. */
export function classOfCloseCode(code: number): FailureClass {
  return code === 1002 || code === 1003 || code === 1007 || code === 1008 || code === 1009
    ? 'config'
    : 'transient';
}

/** One short line of what a vendor said, fit for a log: no key, no address with a query. */
export function tidyVendorText(text: string, vendor: { secrets?: readonly (string | undefined)[] }): string {
  let said = text;
  for (const secret of vendor.secrets ?? []) if (secret) said = said.replaceAll(secret, '***');
  return said
    .replace(/(wss?|https?):\/\/\S+/g, '(address)')
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .slice(0, MAX_SAID_CHARS);
}
