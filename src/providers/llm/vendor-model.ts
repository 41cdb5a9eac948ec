import type { AppError } from '../../platform/app-error.ts';
import type { LanguageModel, LlmDelta, LlmRequest } from '../contract/language-model.ts';
import type { ProviderClock } from '../contract/provider-clock.ts';
import type { ProviderContext } from '../contract/provider-context.ts';
import { providerError } from '../contract/provider-error.ts';
import { llmError } from './llm-errors.ts';
import type { VendorConnection } from './vendor-connection.ts';

export interface VendorModelOptions {
  name: string;
  settings: { model: string; apiKey: string | null; timeoutMs: number };
  context: ProviderContext;
  connection: VendorConnection;
  /** Aborts what the client still does in the background when it is closed. */
  closing: AbortController;
  stream(request: LlmRequest, signal: AbortSignal): AsyncIterable<LlmDelta>;
  /** What is worth doing ahead besides connecting. */
  prepare?(request: NonNullable<Parameters<NonNullable<LanguageModel['warm']>>[0]>): Promise<unknown>;
  /** What has to come to its end before the connection goes. */
  settled?(): Promise<unknown>;
}

/** The part of a language model client that is the same for every vendor: deadlines, errors, warming, closing. */
export function vendorModel(options: VendorModelOptions): LanguageModel {
  const { name, settings, context, connection, closing } = options;
  return {
    name,
    model: settings.model,
    answer(request, signal) {
      return runAnswer(
        {
          provider: name,
          signal,
          closing: closing.signal,
          clock: context.clock,
          timeoutMs: settings.timeoutMs,
          toError: errorsOf(name, settings.apiKey),
        },
        (inner) => options.stream(request, inner),
      );
    },
    async warm(request) {
      await Promise.all([connection.warm(), request && options.prepare?.(request)]);
    },
    async close() {
      closing.abort();
      await options.settled?.();
      await connection.close();
    },
  };
}

/** Errors of a vendor's SDK with their class, and without the key. */
export function errorsOf(
  name: string,
  apiKey: string | null,
): (error: unknown) => ReturnType<typeof llmError> {
  const secrets = apiKey === null ? [] : [apiKey];
  return (error) => llmError(name, error, secrets);
}

interface AnswerRun {
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
async function* runAnswer(
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
