import { AppError } from '../../platform/app-error.ts';
import type { ProviderClock } from '../provider-clock.ts';
import { providerError } from '../provider-error.ts';
import type { SpeechToText, SttHandlers, SttSession } from '../speech-to-text.ts';
import type { ChainLink } from './provider-chain.ts';
import type { SttTraits } from './stt-traits.ts';

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
export async function openConnection(options: {
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
