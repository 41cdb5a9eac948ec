import type { IncomingMessage } from 'node:http';
import { linkRefusal, REFUSALS } from '../../contracts/fleet-refusals.ts';
import { RECORDING_ROUTE } from '../../contracts/fleet-routes.ts';
import { CORE_SECRET_HEADER } from '../../contracts/http-names.ts';
import { matchesAnySecret } from '../../platform/constant-time.ts';
import { judgeLink } from '../../platform/recording-link.ts';
import { recordingPath } from '../outbox/store-recording.ts';
import { type ServedAnswer, type ServedRoute, serve } from './fleet-table.ts';
import { openRecording } from './send-recording.ts';

export interface RecordingRouteOptions {
  recordingsFolder: string;
  /** What signs the links of this host. */
  linkKey: string;
  coreSecrets: readonly string[];
}

/** Recordings that are read at once; each costs main a piece of memory and of its loop. */
const MAX_READERS = 32;

/**
 * A recording of this host (R93), for whoever has a link that the host has signed, until it ends, and for holders of the
 * core secret. Who has neither does not learn whether there is such a recording.
 */
export function serveRecording(options: RecordingRouteOptions): ServedRoute {
  const { recordingsFolder, linkKey, coreSecrets } = options;
  let readers = 0;

  return serve(RECORDING_ROUTE, async ({ params, incoming }): Promise<ServedAnswer> => {
    const { year, month, day, file } = params;
    if (!matchesAnySecret(incoming.headers[CORE_SECRET_HEADER], coreSecrets)) {
      const [path, query] = partsOf(incoming);
      const verdict = judgeLink(linkKey, path, query, Date.now());
      if (verdict !== 'valid') return linkRefusal(verdict);
    }
    if (readers >= MAX_READERS) return REFUSALS.full;
    readers += 1;
    const done = () => {
      readers -= 1;
    };
    const path = recordingPath(recordingsFolder, `${year}/${month}/${day}/${file}`);
    const opened = await openRecording(path).catch((error: unknown) => {
      done();
      throw error;
    });
    if (opened) return { file: { ...opened, done } };
    done();
    return REFUSALS.recordingGone;
  });
}

/** The path as it was sent, which is what was signed. */
function partsOf(incoming: IncomingMessage): [path: string, query: URLSearchParams] {
  const [path = '', query = ''] = (incoming.url ?? '').split('?', 2);
  return [path, new URLSearchParams(query)];
}
