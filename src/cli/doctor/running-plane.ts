import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { API_PREFIX } from '../../contracts/http-names.ts';
import { OPERATOR_FILE, type OperatorFile } from '../../contracts/operator-file.ts';
import { httpCall } from '../../platform/http-client.ts';
import type { Settings } from '../../platform/settings.ts';

/** A look at the media server asks four sides of it, five seconds each at most. */
const ANSWER_MS = 25_000;
const MAX_BYTES = 4 * 1_048_576;

/** Asks the running control plane as the operator of this machine. Rejects where it does not answer. */
export type Ask = (method: string, path: string) => Promise<{ status: number; json: unknown }>;

/** Null where no control plane of this data folder runs. */
export function runningPlane(settings: Settings): Ask | null {
  let file: OperatorFile;
  try {
    file = JSON.parse(readFileSync(join(settings.dataDir, OPERATOR_FILE), 'utf8')) as OperatorFile;
  } catch {
    return null;
  }
  return async (method, path) => {
    const answer = await httpCall(`${file.url}${API_PREFIX}${path}`, {
      method,
      headers: { authorization: `Bearer ${file.token}` },
      timeoutMs: ANSWER_MS,
      maxBytes: MAX_BYTES,
    });
    return { status: answer.status, json: answer.body === '' ? null : JSON.parse(answer.body) };
  };
}
