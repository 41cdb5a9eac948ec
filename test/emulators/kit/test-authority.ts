import { readFileSync } from 'node:fs';
import { projectPath } from '../../../src/platform/project-paths.ts';

export interface TestAuthority {
  /** Path of the authority's certificate, for NODE_EXTRA_CA_CERTS and for options named `ca`. */
  caFile: string;
  ca: string;
  key: string;
  cert: string;
}

/**
 * The certificate authority that emulators with TLS are signed by: `localhost`, 127.0.0.1 and ::1, valid from 2020 to
 * 2120. Node cannot make certificates and not every test machine has a tool for it, so the files stand in the
 * repository; nobody but a test trusts them.
 */
export function testAuthority(): TestAuthority {
  const file = (name: string) => projectPath(`test/emulators/kit/${name}`);
  return {
    caFile: file('test-authority.pem'),
    ca: readFileSync(file('test-authority.pem'), 'utf8'),
    key: readFileSync(file('test-server-key.pem'), 'utf8'),
    cert: readFileSync(file('test-server.pem'), 'utf8'),
  };
}
