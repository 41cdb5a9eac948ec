import type { ProviderClock } from '../../../src/providers/contract/provider-clock.ts';
import type { Violations } from '../kit/violations.ts';
import {
  type AskedRequest,
  piecesOf,
  plainResponder,
  type Responder,
  type ScriptedAnswer,
} from './answer.ts';
import type { Complaint } from './complaint.ts';
import { countTokens } from './tokens.ts';

/** One request for an answer and what became of it, times on the emulator's clock. */
export interface ServedRequest extends AskedRequest {
  path: string;
  answer: ScriptedAnswer;
  receivedAtMs: number;
  /** When the first event with text or a tool call left: the truth that a client's time to first token must meet. */
  firstContentAtMs: number | null;
  endedAtMs: number | null;
  /** Events with text or a tool call that left. */
  contentEvents: number;
  /** The client closed the connection before the answer was complete. */
  aborted: boolean;
  /** What the answer said about tokens, in the vendor's words. */
  usage: Record<string, unknown> | null;
}

export interface RefusedRequest {
  path: string;
  complaint: Complaint;
  body: unknown;
}

/** Requests that a desk remembers; a long run forgets its oldest. */
const MAX_REMEMBERED = 5_000;
const WAIT_MS = 15_000;

/**
 * Where an emulated model's answers come from and where its requests are written down: first the scripted answers in
 * order, then the responder.
 */
export class AnswerDesk {
  readonly served: ServedRequest[] = [];
  readonly refused: RefusedRequest[] = [];
  readonly clock: ProviderClock;
  private readonly violations: Violations;
  private readonly queue: ScriptedAnswer[] = [];
  private responder: Responder = plainResponder;
  private readonly waiters = new Set<() => void>();
  private count = 0;

  constructor(clock: ProviderClock, violations: Violations) {
    this.clock = clock;
    this.violations = violations;
  }

  /** The next requests get these answers, one each, in this order. */
  script(...answers: readonly ScriptedAnswer[]): void {
    this.queue.push(...answers);
  }

  /** Answers every request for which no scripted answer is left. */
  respondWith(responder: Responder): void {
    this.responder = responder;
  }

  /** Scripted answers that nobody has asked for yet. */
  get waiting(): number {
    return this.queue.length;
  }

  /** Resolves with the request at `index`, counted from 0, once it has come. Rejects after `timeoutMs` of real time. */
  asked(index: number, timeoutMs = WAIT_MS): Promise<ServedRequest> {
    return new Promise((resolve, reject) => {
      const look = () => {
        const found = this.served.find((request) => request.index === index);
        if (!found) return;
        clearTimeout(timer);
        this.waiters.delete(look);
        resolve(found);
      };
      const timer = setTimeout(() => {
        this.waiters.delete(look);
        reject(new Error(`request ${index} did not come within ${timeoutMs} ms; ${this.count} came`));
      }, timeoutMs);
      this.waiters.add(look);
      look();
    });
  }

  take(asked: Omit<AskedRequest, 'index'>, path: string): ServedRequest {
    const request: AskedRequest = { index: this.count, ...asked };
    this.count += 1;
    const answer = limited(this.queue.shift() ?? this.responder(request), request.maxTokens);
    const served: ServedRequest = {
      ...request,
      path,
      answer,
      receivedAtMs: this.clock.nowMs(),
      firstContentAtMs: null,
      endedAtMs: null,
      contentEvents: 0,
      aborted: false,
      usage: null,
    };
    this.served.push(served);
    if (this.served.length > MAX_REMEMBERED) this.served.shift();
    for (const wake of [...this.waiters]) wake();
    return served;
  }

  refuse(complaint: Complaint, path: string, body: unknown): void {
    this.refused.push({ path, complaint, body });
    if (this.refused.length > MAX_REMEMBERED) this.refused.shift();
    if (complaint.violation) this.violations.add(`${path}: ${complaint.message}`);
  }
}

/** A model stops where its limit of output tokens is, whatever it wanted to say. */
function limited(answer: ScriptedAnswer, maxTokens: number | null): ScriptedAnswer {
  if (maxTokens === null || answer.text === undefined || answer.finish !== undefined) return answer;
  const pieces = piecesOf(answer.text);
  if (countTokens(pieces.join('')) <= maxTokens) return answer;
  while (pieces.length > 0 && countTokens(pieces.join('')) > maxTokens) pieces.pop();
  return { ...answer, text: pieces, finish: 'length' };
}
