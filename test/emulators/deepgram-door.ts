import type { Handshake, Refusal } from './kit/emulator.ts';
import { emulatedId } from './kit/stt-emulator.ts';
import type { Violations } from './kit/violations.ts';

/** How Deepgram turns a handshake down: JSON, and the same in headers that a socket client can read. */
export function deepgramRefusal(status: number, code: string, message: string): Refusal {
  const requestId = emulatedId();
  return {
    status,
    headers: { 'dg-error': message, 'dg-request-id': requestId },
    body: { err_code: code, err_msg: message, request_id: requestId },
  };
}

/** The header `Authorization: Token <key>` or `Bearer <token>`, or the browsers' subprotocol pair. */
export function deepgramAuth(request: Handshake, key: string, violations: Violations): Refusal | undefined {
  const header = request.headers.authorization;
  const [scheme, given] =
    header === undefined
      ? request.subprotocols
      : [header.split(' ')[0], header.split(' ').slice(1).join(' ')];
  if (scheme === undefined) {
    violations.add('deepgram: no credentials');
    return deepgramRefusal(401, 'INVALID_AUTH', 'Invalid credentials.');
  }
  if (!/^(token|bearer)$/i.test(scheme)) {
    violations.add('deepgram: authorization has neither the scheme Token nor Bearer');
    return deepgramRefusal(401, 'INVALID_AUTH', 'Invalid credentials.');
  }
  if (given !== key) {
    violations.add('deepgram: the key is wrong');
    return deepgramRefusal(401, 'INVALID_AUTH', 'Invalid credentials.');
  }
  return undefined;
}

/** Bad queries: the reasons are kept as violations, the client sees the vendor's 400. */
export function deepgramBadRequest(problems: readonly string[], violations: Violations): Refusal | undefined {
  if (problems.length === 0) return undefined;
  violations.add(...problems.map((problem) => `deepgram: ${problem}`));
  return deepgramRefusal(400, 'Bad Request', problems.join('; ').slice(0, 200));
}

/** A key in a query may end up in somebody's log. */
export function keyInQuery(request: Handshake, key: string): string[] {
  return [...request.query.values()].includes(key) ? ['query: the key stands in it'] : [];
}
