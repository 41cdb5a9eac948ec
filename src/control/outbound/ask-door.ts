import { Compile } from 'typebox/compile';
import { DIALOUT_PATH, DialoutAccepted, type DialoutRequest } from '../../contracts/dialout.ts';
import { CORE_SECRET_HEADER } from '../../contracts/http-names.ts';
import { HttpFailure, httpCall } from '../../platform/http-client.ts';
import type { HostAnswer, RefusalReason } from '../fleet/place-on-fleet.ts';

/** interface.md, Limits, "dispatch time-out"; a host says no or yes within it, the ringing comes later. */
const DIALOUT_TIMEOUT_MS = 10_000;
const MAX_ANSWER_BYTES = 65_536;
/** No connection stood, so no request has left. */
const NEVER_CONNECTED = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EHOSTUNREACH', 'ENETUNREACH', 'EAI_AGAIN']);

const accepted = Compile(DialoutAccepted);

/**
 * Asks one fleet server to dial (interface.md, `POST {fleet_url}/rtc/dialout`). An answer that does not come, or cannot
 * be read, is `unknown`: the customer's telephone may ring already, and a second one must not.
 */
export async function askDoor(
  url: string,
  body: DialoutRequest,
  coreSecret: string,
): Promise<HostAnswer<DialoutAccepted>> {
  try {
    const answer = await httpCall(`${url}${DIALOUT_PATH}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(coreSecret === '' ? {} : { [CORE_SECRET_HEADER]: coreSecret }),
      },
      body: JSON.stringify(body),
      timeoutMs: DIALOUT_TIMEOUT_MS,
      maxBytes: MAX_ANSWER_BYTES,
    });
    return readAnswer(answer.status, parse(answer.body));
  } catch (error) {
    const code = error instanceof HttpFailure ? (error.cause as NodeJS.ErrnoException | undefined)?.code : '';
    return NEVER_CONNECTED.has(code ?? '') ? refused('unreachable') : { kind: 'unknown' };
  }
}

function readAnswer(status: number, body: unknown): HostAnswer<DialoutAccepted> {
  if (status === 200) return accepted.Check(body) ? { kind: 'taken', value: body } : { kind: 'unknown' };
  if (status === 429) return { kind: 'full' };
  if (status === 401 || status === 403) return refused('secret');
  if (status === 503) {
    const code = typeof body === 'object' && body !== null ? (body as { code?: unknown }).code : null;
    return refused(code === 'sip_not_configured' ? 'no_sip' : 'not_accepting');
  }
  // A gateway that lost its answer on the way has perhaps delivered the request.
  if (status === 502 || status === 504) return { kind: 'unknown' };
  return refused('unexpected');
}

function refused(reason: RefusalReason): HostAnswer<never> {
  return { kind: 'refused', reason };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
