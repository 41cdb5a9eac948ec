import type { AppError } from '../../platform/app-error.ts';
import type { LlmDelta } from '../language-model.ts';
import type { ProviderClock } from '../provider-clock.ts';
import { providerError } from '../provider-error.ts';

export interface AnswerRun {
  provider: string;
  /** The call's own signal: barge-in, hang-up. */
  signal: AbortSignal;
  /** Ends the answers of a client that is being closed. */
  closing: AbortSignal;
  clock: ProviderClock;
  /** For the whole answer; the wait for the first token is bounded by the layer above. */
  timeoutMs: number;
  toError(error: unknown): AppError;
}

/**
 * Runs one vendor stream as {@link LanguageModel.answer} promises it: nothing after an abort, the signal's own reason
 * thrown, the HTTP connection closed however the consumer leaves, every other failure with its class. `open` gets a
 * signal of its own because the SDKs hang listeners on it that they never take off again.
 */
export async function* runAnswer(
  run: AnswerRun,
  open: (signal: AbortSignal) => AsyncIterable<LlmDelta>,
): AsyncGenerator<LlmDelta> {
  run.signal.throwIfAborted();
  const connection = new AbortController();
  const leave = () => connection.abort();
  run.signal.addEventListener('abort', leave, { once: true });
  run.closing.addEventListener('abort', leave, { once: true });
  if (run.closing.aborted) leave();
  let isLate = false;
  const cancelTimer = run.clock.after(run.timeoutMs, () => {
    isLate = true;
    leave();
  });
  try {
    for await (const delta of open(connection.signal)) {
      if (connection.signal.aborted) break;
      yield delta;
      if (connection.signal.aborted) break;
    }
    throwWhyAborted(run, connection.signal, isLate);
  } catch (error) {
    throwWhyAborted(run, connection.signal, isLate);
    throw run.toError(error);
  } finally {
    cancelTimer();
    run.signal.removeEventListener('abort', leave);
    run.closing.removeEventListener('abort', leave);
    // A consumer that breaks off leaves a body half read: only an abort closes its connection.
    leave();
  }
}

function throwWhyAborted(run: AnswerRun, connection: AbortSignal, isLate: boolean): void {
  run.signal.throwIfAborted();
  if (!connection.aborted) return;
  const failure = {
    provider: run.provider,
    family: 'llm' as const,
    class: 'transient' as const,
    status: null,
  };
  if (isLate) {
    throw providerError(
      failure,
      `${run.provider} did not finish its answer within ${run.timeoutMs} ms`,
      'provider_timeout',
    );
  }
  throw providerError({ ...failure, vendorCode: 'closed' }, `${run.provider} was closed during the answer`);
}
