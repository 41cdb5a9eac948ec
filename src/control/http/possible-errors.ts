import { ERRORS, type ErrorCode } from '../../contracts/error-catalogue.ts';
import type { AnyRoute } from './route.ts';

/** What the table and the server may answer to a request for `route`, beside what the route itself declares. */
export function possibleErrors(route: AnyRoute): ErrorCode[] {
  const { auth } = route;
  const takesBody = route.body !== undefined || route.method !== 'GET';
  const codes: (ErrorCode | false)[] = [
    'bad_request',
    (auth.kind === 'users' || auth.kind === 'api_key') && 'unauthorized',
    auth.kind !== 'public' && 'forbidden',
    route.params !== undefined && 'not_found',
    route.idempotent === true && 'idempotency_in_progress',
    takesBody && 'payload_too_large',
    takesBody && 'unsupported_media_type',
    'validation_error',
    route.idempotent === true && 'idempotency_mismatch',
    'at_capacity',
    route.rateLimit !== false && 'rate_limited',
    'internal',
    (auth.kind !== 'public' || takesBody) && 'store_unavailable',
  ];
  return codes.filter((code) => code !== false);
}

/** Every status that a request for `route` may be answered with. */
export function possibleStatuses(route: AnyRoute): number[] {
  const statuses = [
    ...Object.keys(route.responses).map(Number),
    ...possibleErrors(route).map((code) => ERRORS[code].status),
  ];
  return [...new Set(statuses)].sort((a, b) => a - b);
}
