import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { OPERATOR_FILE, type OperatorFile } from '../../contracts/operator-file.ts';
import { equalsSecret } from '../../platform/constant-time.ts';
import { writeFileDurably } from '../../platform/durable-files.ts';
import { newSecret } from '../../platform/secret-token.ts';
import type { Actor } from '../http/authenticate.ts';

/**
 * How the command line of this machine reaches the running plane: a token in a file of the data folder that only the
 * plane's own user may read. Who reads that file could open the store itself, so it gives nothing away.
 */
export interface OperatorAccess {
  /** Writes the file; a new token with each start. */
  publish(baseUrl: string): Promise<void>;
  actor(token: string): Extract<Actor, { type: 'user' }> | null;
}

/** The name that the audit log has for whoever works on the machine itself. */
export const OPERATOR: Extract<Actor, { type: 'user' }> = {
  type: 'user',
  id: 'operator',
  name: 'operator on this machine',
  role: 'admin',
  sessionId: null,
};

export function createOperatorAccess(dataDir: string): OperatorAccess {
  const token = newSecret('tkl_');
  return {
    async publish(baseUrl) {
      await mkdir(dataDir, { recursive: true, mode: 0o700 });
      const file: OperatorFile = { url: baseUrl, token, pid: process.pid };
      await writeFileDurably(join(dataDir, OPERATOR_FILE), `${JSON.stringify(file)}\n`);
    },
    actor: (given) => (equalsSecret(given, token) ? OPERATOR : null),
  };
}
