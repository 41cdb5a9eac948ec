import { Compile } from 'typebox/compile';
import { RoomCallAccepted, WIDGET_PATH, type WidgetDispatchRequest } from '../../contracts/room-requests.ts';
import type { HostAnswer } from '../fleet/place-on-fleet.ts';
import { codeOf, postToHost } from '../fleet/post-to-host.ts';

const accepted = Compile(RoomCallAccepted);

/** Refusals that tell of the host and not of the call: another one may do better. */
const OF_THE_HOST = new Set([
  'draining',
  'slot_died',
  'media_not_configured',
  'media_unavailable',
  'disk_full',
]);

/** Asks one fleet server to bring the bot into the visitor's room (interface.md, Widget token). */
export async function askWidgetDoor(
  url: string,
  body: WidgetDispatchRequest,
  coreSecret: string,
): Promise<HostAnswer<RoomCallAccepted>> {
  const reply = await postToHost(url, WIDGET_PATH, body, coreSecret);
  if (reply.kind === 'unreachable') return { kind: 'refused', reason: 'unreachable' };
  if (reply.kind === 'unknown') return { kind: 'unknown' };
  const { status, body: answer } = reply;
  if (status === 200) {
    return accepted.Check(answer) ? { kind: 'taken', value: answer } : { kind: 'unknown' };
  }
  if (status === 429) return { kind: 'full' };
  if (status === 401 || status === 403) return { kind: 'refused', reason: 'secret' };
  const code = codeOf(answer);
  if (code !== null && !OF_THE_HOST.has(code)) return { kind: 'declined', code };
  return { kind: 'refused', reason: status === 503 ? 'not_accepting' : 'unexpected' };
}
