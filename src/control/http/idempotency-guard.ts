import { AppError } from '../../platform/app-error.ts';
import { invalid } from '../../platform/http-server/schema-check.ts';
import type { HttpReply } from '../../platform/http-server.ts';
import { fingerprintOf, type IdempotencyStore, KEEP_MS, keyOf } from './idempotency.ts';

export const IDEMPOTENCY_HEADER = 'idempotency-key';
/** Requests with a key at work at once; more are told to come back. */
const MAX_RUNNING = 1_000;

export interface IdempotentRequest {
  who: string;
  operationId: string;
  path: string;
  query: string;
  body: Buffer;
  key: string;
}

/** Runs a request at most once per `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header). */
export interface IdempotencyGuard {
  /**
   * The kept answer with `Idempotency-Replayed: true` where there is one, else that of `run`. Only a success is kept:
   * a refusal has changed nothing, so the request may be tried again. Throws `idempotency_mismatch` for another request
   * under the same key and `idempotency_in_progress` while the first is at work.
   */
  run(request: IdempotentRequest, run: () => Promise<HttpReply>): Promise<HttpReply>;
}

/** What is at work is known in memory only: after a crash nothing is at work, and what was answered is in the store. */
export function createIdempotencyGuard(store: IdempotencyStore, nowMs: () => number): IdempotencyGuard {
  const running = new Set<string>();
  return {
    async run(request, run) {
      if (!/^[\x21-\x7e]{1,255}$/.test(request.key)) {
        const sentence = 'Idempotency-Key is 1 to 255 visible characters; a UUID is best';
        throw invalid(sentence, [
          { loc: ['header', 'Idempotency-Key'], msg: sentence, type: 'value', pointer: '' },
        ]);
      }
      const key = keyOf(request.who, request.operationId, request.key);
      if (running.has(key)) {
        throw new AppError(
          'idempotency_in_progress',
          'the first request with this Idempotency-Key still runs',
          {
            details: { retryAfterSeconds: 1 },
          },
        );
      }
      if (running.size >= MAX_RUNNING) {
        throw new AppError('at_capacity', 'too many requests with an Idempotency-Key are at work', {
          details: { retryAfterSeconds: 1 },
        });
      }
      running.add(key);
      try {
        return await firstOrKept(store, nowMs, key, request, run);
      } finally {
        running.delete(key);
      }
    },
  };
}

async function firstOrKept(
  store: IdempotencyStore,
  nowMs: () => number,
  key: string,
  request: IdempotentRequest,
  run: () => Promise<HttpReply>,
): Promise<HttpReply> {
  const fingerprint = fingerprintOf(request.path, request.query, request.body);
  const oldest = nowMs() - KEEP_MS;
  const kept = await store.get(key);
  if (kept && kept.kept_at >= oldest) {
    if (kept.fingerprint !== fingerprint) {
      throw new AppError('idempotency_mismatch', 'this Idempotency-Key was used for another request');
    }
    return {
      status: kept.status,
      headers: { ...kept.headers, 'idempotency-replayed': 'true' },
      ...(kept.json === null ? {} : { json: kept.json }),
    };
  }
  const reply = await run();
  if (reply.status < 300) {
    const { status, headers = {}, json = null } = reply;
    await store.keep(key, { fingerprint, status, headers: { ...headers }, json, kept_at: nowMs() }, oldest);
  }
  return reply;
}
