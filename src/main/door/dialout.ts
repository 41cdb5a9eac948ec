import type { IncomingMessage, ServerResponse } from 'node:http';
import { Compile } from 'typebox/compile';
import { type DialoutAccepted, DialoutRequest } from '../../contracts/dialout.ts';
import { CORE_SECRET_HEADER } from '../../contracts/http-names.ts';
import { MAX_CONNECTED_BYTES } from '../../contracts/limits.ts';
import { describeError } from '../../platform/app-error.ts';
import type { Logger } from '../../platform/logger.ts';
import { isLoopbackHost, isSafeTransport } from '../../platform/origins.ts';
import type { Settings } from '../../platform/settings.ts';
import { readJson } from '../../platform/strict-json.ts';
import { isLocalPeer } from './call-admission.ts';
import { isCoreSecret } from './core-secret.ts';
import { badBody, REFUSALS, type Refusal, refusalParts } from './refusal.ts';

/** Places the call: makes the room, takes a slot and has the media server dial. `full` when the last slot has gone. */
export type DialOut = (request: DialoutRequest) => Promise<DialoutAccepted | 'full'>;

export interface DialoutOptions {
  settings: Pick<Settings, 'coreSecrets'>;
  isDraining(): boolean;
  /** The refusal while the host must not take calls (RT-71), else null. */
  pressure(): Refusal | null;
  freeSlots(): number;
  dialOut?: DialOut;
  logger: Logger;
}

/** The connected event and the numbers, with the escapes that JSON may need. */
const MAX_BODY_BYTES = 65_536;

/**
 * `POST /rtc/dialout` (interface.md, Errors, Core-worker dialout). The order of the refusals: who is asking, what they
 * ask, and only then how the host fares. A full host says so at once; nothing is queued.
 */
export function createDialout(
  options: DialoutOptions,
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  const { logger } = options;

  async function outcome(request: IncomingMessage): Promise<Refusal | DialoutAccepted> {
    if (request.method !== 'POST') return REFUSALS.methodNotAllowed;
    if (!isAllowed(request, options.settings.coreSecrets)) return REFUSALS.unauthorized;
    const body = await readBody(request);
    if (!Buffer.isBuffer(body)) return body;
    const read = readDialout(body);
    if ('status' in read) return read;
    if (options.isDraining()) return REFUSALS.draining;
    const pressed = options.pressure();
    if (pressed) return pressed;
    if (options.freeSlots() === 0) return REFUSALS.full;
    if (!options.dialOut) return REFUSALS.sipNotConfigured;
    const answer = await options.dialOut(read.dialout);
    return answer === 'full' ? REFUSALS.full : answer;
  }

  return async (request, response) => {
    try {
      const answer = await outcome(request);
      // What was not read is read and dropped: unread bytes would turn the close into a reset.
      request.resume();
      if (answer.status === 'accepted') sendJson(response, answer);
      else refuse(response, answer);
    } catch (error) {
      // A caller that went away while it was sending is no defect.
      if (request.socket.destroyed) return;
      logger.error({ err: error }, 'a dialout failed in an unexpected way');
      refuse(response, { status: 500, body: { error: 'Internal error', code: 'internal' } });
    }
  };
}

/**
 * Without a configured secret the door is on loopback and this machine is trusted, as with call sockets. A web page in
 * a browser on this machine is not: it shows itself by its Origin, or by the name that it gives this host.
 */
function isAllowed(request: IncomingMessage, secrets: readonly string[]): boolean {
  const { host = '', origin } = request.headers;
  if (secrets.length > 0) return isCoreSecret(request.headers[CORE_SECRET_HEADER], secrets);
  return isLocalPeer(request) && isLoopbackHost(host.replace(/:\d+$/, '')) && origin === undefined;
}

async function readBody(request: IncomingMessage): Promise<Buffer | Refusal> {
  if (!/^application\/json\s*(;|$)/i.test(request.headers['content-type'] ?? '')) {
    return badBody(415, 'unsupported_media_type', 'this route takes application/json');
  }
  const parts: Buffer[] = [];
  let size = 0;
  // Left early, it must not take the socket with it: the answer is still to be sent.
  for await (const part of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > MAX_BODY_BYTES) {
      return badBody(413, 'payload_too_large', `a dialout has at most ${MAX_BODY_BYTES} bytes`);
    }
    parts.push(part);
  }
  return Buffer.concat(parts);
}

const schema = Compile(DialoutRequest);
const MAX_ERRORS = 20;

function readDialout(body: Buffer): { dialout: DialoutRequest } | Refusal {
  let value: unknown;
  try {
    value = readJson(body);
  } catch (error) {
    return badBody(400, 'bad_request', describeError(error));
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
    return misfit(errors.slice(0, MAX_ERRORS));
  }
  const { connected_event: event, config_url: configUrl } = value;
  if (event && Buffer.byteLength(JSON.stringify(event)) > MAX_CONNECTED_BYTES) {
    return misfit([wrong('/connected_event', `at most ${MAX_CONNECTED_BYTES} bytes as JSON`)]);
  }
  if (configUrl !== undefined && !isUsableUrl(configUrl)) {
    return misfit([wrong('/config_url', 'an https URL without credentials, or an http URL on loopback')]);
  }
  return { dialout: value };
}

function unknownField(name: string): string {
  return name === 'variables'
    ? 'this server takes connected_event; variables belong to the public API of the control plane'
    : 'this field is not known here';
}

function isUsableUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  return isSafeTransport(url) && url.username === '' && url.password === '';
}

function misfit(errors: NonNullable<Refusal['body']['errors']>): Refusal {
  return badBody(422, 'validation_error', 'the body does not fit; `errors` says where', errors);
}

function wrong(pointer: string, msg: string) {
  return { loc: ['body', ...pointer.split('/').slice(1)], msg, type: 'value', pointer };
}

function sendJson(response: ServerResponse, answer: DialoutAccepted): void {
  const body = JSON.stringify(answer);
  response.writeHead(200, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
  });
  response.end(body);
}

function refuse(response: ServerResponse, refusal: Refusal): void {
  const { headers, body } = refusalParts(refusal);
  response.writeHead(refusal.status, headers);
  response.end(body);
}
