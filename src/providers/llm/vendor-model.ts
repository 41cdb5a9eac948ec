import type { LanguageModel, LlmDelta, LlmRequest } from '../language-model.ts';
import type { ProviderContext } from '../provider-context.ts';
import { runAnswer } from './answer-stream.ts';
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
