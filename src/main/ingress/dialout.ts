import { type DialoutAccepted, DialoutRequest } from '../../contracts/dialout.ts';
import type { Logger } from '../../platform/logger.ts';
import type { Settings } from '../../platform/settings.ts';
import { admission, type HostState } from './admission.ts';
import { bodyReader, type IngressHandler, jsonRoute, readOrder } from './json-route.ts';
import { REFUSALS, type Refusal } from './refusal.ts';

/** Takes a slot and has it make the room and dial. `full` when the last slot has gone; a refusal says what is missing. */
export type DialOut = (request: DialoutRequest) => Promise<DialoutAccepted | 'full' | Refusal>;

export interface DialoutOptions extends HostState {
  settings: Pick<Settings, 'coreSecrets'>;
  dialOut?: DialOut;
  logger: Logger;
}

/** The connected event and the numbers, with the escapes that JSON may need. */
const MAX_BODY_BYTES = 65_536;

const readDialout = bodyReader(DialoutRequest, (name) =>
  name === 'variables'
    ? 'this server takes connected_event; variables belong to the public API of the control plane'
    : 'this field is not known here',
);

/**
 * `POST /rtc/dialout` (R160 to R162). The order of the refusals: who is asking, what they
 * ask, and only then how the host fares. A full host says so at once; nothing is queued.
 */
export function createDialout(options: DialoutOptions): IngressHandler {
  return jsonRoute(options.logger, async (request) => {
    const read = await readOrder(request, options.settings.coreSecrets, MAX_BODY_BYTES, readDialout);
    if ('refusal' in read) return read.refusal;
    const refused = admission(options);
    if (refused) return refused;
    if (!options.dialOut) return REFUSALS.sipNotConfigured;
    const answer = await options.dialOut(read.value);
    if (answer === 'full') return REFUSALS.full;
    return answer.status === 'accepted' ? { status: 200, body: answer } : (answer as Refusal);
  });
}
