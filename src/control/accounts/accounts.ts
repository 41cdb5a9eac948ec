import type { Authenticator } from '../http/authenticate.ts';
import type { AnyRoute } from '../http/route.ts';
import type { LoginParts } from './login.ts';
import type { ManageUsersParts } from './manage-users.ts';
import type { Sessions } from './sessions.ts';

/** Everything about people, keys and their sessions, put together for one control plane. */
export interface Accounts extends LoginParts, ManageUsersParts {
  sessions: Sessions;
  authenticator: Authenticator;
  routes: AnyRoute[];
  baseUrl(): string;
  passwordUrl(token: string): string;
  /**
   * Called once the plane listens: lets the command line in, and returns the link that makes the first admin, or null
   * where there is one. Each start makes a new link; the earlier one ends.
   */
  open(listeningUrl: string): Promise<{ setupUrl: string | null }>;
}
