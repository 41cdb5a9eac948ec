import { CALLS_PATH } from '../../contracts/room-requests.ts';
import { AppError } from '../../platform/app-error.ts';
import type { Logger } from '../../platform/logger.ts';
import { postToHost } from '../fleet/post-to-host.ts';
import type { OutboundCall } from './outbound-store.ts';

const RETRY_SECONDS = 5;

/**
 * Ends an outbound call that rings or talks, at the host that has it. A call that the host no longer knows is over, and
 * that is what was wanted. Throws `no_fleet` where the host does not answer: the call may go on then.
 */
export async function cancelCall(
  parts: { coreSecret: string; logger: Logger },
  call: OutboundCall,
): Promise<void> {
  const path = `${CALLS_PATH}${encodeURIComponent(call.call_id)}/hangup`;
  const reply = await postToHost(call.fleet_url, path, {}, parts.coreSecret);
  if (reply.kind === 'answer' && (reply.status === 200 || reply.status === 404)) {
    parts.logger.info({ call_id: call.call_id, session_id: call.session_id }, 'outbound call cancelled');
    return;
  }
  const status = reply.kind === 'answer' ? reply.status : null;
  parts.logger.warn(
    { call_id: call.call_id, fleet_url: call.fleet_url, kind: reply.kind, status },
    'a fleet server could not be told to end a call',
  );
  throw new AppError('no_fleet', 'the fleet server of this call does not end it; try again', {
    details: { retryAfterSeconds: RETRY_SECONDS },
  });
}
