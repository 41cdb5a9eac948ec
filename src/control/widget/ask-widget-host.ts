import { Compile } from 'typebox/compile';
import { RoomCallAccepted, WIDGET_PATH, type WidgetDispatchRequest } from '../../contracts/room-requests.ts';
import { askHost } from '../fleet/ask-host.ts';
import type { HostAnswer } from '../fleet/place-on-fleet.ts';

const accepted = Compile(RoomCallAccepted);

/** Refusals that tell of the host and not of the call: another one may do better. */
const OF_THE_HOST = new Set([
  'draining',
  'slot_died',
  'media_not_configured',
  'media_unavailable',
  'disk_full',
]);

/** Asks one fleet server to bring the bot into the visitor's room (R140). */
export function askWidgetHost(
  url: string,
  body: WidgetDispatchRequest,
  coreSecret: string,
): Promise<HostAnswer<RoomCallAccepted>> {
  return askHost(url, {
    path: WIDGET_PATH,
    body,
    coreSecret,
    isAccepted: (answer): answer is RoomCallAccepted => accepted.Check(answer),
    refused(status, code) {
      if (code !== null && !OF_THE_HOST.has(code)) return { kind: 'declined', code };
      return { kind: 'refused', reason: status === 503 ? 'not_accepting' : 'unexpected' };
    },
  });
}
