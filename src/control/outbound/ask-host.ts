import { Compile } from 'typebox/compile';
import { DIALOUT_PATH, DialoutAccepted, type DialoutRequest } from '../../contracts/dialout.ts';
import { askHost } from '../fleet/ask-host.ts';
import type { HostAnswer } from '../fleet/place-on-fleet.ts';

const accepted = Compile(DialoutAccepted);

/** Asks one fleet server to dial with `POST {fleet_url}/rtc/dialout` (R160). */
export function askFleetHost(
  url: string,
  body: DialoutRequest,
  coreSecret: string,
): Promise<HostAnswer<DialoutAccepted>> {
  return askHost(url, {
    path: DIALOUT_PATH,
    body,
    coreSecret,
    isAccepted: (answer): answer is DialoutAccepted => accepted.Check(answer),
    refused(status, code) {
      if (status !== 503) return { kind: 'refused', reason: 'unexpected' };
      return { kind: 'refused', reason: code === 'sip_not_configured' ? 'no_sip' : 'not_accepting' };
    },
  });
}
