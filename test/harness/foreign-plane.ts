import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { CallResults } from '../../src/contracts/call-results.ts';
import { freePort } from './appliance.ts';
import { type LocalServer, serveLocally } from './local-server.ts';
import { PATIENCE_MS, until } from './wait.ts';

export interface ConfigRequest {
  botId: string;
  query: URLSearchParams;
  secret: string | undefined;
}

/**
 * A control plane that is not ours: serves configs and receives results as the standalone worker mode has it (R148).
 * Tests steer both ends: what a config holds, what status it gets, when the receiver is down.
 */
export class ForeignPlane {
  readonly port: number;
  /** What the config answers; by default a scripted bot. */
  config: (request: ConfigRequest) => { status: number; body: unknown; delayMs?: number };
  /** What the receiver answers, per attempt. */
  receive: (attempt: number) => number = () => 200;
  readonly requests: ConfigRequest[] = [];
  readonly results: CallResults[] = [];
  readonly resultHeaders: IncomingMessage['headers'][] = [];
  attempts = 0;
  /** What the worker told about entries of a provider's prompt cache, by `PUT /bots/{bot_id}/live-prompt-cache`. */
  readonly cacheReports: { path: string; body: Record<string, unknown> }[] = [];
  private server: LocalServer | undefined;

  private constructor(port: number) {
    this.port = port;
    this.config = () => ({ status: 200, body: this.scriptedBot({}) });
  }

  static async start(): Promise<ForeignPlane> {
    const plane = new ForeignPlane(await freePort());
    await plane.listen();
    return plane;
  }

  async listen(): Promise<void> {
    this.server = await serveLocally((...asked) => this.answer(...asked), this.port);
  }

  /** The receiver is gone: connections are refused until `listen`. */
  async close(): Promise<void> {
    await this.server?.close();
    this.server = undefined;
  }

  /** Settings of a worker that takes its configs here. */
  get env(): Record<string, string> {
    return { ROLE: 'worker', CONFIG_URL: `http://127.0.0.1:${this.port}/config` };
  }

  /** A bot on the scripted providers: hears `script` turn by turn and answers by rules. */
  scriptedBot(change: Record<string, unknown>): Record<string, unknown> {
    return {
      session_id: randomUUID(),
      bot_id: 'scripted',
      webhook_url: `http://127.0.0.1:${this.port}/results`,
      system_prompt: 'You are a test.',
      opening_message: 'Good morning, this is the scripted bot.',
      vad: {},
      min_words_interruption: 0,
      re_engagement: { after_seconds: 30, prompts: [] },
      stt: { provider: 'scripted', script: ['hello'], loop: true },
      llm: { provider: 'scripted', rules: [], fallback: { reply: 'I heard you.' } },
      tts: { provider: 'scripted', ms_per_char: 40 },
      tools: [],
      max_call_duration_seconds: 120,
      ...change,
    };
  }

  private async answer(request: IncomingMessage, response: ServerResponse, text: string): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://plane');
    if (url.pathname.startsWith('/config/')) {
      const secret = request.headers['x-core-secret'];
      const asked = {
        botId: decodeURIComponent(url.pathname.slice('/config/'.length)),
        query: url.searchParams,
        secret: typeof secret === 'string' ? secret : undefined,
      };
      this.requests.push(asked);
      const { status, body, delayMs } = this.config(asked);
      if (delayMs) await new Promise((resolve) => setTimeout(resolve, delayMs));
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(typeof body === 'string' ? body : JSON.stringify(body));
      return;
    }
    if (request.method === 'PUT') {
      this.cacheReports.push({ path: url.pathname, body: JSON.parse(text) });
      response.writeHead(204).end();
      return;
    }
    const status = this.receive(++this.attempts);
    this.resultHeaders.push(request.headers);
    if (status >= 200 && status < 300) {
      this.results.push(JSON.parse(text) as CallResults);
    }
    response.writeHead(status);
    response.end(JSON.stringify({ status: 'ok' }));
  }

  /** Waits for so many results. */
  async until(count: number, patienceMs = PATIENCE_MS): Promise<CallResults[]> {
    await until(() => this.results.length >= count, `${count} results`, patienceMs);
    return this.results;
  }

  /** Waits for the result of a session. */
  resultOf(sessionId: unknown): Promise<CallResults> {
    const find = () => this.results.find((entry) => entry.session_id === sessionId);
    return until(find, `the result of ${sessionId}`);
  }
}
