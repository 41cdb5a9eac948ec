import type { CallEventName } from '../../contracts/call-events.ts';
import type { CallTransport, TransferResult } from '../transport/call-transport.ts';
import {
  type AnswerWaitMs,
  TRANSFER_START,
  type TransferInput,
  type TransferOutcome,
  type TransferPhase,
  transferStep,
} from './transfer-machine.ts';
import type { TransferOrder } from './transfer-order.ts';

/** `transfer_method` of a call on a socket (R116). */
const DEFAULT_METHOD = 'websocket_reverse_transfer';

export interface CallTransferParts {
  transport: Pick<CallTransport, 'sendTransfer' | 'transferMethod' | 'transferWaitMs'>;
  /** Writes an event of the call. */
  report: (event: CallEventName, detail: Record<string, unknown>) => void;
  /** Waits that stand in for those of the machine, as a share of them; only tests bring one. */
  timeScale?: number;
}

/**
 * Passes the caller of one call on (RT-35). While it is pending the bot is silent and answers nobody; what becomes of
 * the call is the outcome. A call may be passed on again after a failure.
 */
export class CallTransfer {
  private readonly parts: CallTransferParts;
  private readonly answerWaitMs: AnswerWaitMs;
  private phase: TransferPhase | null = null;
  private order: TransferOrder | null = null;
  private wasAsked = false;
  private timer: NodeJS.Timeout | undefined;
  private settle: (outcome: TransferOutcome) => void = () => undefined;

  constructor(parts: CallTransferParts) {
    this.parts = parts;
    this.answerWaitMs = parts.transport.transferWaitMs ?? null;
  }

  /** The far end has been asked and it is not decided yet. */
  get isPending(): boolean {
    return this.phase === 'asked' || this.phase === 'unanswered' || this.phase === 'moved';
  }

  /** The far end has moved the caller; what is left is to close this line with a code that says so. */
  get isMoved(): boolean {
    return this.wasAsked && (this.phase === 'moved' || this.phase === 'gone');
  }

  /** Asks the far end. Never rejects; a line that cannot do it fails at once. */
  start(order: TransferOrder): Promise<TransferOutcome> {
    if (this.isPending) {
      return Promise.resolve(failure('a transfer is under way already'));
    }
    this.order = order;
    const { promise, resolve } = Promise.withResolvers<TransferOutcome>();
    this.settle = resolve;
    this.parts.report('transfer_requested', this.facts(order.reason));
    const { destination, target, reason, headers } = order;
    const how = this.parts.transport.sendTransfer?.({ destination, target, reason, headers }) ?? 'impossible';
    this.wasAsked = how === 'asked';
    if (how === 'asked') {
      this.phase = 'asked';
      this.arm(this.answerWaitMs ?? TRANSFER_START.timerMs);
      return promise;
    }
    if (how === 'by_close') {
      // The carrier goes on with its next applet when the socket closes as after any call, which is what follows.
      this.phase = 'gone';
      this.parts.report('transfer_sent', { ...this.facts(order.reason), note: 'by closing the line' });
      return Promise.resolve({ kind: 'sent' });
    }
    this.phase = 'failed';
    const outcome = failure('this line cannot pass a caller on');
    this.parts.report('transfer_failed', this.facts(outcome.reason));
    return Promise.resolve(outcome);
  }

  /** The far end answered. False where nobody had asked. */
  onResult(result: TransferResult): boolean {
    const sip = { sipCode: result.sipCode, sipStatus: result.sipStatus };
    return this.take(
      result.status === 'ok' ? { type: 'ok', ...sip } : { type: 'failed', reason: result.reason, ...sip },
    );
  }

  /** The line is gone. True where that completes the transfer, and so the caller has not hung up. */
  lineGone(): boolean {
    return this.take({ type: 'closed' }) && this.phase === 'gone';
  }

  /** The far end says that the caller has hung up. True where they had been moved before. */
  callerLeft(): boolean {
    const wasMoved = this.phase === 'moved';
    this.take({ type: 'caller_left' });
    return wasMoved;
  }

  /** The call ends for another reason; nothing is waited for any more. */
  stop(): void {
    clearTimeout(this.timer);
    this.phase = null;
  }

  private take(input: TransferInput): boolean {
    const step = this.phase && transferStep(this.phase, input, this.answerWaitMs);
    if (!step) return false;
    this.phase = step.phase;
    this.arm(step.timerMs);
    if (step.event === 'transfer_sent') {
      this.parts.report('transfer_sent', { ...this.facts(this.order?.reason ?? ''), ...sipFacts(input) });
    }
    if (step.event === 'transfer_failed') {
      const reason =
        step.outcome?.kind === 'failed'
          ? step.outcome.reason
          : 'the caller hung up before they were passed on';
      this.parts.report('transfer_failed', { ...this.facts(reason), ...sipFacts(input) });
    }
    if (step.outcome) this.settle(step.outcome);
    return true;
  }

  private arm(timerMs: number | null): void {
    clearTimeout(this.timer);
    if (timerMs === null) return;
    this.timer = setTimeout(() => this.take({ type: 'timer' }), timerMs * (this.parts.timeScale ?? 1));
  }

  /** `reason` is the model's until something failed, then that failure's (R170). */
  private facts(reason: string): Record<string, unknown> {
    const { destination = '', target = null, headers = {} } = this.order ?? {};
    return {
      transfer_number: destination,
      ...(target === null ? {} : { transfer_target: target }),
      transfer_headers: headers,
      transfer_method: this.parts.transport.transferMethod ?? DEFAULT_METHOD,
      ...(reason === '' ? {} : { reason }),
    };
  }
}

function failure(reason: string): Extract<TransferOutcome, { kind: 'failed' }> {
  return { kind: 'failed', reason, sipCode: null, sipStatus: null };
}

function sipFacts(input: TransferInput): Record<string, unknown> {
  if (input.type !== 'ok' && input.type !== 'failed') return {};
  return {
    ...(input.sipCode === null ? {} : { sip_code: input.sipCode }),
    ...(input.sipStatus === null ? {} : { sip_status: input.sipStatus }),
  };
}
