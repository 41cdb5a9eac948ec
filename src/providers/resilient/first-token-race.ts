import type { LanguageModel, LlmDelta, LlmRequest } from '../contract/language-model.ts';
import { type FailureClass, providerError } from '../contract/provider-error.ts';
import { ProviderSettings } from '../contract/provider-settings.ts';
import { abandonStream, linkedAbort } from './next-within.ts';
import type { ChainLink, ProviderChain } from './provider-chain.ts';
import { rateLimitWaitMs } from './rate-limit-wait.ts';

/** A model that has not spoken by then counts as failed (docs/providers.md, "Language models"). */
const FIRST_TOKEN_MS = 4_000;
/** The second provider is started when the first is late by its own measure (RT-58): p95 x 1.5, within these. */
const HEDGE_FACTOR = 1.5;
const SHORTEST_HEDGE_MS = 300;
const LONGEST_HEDGE_MS = 1_800;
/** Before anything was measured: twice what the vendors' live models are planned to take (reference 9). */
const UNMEASURED_HEDGE_MS = 1_400;
/** Without a fallback a quick failure is tried once more; after a slow one the caller has waited long enough. */
const RETRY_WITHIN_MS = 1_500;
const RETRY_PAUSE_MS = 150;

/** The attempt that speaks: what it has said so far, and where the rest comes from. */
export interface Winner {
  link: ChainLink;
  client: LanguageModel;
  said: LlmDelta[];
  rest: AsyncIterator<LlmDelta>;
  /** The stream ended with what it said. */
  isOver: boolean;
  firstTokenMs: number;
  abort: AbortController;
  release(): void;
}

interface Attempt {
  link: ChainLink;
  startedAtMs: number;
  abort: AbortController;
  release(): void;
  /** Never rejects. */
  opened: Promise<Opened>;
  client: LanguageModel | null;
  /** What came so far, without any word yet. */
  said: LlmDelta[];
}

type Opened = { attempt: Attempt; winner: Winner } | { attempt: Attempt; error: unknown };

/**
 * Asks the providers of a chain for one answer until one of them speaks: the first at once, the next when it fails or
 * is late. The first that speaks wins, the other is aborted. A valid end without words, such as after a tool call, is
 * speaking too; a refusal by a content filter or an end for no good reason without any word is a failure, which
 * another provider may answer better.
 *
 * Throws the failure of the first provider that was asked when none speaks, the signal's reason when it aborts.
 */
export async function raceForFirstToken(
  chain: ProviderChain<LanguageModel>,
  request: LlmRequest,
  signal: AbortSignal,
): Promise<Winner> {
  signal.throwIfAborted();
  const { clock } = chain.context;
  const waiting = chain.order();
  const running = new Set<Attempt>();
  const startedAtMs = clock.nowMs();
  const failures: { link: ChainLink; error: unknown; kind: FailureClass }[] = [];
  let hedged = false;
  let retried = false;
  let refusals = 0;
  const start = (link: ChainLink) => running.add(startAttempt(chain, link, request, signal));

  const first = waiting.shift();
  if (!first) throw new RangeError('a chain has at least one provider');
  start(first);
  try {
    for (;;) {
      const event = await nextEvent();
      signal.throwIfAborted();
      if (event === 'hedge') {
        hedged = true;
        const next = waiting.shift();
        if (next) {
          report('provider_hedged', next, { late: first.config.provider });
          start(next);
        }
        continue;
      }
      running.delete(event.attempt);
      if ('winner' in event) {
        settleLosers(event.attempt);
        if (event.winner.link.index !== first.index) {
          chain.switched(first.index, event.winner.link.index, failures.length > 0 ? 'failed' : 'late');
        }
        return event.winner;
      }
      event.attempt.release();
      tellWasted(chain, event.attempt);
      const { link } = event.attempt;
      failures.push({ link, error: event.error, kind: chain.failed(link.index, event.error) });
      if (running.size > 0) continue;
      const next = waiting.shift();
      if (next) start(next);
      else await retryOrThrow();
    }
  } catch (error) {
    for (const attempt of running) {
      attempt.abort.abort(error);
      attempt.release();
      tellWasted(chain, attempt);
      chain.ended(attempt.link.index, 'abandoned');
    }
    throw error;
  }

  async function nextEvent() {
    const { promise: hedge, resolve } = Promise.withResolvers<'hedge'>();
    const cancel = mayHedge() ? clock.after(hedgeInMs(), () => resolve('hedge')) : () => undefined;
    const aborted = Promise.withResolvers<never>();
    const onAbort = () => aborted.reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      return await Promise.race([hedge, aborted.promise, ...[...running].map((attempt) => attempt.opened)]);
    } finally {
      cancel();
      signal.removeEventListener('abort', onAbort);
    }
  }

  function mayHedge(): boolean {
    const next = waiting[0];
    if (hedged || running.size !== 1 || !next || first?.config.hedge === false) return false;
    return chain.providerHealth.admits(next.key);
  }

  function hedgeInMs(): number {
    const [attempt] = running;
    if (!attempt) return 0;
    const p95 = chain.providerHealth.latency(attempt.link.key)?.p95;
    const ms = p95 === undefined ? UNMEASURED_HEDGE_MS : p95 * HEDGE_FACTOR;
    const dueMs = attempt.startedAtMs + Math.min(LONGEST_HEDGE_MS, Math.max(SHORTEST_HEDGE_MS, ms));
    return Math.max(0, dueMs - clock.nowMs());
  }

  /** The slower ones are told off, and their lateness is remembered, or it would never be learnt. */
  function settleLosers(winning: Attempt): void {
    for (const loser of running) {
      loser.abort.abort(new DOMException('another provider answered first', 'AbortError'));
      loser.release();
      tellWasted(chain, loser);
      const lateMs = clock.nowMs() - loser.startedAtMs;
      if (loser.startedAtMs <= winning.startedAtMs) {
        chain.ended(loser.link.index, { result: 'slow', ms: lateMs });
        chain.avoid(loser.link.index);
      } else {
        chain.ended(loser.link.index, 'abandoned');
      }
    }
    running.clear();
  }

  /** With nobody else to ask: a wait that the vendor names is waited out, what just failed is tried once more. */
  async function retryOrThrow(): Promise<void> {
    const latest = failures.at(-1);
    if (!latest) throw new RangeError('nothing failed');
    const pauseMs = chain.length === 1 ? retryPauseMs(latest) : null;
    if (pauseMs === null) throw failures[0]?.error;
    report('provider_retried', latest.link, { class: latest.kind, after_ms: pauseMs });
    await clock.sleep(pauseMs, signal);
    start(latest.link);
  }

  /** Null where it will not help to ask again, or would take too long. */
  function retryPauseMs({ kind, error }: { kind: FailureClass; error: unknown }): number | null {
    const waitedMs = clock.nowMs() - startedAtMs;
    if (kind === 'rate_limit') return rateLimitWaitMs(error, waitedMs, refusals++);
    if (kind !== 'transient' || retried || waitedMs >= RETRY_WITHIN_MS) return null;
    retried = true;
    return RETRY_PAUSE_MS;
  }

  function report(
    event: 'provider_hedged' | 'provider_retried',
    link: ChainLink,
    more: Record<string, unknown>,
  ): void {
    chain.context.report({ event, provider: link.config.provider, family: 'llm', ...more });
  }
}

