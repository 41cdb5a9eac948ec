import type { ProviderClock } from '../../../src/providers/contract/provider-clock.ts';
import { type Emulator, type HttpRoute, startEmulator } from '../kit/emulator.ts';
import type { HttpExchange } from '../kit/http-exchange.ts';
import type { Responder, ScriptedAnswer } from './answer.ts';
import { AnswerDesk } from './answer-desk.ts';
import { type Complaint, isRecord } from './complaint.ts';

export interface LlmEmulatorOptions {
  /** The only key that is let in. */
  apiKey?: string;
  answers?: readonly ScriptedAnswer[];
  respond?: Responder;
  clock?: ProviderClock;
  timeScale?: number;
  tls?: boolean;
}

/** An emulated vendor of language models: the kit's emulator, and the desk that scripts and remembers its answers. */
export interface LlmEmulator extends Emulator {
  desk: AnswerDesk;
  apiKey: string;
}

/** What the routes of a vendor work with. */
export interface LlmHouse {
  emulator: Emulator;
  desk: AnswerDesk;
  apiKey: string;
}

export const TEST_KEY = 'emulated-key-0123456789';

/** Starts a vendor whose routes need its desk. */
export async function startLlmEmulator(
  vendor: string,
  options: LlmEmulatorOptions,
  routesOf: (house: LlmHouse) => HttpRoute[],
): Promise<LlmEmulator> {
  const apiKey = options.apiKey ?? TEST_KEY;
  // Nobody knows the port before this function returns, so the routes may be filled in after the start.
  const http: HttpRoute[] = [];
  const emulator = await startEmulator({
    vendor,
    secrets: [apiKey],
    http,
    ...(options.clock ? { clock: options.clock } : {}),
    ...(options.timeScale ? { timeScale: options.timeScale } : {}),
    ...(options.tls ? { tls: options.tls } : {}),
  });
  const desk = new AnswerDesk(emulator.clock, emulator.violations);
  desk.script(...(options.answers ?? []));
  if (options.respond) desk.respondWith(options.respond);
  http.push(...routesOf({ emulator, desk, apiKey }), ...connectionRoutes(emulator));
  return Object.assign(emulator, { desk, apiKey });
}

/** The body of a request as an object, or why the vendor refuses it. */
export async function bodyOf(exchange: HttpExchange): Promise<Record<string, unknown> | Complaint> {
  const body = await exchange.json();
  if (isRecord(body)) return body;
  return { status: 400, message: 'the request body is no JSON object', violation: true };
}

export function isComplaint(value: unknown): value is Complaint {
  return isRecord(value) && typeof value.status === 'number' && typeof value.violation === 'boolean';
}

/** Clients open their connection ahead by asking for something without meaning; vendors answer that too. */
function connectionRoutes(emulator: Emulator): HttpRoute[] {
  const answer = (exchange: HttpExchange) => {
    emulator.count('warm');
    exchange.reply(404);
  };
  return [
    { method: 'HEAD', path: /^\//, handle: answer },
    { method: 'OPTIONS', path: /^\//, handle: answer },
  ];
}
