import type { LanguageModel, LlmDelta, LlmRequest } from '../contract/language-model.ts';
import { providerError } from '../contract/provider-error.ts';
import { raceForFirstToken, type Winner } from './first-token-race.ts';
import { abandonStream, nextWithin } from './next-within.ts';
import type { ProviderChain } from './provider-chain.ts';

/** An answer that has begun and then says nothing for this long has ended; what was said is spoken already. */
export const STALL_MS = 4_000;

/**
 * A language model over a bot's provider and its fallbacks (RT-58). Which one answers is settled before the first
 * word; afterwards nobody takes over, because what was said cannot be taken back: a stall or a break ends the answer
 * with `provider_timeout` or `provider_failed`, and the caller keeps what there is.
 *
 * `served_by` comes first where another than the bot's own provider answers.
 */
export function createResilientLlm(chain: ProviderChain<LanguageModel>, first: LanguageModel): LanguageModel {
  return {
    name: first.name,
    model: first.model,
    answer: (request, signal) => answer(chain, request, signal),
    async warm(request) {
      const client = await chain.client(0).catch(() => null);
      await client?.warm?.(request);
    },
    close: () => chain.close(),
  };
}

async function* answer(
  chain: ProviderChain<LanguageModel>,
  request: LlmRequest,
  signal: AbortSignal,
): AsyncGenerator<LlmDelta> {
  const winner = await raceForFirstToken(chain, request, signal);
  const { link, client } = winner;
  // Whoever stops reading after the first word does not complain about the provider.
  let outcome: 'ok' | 'failed' = 'ok';
  try {
    if (link.index !== 0) yield { type: 'served_by', provider: client.name, model: client.model };
    yield* winner.said;
    if (!winner.isOver) yield* restOf(winner, chain);
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    outcome = 'failed';
    chain.failed(link.index, error, { in_answer: true });
    throw error;
  } finally {
    winner.release();
    winner.abort.abort(new DOMException('the answer is over', 'AbortError'));
    abandonStream(winner.rest);
    if (outcome === 'ok') chain.ended(link.index, { result: 'ok', ms: winner.firstTokenMs });
  }
}

async function* restOf(winner: Winner, chain: ProviderChain<LanguageModel>): AsyncGenerator<LlmDelta> {
  const { provider } = winner.link.config;
  for (;;) {
    const step = await nextWithin(winner.rest, STALL_MS, chain.context.clock);
    if (step === 'late') {
      throw providerError(
        { provider, family: 'llm', class: 'transient', status: null },
        `${provider} stalled for ${STALL_MS} ms in the middle of its answer`,
        'provider_timeout',
      );
    }
    if (step.done) return;
    yield step.value;
  }
}
