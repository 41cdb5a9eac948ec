import { CORE_SECRET_HEADER } from '../../contracts/http-names.ts';
import { HttpFailure, httpCall } from '../../platform/http-client.ts';
import type { HostAnswer } from './place-on-fleet.ts';

/** A host says no or yes within this (R141). */
export const HOST_ANSWER_MS = 10_000;
const MAX_ANSWER_BYTES = 65_536;
/** No connection stood, so no request has left. */
const NEVER_CONNECTED = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EHOSTUNREACH', 'ENETUNREACH', 'EAI_AGAIN']);

export type HostReply =
  | { kind: 'answer'; status: number; body: unknown }
  /** It was never asked. */
  | { kind: 'unreachable' }
  /** It was asked, and what it said is lost: the request may have had its effect. */
  | { kind: 'unknown' };

/** Asks the fleet ingress of one host, with the core secret. Never rejects. */
export async function postToHost(
  url: string,
  path: string,
  body: unknown,
  coreSecret: string,
): Promise<HostReply> {
  try {
    const answer = await httpCall(`${url}${path}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(coreSecret === '' ? {} : { [CORE_SECRET_HEADER]: coreSecret }),
      },
      body: JSON.stringify(body),
      timeoutMs: HOST_ANSWER_MS,
      maxBytes: MAX_ANSWER_BYTES,
    });
    // A gateway that lost its answer on the way has perhaps delivered the request.
    if (answer.status === 502 || answer.status === 504) return { kind: 'unknown' };
    return { kind: 'answer', status: answer.status, body: parse(answer.body) };
  } catch (error) {
    const code = error instanceof HttpFailure ? (error.cause as NodeJS.ErrnoException | undefined)?.code : '';
    return { kind: NEVER_CONNECTED.has(code ?? '') ? 'unreachable' : 'unknown' };
  }
}

/** `code` of an ingress's refusal; null where there is none. */
export function codeOf(body: unknown): string | null {
  const code = typeof body === 'object' && body !== null ? (body as { code?: unknown }).code : null;
  return typeof code === 'string' ? code : null;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** An order for one fleet server, and how its answers are read. */
interface HostOrder<T> {
  path: string;
  body: unknown;
  coreSecret: string;
  isAccepted(answer: unknown): answer is T;
  /** What a refusal that is neither about room nor about the secret means. */
  refused(status: number, code: string | null): HostAnswer<never>;
}

/**
 * Asks one fleet server for a call. An answer that does not come, or cannot be read, is `unknown`: a telephone may ring
 * already, and a second one must not. Never rejects.
 */
export async function askHost<T>(url: string, order: HostOrder<T>): Promise<HostAnswer<T>> {
  const reply = await postToHost(url, order.path, order.body, order.coreSecret);
  if (reply.kind === 'unreachable') return { kind: 'refused', reason: 'unreachable' };
  if (reply.kind === 'unknown') return { kind: 'unknown' };
  const { status, body: answer } = reply;
  if (status === 200)
    return order.isAccepted(answer) ? { kind: 'taken', value: answer } : { kind: 'unknown' };
  if (status === 429) return { kind: 'full' };
  if (status === 401 || status === 403) return { kind: 'refused', reason: 'secret' };
  return order.refused(status, codeOf(answer));
}
