import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Static, TObject, TSchema } from 'typebox';
import { ERRORS } from '../../contracts/error-catalogue.ts';
import { type FleetAnswer, REFUSALS, type Refusal } from '../../contracts/fleet-refusals.ts';
import type { FleetRoute } from '../../contracts/fleet-routes.ts';
import { MAX_CONNECTED_BYTES } from '../../contracts/limits.ts';
import { AppError } from '../../platform/app-error.ts';
import { routeTable } from '../../platform/http-server/route-table.ts';
import { invalid, issue, schemaCheck } from '../../platform/http-server/schema-check.ts';
import type { Logger } from '../../platform/logger.ts';
import { isSafeTransport } from '../../platform/origins.ts';
import { readJson } from '../../platform/strict-json.ts';
import { mayCommand } from './call-admission.ts';
import { sendAnswer } from './send-answer.ts';
import { type FileToSend, sendRecording } from './send-recording.ts';

/** What a handler gets: everything checked and allowed, and the request itself. */
export interface FleetRequest<P, B> {
  readonly params: P;
  /** `undefined` where none was sent and the route says that none is needed. */
  readonly body: B;
  readonly incoming: IncomingMessage;
}

/** An answer in JSON, or a file. */
export type ServedAnswer = FleetAnswer | { file: FileToSend };
type Answering = ServedAnswer | Promise<ServedAnswer>;

export interface ServedRoute {
  route: FleetRoute;
  handle(request: FleetRequest<unknown, unknown>): Answering;
  /** Answers a request that shows in a way of its own who sends it; null leaves it to the table. */
  takeOver?: TakeOver | undefined;
}

type TakeOver = (incoming: IncomingMessage) => Promise<FleetAnswer> | null;

/** A declared route with its handler, whose types come from the declaration. */
export function serve<P extends TObject, B extends TSchema>(
  route: FleetRoute<P, B>,
  handle: (request: FleetRequest<Static<P>, Static<B>>) => Answering,
  takeOver?: TakeOver,
): ServedRoute {
  return {
    route: route as unknown as FleetRoute,
    handle: handle as unknown as ServedRoute['handle'],
    takeOver,
  };
}

/**
 * Answers every plain request on the fleet port. The order: the path and its method, who is asking, what they ask; the
 * handler looks how the host fares. Whatever is left of a body is read and dropped, and a defect is a 500 with nothing
 * of it inside. Never rejects.
 */
export function fleetTable(
  served: readonly ServedRoute[],
  options: { coreSecrets: readonly string[]; logger: Logger },
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  const table = routeTable(
    served.map(({ route, handle, takeOver }) => ({
      method: route.method,
      path: route.path,
      isOrder: route.auth.optional !== true,
      params: route.params && schemaCheck(route.params),
      readBody: bodyReader(route),
      handle,
      takeOver,
    })),
  );

  async function answer(incoming: IncomingMessage): Promise<ServedAnswer> {
    const { route, params } = table.match(incoming.method ?? '', pathOf(incoming));
    if (route.params?.fits(params) === false) return REFUSALS.notFound;
    const taken = route.takeOver?.(incoming);
    if (taken) return taken;
    if (route.isOrder && !mayCommand(incoming, options.coreSecrets)) return REFUSALS.unauthorized;
    return route.handle({ params, body: await route.readBody(incoming), incoming });
  }

  return async (request, response) => {
    try {
      const given = await answer(request).catch(fleetRefusal);
      // What was not read is read and dropped: unread bytes would turn the close into a reset.
      request.resume();
      if ('file' in given) await sendRecording(request, response, given.file);
      else sendAnswer(response, given);
    } catch (error) {
      // A caller that went away while it was sending is no defect.
      if (request.socket.destroyed) return;
      options.logger.error(
        { err: error, path: pathOf(request) },
        'a request to the fleet port failed in an unexpected way',
      );
      sendAnswer(response, REFUSALS.internal);
    }
  };
}

/** Without the query: nothing of the fleet port's own routes stands there. */
function pathOf(request: IncomingMessage): string {
  return (request.url ?? '').split('?', 1)[0] ?? '';
}

/** What is wrong with a request, in the form of this port. Throws what is not the request's fault. */
function fleetRefusal(error: unknown): Refusal {
  if (!(error instanceof AppError)) throw error;
  const { code, message: detail, details } = error;
  switch (code) {
    case 'not_found':
      return REFUSALS.notFound;
    case 'method_not_allowed':
      return { ...REFUSALS.methodNotAllowed, allow: String(details.allow) };
    case 'bad_request':
    case 'payload_too_large':
    case 'unsupported_media_type':
      return { status: ERRORS[code].status, body: { error: 'Bad request', code, detail } };
    case 'validation_error': {
      const errors = details.errors as NonNullable<Refusal['body']['errors']>;
      return { status: ERRORS[code].status, body: { error: 'Validation error', code, detail, errors } };
    }
    default:
      throw error;
  }
}

const JSON_TYPE = /^application\/json\s*(;|$)/i;

/**
 * The whole body, at most `maxBytes` of it. `contentType` says what it may be. Throws `unsupported_media_type` or
 * `payload_too_large`.
 */
export async function readBody(
  request: IncomingMessage,
  maxBytes: number,
  contentType = JSON_TYPE,
): Promise<Buffer> {
  if (!contentType.test(request.headers['content-type'] ?? '')) {
    throw new AppError('unsupported_media_type', 'this route takes application/json');
  }
  const parts: Buffer[] = [];
  let size = 0;
  // Left early, it must not take the socket with it: the answer is still to be sent.
  for await (const part of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > maxBytes) {
      throw new AppError('payload_too_large', `the body has at most ${maxBytes} bytes`);
    }
    parts.push(part);
  }
  return Buffer.concat(parts);
}

function bodyReader({ body }: FleetRoute): (request: IncomingMessage) => Promise<unknown> {
  if (!body) return async () => undefined;
  const check = schemaCheck(body.schema, body.unknownFieldHints);
  return async (request) => {
    if (body.optional && request.headers['content-type'] === undefined) return undefined;
    const value = readJson(await readBody(request, body.maxBytes));
    check.demand('body', value);
    demandUsable(value as Record<string, unknown>);
    return value;
  };
}

/**
 * Two rules that hold wherever the field is: `connected_event` is bounded, because it travels on in a URL, and
 * `config_url` is https or on loopback.
 */
function demandUsable({ connected_event: event, config_url: configUrl }: Record<string, unknown>): void {
  const unusable = (pointer: string, rule: string) =>
    invalid(`a value of the body cannot be used: ${rule}`, [issue('body', pointer, rule, 'value')]);
  if (event !== undefined && Buffer.byteLength(JSON.stringify(event)) > MAX_CONNECTED_BYTES) {
    throw unusable('/connected_event', `at most ${MAX_CONNECTED_BYTES} bytes as JSON`);
  }
  if (typeof configUrl === 'string' && !isUsableUrl(configUrl)) {
    throw unusable('/config_url', 'an https URL without credentials, or an http URL on loopback');
  }
}

function isUsableUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  return isSafeTransport(url) && url.username === '' && url.password === '';
}