function startAttempt(
  chain: ProviderChain<LanguageModel>,
  link: ChainLink,
  request: LlmRequest,
  signal: AbortSignal,
): Attempt {
  const { clock } = chain.context;
  const { controller, release } = linkedAbort(signal);
  const startedAtMs = clock.nowMs();
  chain.begin(link.index);
  const attempt: Attempt = {
    link,
    startedAtMs,
    abort: controller,
    release,
    opened: Promise.resolve().then(open),
    client: null,
    said: [],
  };
  return attempt;

  async function open(): Promise<Opened> {
    const late = Promise.withResolvers<never>();
    late.promise.catch(() => undefined);
    let cancel: () => void = () => undefined;
    let stream: AsyncIterator<LlmDelta> | undefined;
    try {
      const limitMs = firstTokenLimitMs(link);
      cancel = clock.after(limitMs, () => late.reject(noFirstToken(link, limitMs)));
      const client = await Promise.race([chain.client(link.index), late.promise]);
      attempt.client = client;
      stream = client.answer(request, controller.signal)[Symbol.asyncIterator]();
      const { said } = attempt;
      for (;;) {
        const next = stream.next();
        next.catch(() => undefined);
        const step = await Promise.race([next, late.promise]);
        if (!step.done) said.push(step.value);
        if (!step.done && !isSpeaking(step.value)) continue;
        if (!step.done && step.value.type === 'finish') throwIfPointless(link, step.value.reason);
        const winner = {
          link,
          client,
          said,
          rest: stream,
          isOver: step.done === true,
          firstTokenMs: clock.nowMs() - startedAtMs,
          abort: controller,
          release,
        };
        return { attempt, winner };
      }
    } catch (error) {
      controller.abort(error);
      if (stream) abandonStream(stream);
      return { attempt, error };
    } finally {
      cancel();
    }
  }
}

/** The vendor bills what it had counted, whoever answered in the end. */
function tellWasted({ context }: ProviderChain<LanguageModel>, { client, said }: Attempt): void {
  const usage = said.findLast((delta) => delta.type === 'usage')?.usage;
  if (client && usage) context.wasted?.({ provider: client.name, model: client.model, usage });
}

function firstTokenLimitMs(link: ChainLink): number {
  return new ProviderSettings('llm', link.config).number('first_token_timeout_ms', {
    fallback: FIRST_TOKEN_MS,
    minimum: 100,
    maximum: 60_000,
  });
}

function isSpeaking(delta: LlmDelta): boolean {
  return delta.type === 'text' || delta.type === 'tool_call' || delta.type === 'finish';
}

/** An end before any word and any tool call: fine where the model meant it, a failure where something cut it off. */
function throwIfPointless(link: ChainLink, reason: Extract<LlmDelta, { type: 'finish' }>['reason']): void {
  if (reason !== 'refused' && reason !== 'other') return;
  throw providerError(
    {
      provider: link.config.provider,
      family: 'llm',
      class: reason === 'refused' ? 'content' : 'transient',
      status: null,
    },
    reason === 'refused'
      ? `${link.config.provider} refused to answer`
      : `${link.config.provider} ended its answer before the first word`,
  );
}

function noFirstToken(link: ChainLink, limitMs: number): Error {
  const { provider } = link.config;
  return providerError(
    { provider, family: 'llm', class: 'transient', status: null },
    `${provider} gave no first token within ${limitMs} ms`,
    'provider_timeout',
  );
}
