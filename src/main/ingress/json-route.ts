import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Static, TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { CORE_SECRET_HEADER } from '../../contracts/http-names.ts';
import { MAX_CONNECTED_BYTES } from '../../contracts/limits.ts';
import { describeError } from '../../platform/app-error.ts';
import type { Logger } from '../../platform/logger.ts';
import { isLoopbackHost, isSafeTransport } from '../../platform/origins.ts';
import { readJson } from '../../platform/strict-json.ts';
import { isLocalPeer } from './call-admission.ts';
import { isCoreSecret } from './core-secret.ts';
import { badBody, REFUSALS, type Refusal, refusalParts } from './refusal.ts';

/** What a route of the ingress answers: a body with its status, or a {@link Refusal}. */
export type IngressAnswer = Refusal | { status: 200 | 201; body: object };

export type IngressHandler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/**
 * A route that answers JSON. Whatever it leaves of the body is read and dropped, and a defect is a 500 with nothing of
 * it inside. Never rejects.
 */
export function jsonRoute(
  logger: Logger,
  outcome: (request: IncomingMessage) => Promise<IngressAnswer>,
): IngressHandler {
  return async (request, response) => {
    try {
      const answer = await outcome(request);
      // What was not read is read and dropped: unread bytes would turn the close into a reset.
      request.resume();
      sendAnswer(response, answer);
    } catch (error) {
      // A caller that went away while it was sending is no defect.
      if (request.socket.destroyed) return;
      logger.error(
        { err: error, path: pathOf(request) },
        'a request to the ingress failed in an unexpected way',
      );
      sendAnswer(response, { status: 500, body: { error: 'Internal error', code: 'internal' } });
    }
  };
}

/** Without the query: nothing of the ingress's own routes stands there. */
export function pathOf(request: IncomingMessage): string {
  return (request.url ?? '').split('?', 1)[0] ?? '';
}

/**
 * Who may give orders: whoever knows the core secret. Without a configured one the ingress is on loopback and this machine
 * is trusted, as with call sockets. A web page in a browser on this machine is not: it shows itself by its Origin, or
 * by the name that it gives this host.
 */
export function mayCommand(request: IncomingMessage, secrets: readonly string[]): boolean {
  const { host = '', origin } = request.headers;
  if (secrets.length > 0) return isCoreSecret(request.headers[CORE_SECRET_HEADER], secrets);
  return isLocalPeer(request) && isLoopbackHost(host.replace(/:\d+$/, '')) && origin === undefined;
}

export type Read<T> = { value: T } | { refusal: Refusal };

const JSON_TYPE = /^application\/json\s*(;|$)/i;

/** The whole body, at most `maxBytes` of it. `contentType` says what it may be. */
export async function readBody(
  request: IncomingMessage,
  maxBytes: number,
  contentType = JSON_TYPE,
): Promise<Read<Buffer>> {
  if (!contentType.test(request.headers['content-type'] ?? '')) {
    return { refusal: badBody(415, 'unsupported_media_type', 'this route takes application/json') };
  }
  const parts: Buffer[] = [];
  let size = 0;
  // Left early, it must not take the socket with it: the answer is still to be sent.
  for await (const part of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > maxBytes) {
      return { refusal: badBody(413, 'payload_too_large', `the body has at most ${maxBytes} bytes`) };
    }
    parts.push(part);
  }
  return { value: Buffer.concat(parts) };
}

/**
 * The order that a POST brings. Who asks is looked at before what they ask.
 *
 * @param secrets core secrets that are accepted, as for {@link mayCommand}
 */
export async function readOrder<T>(
  request: IncomingMessage,
  secrets: readonly string[],
  maxBytes: number,
  read: (body: Buffer) => Read<T>,
): Promise<Read<T>> {
  if (request.method !== 'POST') return { refusal: REFUSALS.methodNotAllowed };
  if (!mayCommand(request, secrets)) return { refusal: REFUSALS.unauthorized };
  const body = await readBody(request, maxBytes);
  return 'refusal' in body ? body : read(body.value);
}

const MAX_ERRORS = 20;

/**
 * A reader of bodies of one schema. Mistakes are answered with their place. Two rules hold for every schema that has the
 * field: `connected_event` is bounded, because it travels on in a URL, and `config_url` is https or on loopback.
 */
export function bodyReader<S extends TSchema>(
  definition: S,
  unknownField: (name: string) => string = () => 'this field is not known here',
): (body: Buffer) => Read<Static<S>> {
  const schema = Compile(definition);
  return (body) => {
    let value: unknown;
    try {
      value = readJson(body);
    } catch (error) {
      return { refusal: badBody(400, 'bad_request', describeError(error)) };
    }
    if (!schema.Check(value)) {
      const errors = schema.Errors(value).flatMap(({ keyword, instancePath, message, params }) => {
        const { requiredProperties, additionalProperties } = params as Record<string, unknown>;
        if (Array.isArray(requiredProperties)) {
          return requiredProperties.map((name) => wrong(`${instancePath}/${name}`, 'this field is missing'));
        }
        if (Array.isArray(additionalProperties)) {
          return additionalProperties.map((name) =>
            wrong(`${instancePath}/${name}`, unknownField(String(name))),
          );
        }
        return keyword === 'boolean' ? [] : [wrong(instancePath, message)];
      });
      return { refusal: misfit(errors.slice(0, MAX_ERRORS)) };
    }
    const { connected_event: event, config_url: configUrl } = value as Record<string, unknown>;
    if (event !== undefined && Buffer.byteLength(JSON.stringify(event)) > MAX_CONNECTED_BYTES) {
      return { refusal: misfit([wrong('/connected_event', `at most ${MAX_CONNECTED_BYTES} bytes as JSON`)]) };
    }
    if (typeof configUrl === 'string' && !isUsableUrl(configUrl)) {
      const rule = 'an https URL without credentials, or an http URL on loopback';
      return { refusal: misfit([wrong('/config_url', rule)]) };
    }
    return { value: value as Static<S> };
  };
}

/** A body that is well-formed and still cannot be done; `errors` says where. */
export function misfit(errors: NonNullable<Refusal['body']['errors']>): Refusal {
  return badBody(422, 'validation_error', 'the body does not fit; `errors` says where', errors);
}

export function wrong(pointer: string, msg: string) {
  return { loc: ['body', ...pointer.split('/').slice(1)], msg, type: 'value', pointer };
}

function isUsableUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  return isSafeTransport(url) && url.username === '' && url.password === '';
}

function sendAnswer(response: ServerResponse, answer: IngressAnswer): void {
  if ('error' in answer.body) {
    const { headers, body } = refusalParts(answer as Refusal);
    response.writeHead(answer.status, headers);
    response.end(body);
    return;
  }
  const body = JSON.stringify(answer.body);
  response.writeHead(answer.status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
  });
  response.end(body);
}
