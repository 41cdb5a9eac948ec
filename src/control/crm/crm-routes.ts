import type { AnyRoute } from '../http/route.ts';
import type { CrmRouteParts } from './crm-route-parts.ts';
import { crmSecretRoutes } from './crm-secret-routes.ts';
import { pushRoutes } from './push-routes.ts';
import { pushTrialRoutes } from './trial-routes.ts';

/** `/api/v1/bots/{bot_id}/crm/…`: what an admin does about the CRM of a bot beside editing the bot. */
export function crmRoutes(parts: CrmRouteParts): AnyRoute[] {
  return [...crmSecretRoutes(parts), ...pushRoutes(parts), ...pushTrialRoutes(parts)];
}
