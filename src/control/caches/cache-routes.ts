import { Type } from 'typebox';
import { API_PREFIX } from '../../contracts/http-names.ts';
import { AppError } from '../../platform/app-error.ts';
import type { AuditLog } from '../audit/audit-log.ts';
import { type AnyRoute, route } from '../http/route.ts';
import type { CacheRegistry } from './cache-registry.ts';

/** `DELETE /api/v1/caches/{key}`: the next call reads the store again (R177). */
export function cacheRoutes(parts: { caches: CacheRegistry; audit: Pick<AuditLog, 'record'> }): AnyRoute[] {
  return [
    route({
      method: 'DELETE',
      path: `${API_PREFIX}/caches/{key}`,
      operationId: 'clearCache',
      summary: 'Clear one cache entry',
      description:
        'Keys are `bot:{bot_id}` and `system:settings`. Needed only after a change that did not come through the API.',
      tag: 'caches',
      auth: { kind: 'users', roles: ['admin'], orCoreSecret: true },
      params: Type.Object({ key: Type.String({ minLength: 1, maxLength: 100 }) }),
      responses: {
        200: {
          description: 'The entry is gone; `cleared` says whether there was one',
          schema: Type.Object({ key: Type.String(), cleared: Type.Boolean() }),
        },
      },
      handler: async (request) => {
        const { key } = request.params;
        const cleared = parts.caches.clear(key);
        if (cleared === null) {
          throw new AppError('not_found', 'cache keys are bot:{bot_id} and system:settings');
        }
        await parts.audit.record({
          actor: request.actor,
          action: 'cache.clear',
          target: `cache:${key}`,
          before: null,
          after: { cleared },
          requestId: request.requestId,
          ip: request.remoteAddress,
        });
        return { status: 200, json: { key, cleared } };
      },
    }),
  ];
}
