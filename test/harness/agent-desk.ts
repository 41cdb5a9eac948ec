import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { CallResults } from '../../src/contracts/call-results.ts';
import { DESK_PATH, type EnqueueBody } from '../../src/contracts/handoff.ts';
import { RESULTS_PATH } from '../../src/contracts/http-names.ts';
import { type LocalServer, replyJson, serveLocally } from './local-server.ts';
import { until } from './wait.ts';

export interface DeskPost {
  path: string;
  headers: IncomingHttpHeaders;
  body: Record<string, unknown>;
  status: number;
}

/** The state that a desk keeps of a call (R117 to R121), as far as the worker's half can move it. */
export interface DeskCall {
  enqueue: EnqueueBody;
  state: 'waiting' | 'ended';
  /** How often each event took effect. */
  effects: string[];
}

/**
 * An agent desk and results receiver on loopback, as strict as the real one has to be: unknown calls are 404, bodies
 * that lack a field 422, a repeated enqueue changes nothing. It can go away and come back on the same port.
 */
export class AgentDesk {
  readonly posts: DeskPost[] = [];
  readonly calls = new Map<string, DeskCall>();
  readonly results: CallResults[] = [];
  /** What an enqueue is told beside its state. */
  answer: Record<string, unknown> = { position: 2, agents_available: 1 };
  /** How long it lets this caller wait, in seconds. */
  timeoutOf: (body: Record<string, unknown>) => number = () => 120;
  /** Set to answer every desk post with this status instead. */
  refusesWith: number | null = null;
  /** Set to be told of a post before it is answered; a promise holds the answer up. */
  onPost: (post: { path: string }) => void | Promise<void> = () => undefined;
  private server: LocalServer | undefined;
  private listenPort = 0;

  static async start(): Promise<AgentDesk> {
    const desk = new AgentDesk();
    await desk.comeBack();
    return desk;
  }

  get url(): string {
    return `http://127.0.0.1:${this.listenPort}`;
  }

  get resultsUrl(): string {
    return `${this.url}${RESULTS_PATH}`;
  }

  async comeBack(): Promise<void> {
    this.server = await serveLocally((...asked) => this.take(...asked), this.listenPort);
    this.listenPort = this.server.port;
  }

  /** Connections are refused until `comeBack`. */
  async goAway(): Promise<void> {
    await this.server?.close();
    this.server = undefined;
  }

  /** Everything told of one call, in order: `enqueue`, `customer-disconnected`, or an event's name. */
  toldOf(callId: string): string[] {
    return this.calls.get(callId)?.effects ?? [];
  }

  /** Waits until it is so; where it never is, the error tells what the desk was told so far. */
  async until(what: string, isSo: () => boolean): Promise<void> {
    await until(isSo, what).catch((error: Error) => {
      throw new Error(
        [error.message, ...this.posts.map(({ path, status }) => `${path} ${status}`)].join('\n'),
      );
    });
  }

  async result(count = 1): Promise<CallResults> {
    await this.until(`${count} results`, () => this.results.length >= count);
    return this.results[count - 1] as CallResults;
  }

  private async take(request: IncomingMessage, response: ServerResponse, text: string): Promise<void> {
    const path = (request.url ?? '').replace(DESK_PATH, '');
    const body = JSON.parse(text) as Record<string, unknown>;
    if (request.url === RESULTS_PATH) {
      this.results.push(body as unknown as CallResults);
      response.writeHead(200).end('{"status":"ok"}');
      return;
    }
    await this.onPost({ path });
    const [status, answer] =
      this.refusesWith === null ? this.judge(path, body) : [this.refusesWith, { code: 'refused' }];
    this.posts.push({ path, headers: request.headers, body, status });
    replyJson(response, status, answer);
  }

  private judge(path: string, body: Record<string, unknown>): [number, unknown] {
    if (path === '/enqueue') return this.enqueue(body);
    const [, id = '', what = ''] = /^\/calls\/([^/]+)\/(customer-disconnected|events)$/.exec(path) ?? [];
    if (what === '') return [404, { code: 'not_found' }];
    const call = this.calls.get(decodeURIComponent(id));
    if (!call) return [404, { code: 'not_found' }];
    if (typeof body.at !== 'string' || Number.isNaN(Date.parse(body.at))) return [422, { code: 'at' }];
    if (what === 'events') {
      if (typeof body.event !== 'string') return [422, { code: 'event' }];
      call.effects.push(body.event);
      return [200, { status: 'ok', state: call.state }];
    }
    if (call.state !== 'ended') call.effects.push(what);
    call.state = 'ended';
    return [200, { status: 'ok', state: 'ended' }];
  }

  private enqueue(body: Record<string, unknown>): [number, unknown] {
    const wrong = wrongField(body);
    if (wrong) return [422, { code: wrong }];
    const enqueue = body as unknown as EnqueueBody;
    const known = this.calls.get(enqueue.call_id);
    const view = {
      status: 'waiting',
      call_id: enqueue.call_id,
      state: 'waiting',
      timeout_seconds: this.timeoutOf(body),
      ...this.answer,
    };
    if (known) return [200, view];
    this.calls.set(enqueue.call_id, { enqueue, state: 'waiting', effects: ['enqueue'] });
    return [201, view];
  }
}

/** Eight names, each of which must be there (R47). */
function wrongField(body: Record<string, unknown>): string | null {
  for (const name of ['call_id', 'room', 'escalation_reason']) {
    if (typeof body[name] !== 'string') return name;
  }
  for (const name of ['caller', 'bot', 'variables']) {
    if (typeof body[name] !== 'object' || body[name] === null) return name;
  }
  if (!Array.isArray(body.transcript)) return 'transcript';
  return 'context' in body ? null : 'context';
}
