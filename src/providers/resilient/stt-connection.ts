import { AppError } from '../../platform/app-error.ts';
import type { ProviderClock } from '../contract/provider-clock.ts';
import { providerError } from '../contract/provider-error.ts';
import type { SpeechToText, SttHandlers, SttSession } from '../contract/speech-to-text.ts';
import type { ChainLink, ProviderChain } from './provider-chain.ts';
import type { ReconnectPolicy } from './reconnect-policy.ts';
import { type SttTraits, sttTraits } from './stt-traits.ts';

/** One session with one engine, among those that follow each other in a call. */
export interface SttConnection {
  link: ChainLink;
  engine: SpeechToText;
  session: SttSession;
  traits: SttTraits;
  openedAtMs: number;
}

/** An engine that does not open within this is not there; shorter where somebody else can be asked. */
const OPEN_MS = 4_000;
const OPEN_WITH_OTHERS_MS = 1_500;

/**
 * Opens a session within a bound; one that comes later is closed. Rejects with what the engine threw, or
 * `provider_timeout`.
 */
async function openConnection(options: {
  link: ChainLink;
  engine: Promise<SpeechToText>;
  traits: SttTraits;
  handlers: SttHandlers;
  hasOthers: boolean;
  clock: ProviderClock;
}): Promise<SttConnection> {
  const { link, traits, clock } = options;
  const limitMs = options.hasOthers ? OPEN_WITH_OTHERS_MS : OPEN_MS;
  const engine = await options.engine;
  const late = Promise.withResolvers<'late'>();
  const cancel = clock.after(limitMs, () => late.resolve('late'));
  const opening = engine.open(options.handlers);
  opening.catch(() => undefined);
  try {
    const session = await Promise.race([opening, late.promise]);
    if (session !== 'late') return { link, engine, session, traits, openedAtMs: clock.nowMs() };
  } finally {
    cancel();
  }
  void opening.then(
    (session) => session.close(),
    () => undefined,
  );
  throw noAnswer(link, `did not open within ${limitMs} ms`);
}

/** The engine takes audio and says nothing. */
export function deafError(link: ChainLink, detail: string): AppError {
  return noAnswer(link, detail);
}

export function sessionOver(): AppError {
  return new AppError('provider_failed', 'the speech-to-text session is over; open a new one');
}

function noAnswer(link: ChainLink, detail: string): AppError {
  const { provider } = link.config;
  return providerError(
    { provider, family: 'stt', class: 'transient', status: null },
    `${provider} ${detail}`,
    'provider_timeout',
  );
}

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
    const { index, attempt } = step;
    if (step.isAskedFor) {
      const { provider } = chain.link(index).config;
      const after_ms = step.delayMs;
      chain.context.report({
        event: 'provider_retried',
        provider,
        family: 'stt',
        class: 'rate_limit',
        after_ms,
      });
    }
    if (step.delayMs > 0) await clock.sleep(step.delayMs, signal).catch(() => undefined);
    if (signal.aborted) return 'cancelled';
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
      const kind = chain.failed(index, error, { attempt });
      reconnectPolicy.failed(kind, error, { nowMs: clock.nowMs(), hasOthers });
      // Whoever does not even answer the door within the bound will hardly do so 250 ms later.
      if (isTimeout(error)) reconnectPolicy.leave(hasOthers);
    }
  }
}

function isTimeout(error: unknown): boolean {
  return (error as { code?: string } | undefined)?.code === 'provider_timeout';
}
