import { Compile } from 'typebox/compile';
import { DIALOUT_PATH, DialoutAccepted, type DialoutRequest } from '../../contracts/dialout.ts';
import type { HostAnswer } from '../fleet/place-on-fleet.ts';
import { codeOf, postToHost } from '../fleet/post-to-host.ts';

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
  const reply = await postToHost(url, DIALOUT_PATH, body, coreSecret);
  if (reply.kind === 'unreachable') return { kind: 'refused', reason: 'unreachable' };
  if (reply.kind === 'unknown') return { kind: 'unknown' };
  const { status, body: answer } = reply;
  if (status === 200) {
    return accepted.Check(answer) ? { kind: 'taken', value: answer } : { kind: 'unknown' };
  }
  if (status === 429) return { kind: 'full' };
  if (status === 401 || status === 403) return { kind: 'refused', reason: 'secret' };
  if (status === 503) {
    const noSip = codeOf(answer) === 'sip_not_configured';
    return { kind: 'refused', reason: noSip ? 'no_sip' : 'not_accepting' };
  }
  return { kind: 'refused', reason: 'unexpected' };
}
