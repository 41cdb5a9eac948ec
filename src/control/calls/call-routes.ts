import type { AnyRoute } from '../http/route.ts';
import { callContentRoutes } from './content-routes.ts';
import { type CallRouteParts, callRecordRoutes } from './record-routes.ts';

/** Everything that reads or changes what calls left. */
export function callRoutes(parts: CallRouteParts): AnyRoute[] {
  return [...callRecordRoutes(parts), ...callContentRoutes(parts)];
}
