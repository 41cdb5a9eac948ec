import { createHash } from 'node:crypto';

/**
 * Names one intended act (RT-49): the same call, turn, tool and arguments give the same key, in whatever order a model
 * writes its arguments. A server that honours `Idempotency-Key` does the act once, however often it is asked.
 */
export function idempotencyKey(act: {
  sessionId: string;
  turnId: number;
  tool: string;
  args: Record<string, unknown>;
}): string {
  const text = JSON.stringify([act.sessionId, act.turnId, act.tool, argsHash(act.args)]);
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}

/** The same for equal arguments in any order of their keys. */
export function argsHash(args: Record<string, unknown>): string {
  return createHash('sha256')
    .update(JSON.stringify(sorted(args, 0)))
    .digest('hex')
    .slice(0, 32);
}

/** Deeper arguments than a schema could ask for are told apart as text only. */
const MAX_DEPTH = 20;

function sorted(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return value;
  if (Array.isArray(value)) return value.map((inner) => sorted(inner, depth + 1));
  return Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, inner]) => [key, sorted(inner, depth + 1)]);
}
