import type { Test } from 'tap';
import {
  openers,
  operation,
  type PlaneUnderTest,
  type RequestParts,
} from '../../../harness/plane-harness.ts';

/** Sends one request as somebody who may, holds its status to what is expected, and gives the answer as JSON. */
export type Step = (id: string, status: number, parts?: RequestParts) => Promise<Json>;

// biome-ignore lint/suspicious/noExplicitAny: answers are read as an outsider reads them, field by field.
export type Json = any;

export function steps(plane: PlaneUnderTest, t: Test): Step {
  return async (id, status, parts = {}) => {
    const one = operation(plane, id);
    const answer = await plane.send(one, { ...parts, headers: { ...openers(plane, one), ...parts.headers } });
    if (answer.status !== status)
      t.fail(`${id}: ${answer.status} for ${status}: ${answer.text.slice(0, 400)}`);
    const isJson = /^application\/(problem\+)?json\b/.test(answer.headers.get('content-type') ?? '');
    return isJson ? JSON.parse(answer.text) : answer.text;
  };
}
