import type { SpeechToText, SttHandlers } from '../speech-to-text.ts';
import type { ProviderChain } from './provider-chain.ts';
import type { ReconnectPolicy } from './reconnect-policy.ts';
import { openConnection, type SttConnection } from './stt-connection.ts';
import { sttTraits } from './stt-traits.ts';

/** How dialling ended: somebody listens, everybody had a turn, or nobody wants it any more. */
export type Dialled = { connection: SttConnection; attempt: number } | { error: unknown } | 'cancelled';

/**
 * Dials the engines of a chain by the reconnect policy until one opens a session. `nextHandlers` gives each attempt handlers of
 * its own, so that an engine that comes too late is not heard. Never rejects; the first refusal is the error.
 */
export async function dialConnection(options: {
  chain: ProviderChain<SpeechToText>;
  reconnectPolicy: ReconnectPolicy;
  /** Ends the dialling; a session that opens afterwards is closed. */
  signal: AbortSignal;
  nextHandlers(): SttHandlers;
}): Promise<Dialled> {
  const { chain, reconnectPolicy, signal } = options;
  const { clock } = chain.context;
  const hasOthers = chain.length > 1;
  let firstError: unknown;
  for (;;) {
    const step = reconnectPolicy.next(
      clock.nowMs(),
      chain.order().map((link) => link.index),
      (index) => chain.providerHealth.admits(chain.link(index).key),
    );
    if (step === null) return { error: firstError };
    if (step.delayMs > 0) await clock.sleep(step.delayMs, signal).catch(() => undefined);
    if (signal.aborted) return 'cancelled';
    const { index, attempt } = step;
    chain.begin(index);
    try {
      const link = chain.link(index);
      const connection = await openConnection({
        link,
        engine: chain.client(index),
        traits: sttTraits(link.config),
        handlers: options.nextHandlers(),
        hasOthers,
        clock,
      });
      chain.ended(index, signal.aborted ? 'abandoned' : { result: 'ok', ms: null });
      if (!signal.aborted) return { connection, attempt };
      await connection.session.close();
      return 'cancelled';
    } catch (error) {
      if (signal.aborted) {
        chain.ended(index, 'abandoned');
        return 'cancelled';
      }
      firstError ??= error;
      reconnectPolicy.failed(chain.failed(index, error, { attempt }), hasOthers);
      // Whoever does not even answer the door within the bound will hardly do so 250 ms later.
      if (isTimeout(error)) reconnectPolicy.leave(hasOthers);
    }
  }
}

function isTimeout(error: unknown): boolean {
  return (error as { code?: string } | undefined)?.code === 'provider_timeout';
}
