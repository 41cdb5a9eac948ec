import { randomBytes } from 'node:crypto';
import { RECORDINGS_PATH } from '../../contracts/http-names.ts';
import type { KeyValueStore } from '../../platform/key-value-store.ts';
import { type LinkSigner, signedLink } from '../../platform/recording-link.ts';

const KEY_BYTES = 32;
/** How slots name recordings: by the day and the call. Such a key needs no encoding in a URL. */
const RECORDING_KEY = /^\d{4}\/\d{2}\/\d{2}\/[A-Za-z0-9-]{1,100}\.wav$/;

/** The key that signs links to the recordings of this host. It lies in the store, so that links outlive a restart. */
export async function readRecordingKey(store: KeyValueStore): Promise<string> {
  const table = store.table<string>('host');
  const standing = table.get('recording-link-key');
  if (standing !== undefined) return standing;
  const fresh = randomBytes(KEY_BYTES).toString('base64url');
  await table.put('recording-link-key', fresh);
  return fresh;
}

/** The `recording_url` of a recording that this host gives out itself; null where its key is none of ours. */
export function recordingLink(signer: LinkSigner, recordingKey: string, nowMs: number): string | null {
  return RECORDING_KEY.test(recordingKey)
    ? signedLink(signer, `${RECORDINGS_PATH}${recordingKey}`, nowMs)
    : null;
}
