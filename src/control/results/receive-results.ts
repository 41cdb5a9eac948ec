import { Compile } from 'typebox/compile';
import { CallResults } from '../../contracts/call-results.ts';
import { RESULTS_PATH } from '../../contracts/http-names.ts';
import { RESULTS_MAX_BYTES } from '../../contracts/limits.ts';
import { AppError } from '../../platform/app-error.ts';
import type { HttpReply, HttpRequest, HttpRoute } from '../../platform/http-server.ts';
import type { Logger } from '../../platform/logger.ts';
import type { CallRecordStore } from '../calls/call-store.ts';
import type { CoreSecretGuard } from '../http/core-secret-guard.ts';

export interface ReceiveResultsParts {
  calls: CallRecordStore;
  guard: CoreSecretGuard;
  /** `STRICT_RESULTS`: only who knows the core secret may deliver. */
  strict: boolean;
  logger: Logger;
  nowIso: () => string;
}

/**
 * `POST /api/v1/call-results` (interface.md, Results webhook; decisions.md 10). 200 is said only when the record is on
 * disk. Unsigned results are taken for a session that this plane opened: its id is the capability.
 */
export function resultsRoute(parts: ReceiveResultsParts): HttpRoute {
  return {
    method: 'POST',
    path: RESULTS_PATH,
    maxBodyBytes: RESULTS_MAX_BYTES,
    handler: (request) => receiveResults(parts, request),
  };
}

/** More mistakes than these in one body are not told. */
const MAX_ERRORS = 20;
const schema = Compile(CallResults);

async function receiveResults(parts: ReceiveResultsParts, request: HttpRequest): Promise<HttpReply> {
  if (parts.strict) parts.guard.check(request);
  const results = readResults(request);
  const completion = await parts.calls.complete(results, parts.nowIso());
  const log = { session_id: results.session_id, disconnected_by: results.disconnected_by };
  if (completion.outcome === 'orphan') {
    parts.logger.warn(log, 'results came for a session that was never opened here');
  } else if (completion.outcome === 'duplicate' && !completion.same) {
    parts.logger.warn(log, 'different results came for a call that has its results; the first stay');
  } else {
    parts.logger.info(
      log,
      completion.outcome === 'completed' ? 'call results stored' : 'call results repeated',
    );
  }
  return {
    status: 200,
    json: { status: completion.outcome === 'completed' ? 'ok' : completion.outcome },
  };
}

function readResults(request: HttpRequest): CallResults {
  const type = request.headers['content-type'];
  if (type !== undefined && !/^application\/([a-z0-9.-]+\+)?json\s*(;|$)/i.test(type)) {
    throw new AppError('unsupported_media_type', 'call results are sent as application/json');
  }
  let value: unknown;
  try {
    value = JSON.parse(request.body.toString('utf8'));
  } catch (cause) {
    throw new AppError('bad_request', 'the body is not JSON', { cause });
  }
  if (schema.Check(value)) return value;
  throw new AppError('validation_error', 'the body does not fit the call results; `errors` says where', {
    details: { errors: describeMistakes(value) },
  });
}

interface Mistake {
  loc: (string | number)[];
  msg: string;
  type: string;
  pointer: string;
}

/** control-plane.md 2.9: place, sentence, kind and JSON pointer of each mistake. No values, they may be personal. */
function describeMistakes(value: unknown): Mistake[] {
  return schema
    .Errors(value)
    .slice(0, MAX_ERRORS)
    .map((error) => ({
      loc: ['body', ...error.instancePath.split('/').slice(1).map(pathPart)],
      msg: error.message,
      type: error.keyword,
      pointer: error.instancePath,
    }));
}

function pathPart(part: string): string | number {
  return /^\d+$/.test(part) ? Number(part) : part.replaceAll('~1', '/').replaceAll('~0', '~');
}
