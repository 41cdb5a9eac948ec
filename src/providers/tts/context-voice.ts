import { AppError } from '../../platform/app-error.ts';
import { tidyVendorText, type VendorRefusal } from '../connect/vendor-refusal.ts';
import { openVendorSocket, type VendorSocket, type VendorSocketOptions } from '../connect/vendor-socket.ts';
import type { ProviderContext } from '../contract/provider-context.ts';
import { type ProviderFailure, providerError } from '../contract/provider-error.ts';
import type { SpeakHooks, TextToSpeech } from '../contract/text-to-speech.ts';
import { ClauseStream } from './clause-stream.ts';
import { worthSaying } from './spoken-text.ts';
import { type VoiceConnection, VoiceLine } from './voice-line.ts';

/** Unsent bytes above which text waits (reference 2: 64 KiB for voices). */
export const TEXT_HIGH_WATER_BYTES = 65_536;

/** An error that the vendor tells in a message; `status` where it gives one. */
export type ContextRefusal = VendorRefusal & { status?: number | null };

/** What one vendor's message says about one clause; parts in the order in which they take effect. */
export interface ContextNews {
  /** Null where the vendor does not say: then it is of the socket as a whole. */
  contextId: string | null;
  words?: (clause: ClauseStream) => void;
  audio?: Buffer;
  error?: ContextRefusal;
  isLast?: boolean;
  /** Sent to the vendor in return, while the clause is still wanted. */
  reply?: object;
}

/** The protocol of a vendor that speaks many contexts over one socket. */
export interface ContextProtocol {
  provider: string;
  model: string;
  sampleRate: number;
  socket: Pick<VendorSocketOptions, 'url' | 'headers' | 'secrets' | 'readRefusal' | 'readClose'>;
  /** Clauses at the same time that the vendor allows; one more is refused as `rate_limit`. */
  maxContexts: number;
  /** What is sent for one clause. */
  clauseMessages(contextId: string, text: string): readonly object[];
  /** What is sent for a clause that nobody wants any more; null where nothing more can be said. */
  stopMessage(contextId: string): object | null;
  /** The vendor counts a stopped context as one of `maxContexts` until it has said that it is over. */
  countsUntilLast?: boolean;
  /** The vendor's last word before a socket is closed in peace. */
  farewell?: object;
  /** Null for messages that mean nothing here. Throws where a message cannot be what the vendor documents. */
  read(message: Record<string, unknown>): ContextNews | null;
  /**
   * Why a clause of which nothing was heard may be said again over a new socket after this one ended so, such as `idle`;
   * null where it may not.
   */
  redialAfter(failure: Partial<ProviderFailure>): string | null;
}

/**
 * Text to speech over one socket with a context for each clause. A context id is never used twice, so audio that still
 * comes for a clause which was stopped finds nobody and is dropped.
 */
export function createContextVoice(protocol: ContextProtocol, context: ProviderContext): TextToSpeech {
  const { provider } = protocol;
  const line = new VoiceLine(provider, ({ clauses, onEnd, signal }) =>
    openVendorSocket({
      ...protocol.socket,
      provider,
      family: 'tts',
      clock: context.clock,
      onAccepted: context.accepted,
      highWaterBytes: TEXT_HIGH_WATER_BYTES,
      signal,
      onEnd,
      onMessage: (message, socket) => receive(protocol, clauses, message, socket),
    }),
  );
  let clausesBegun = 0;

  return {
    name: provider,
    model: protocol.model,
    sampleRate: protocol.sampleRate,

    async *speak(text, signal, hooks) {
      signal.throwIfAborted();
      if (!worthSaying(text)) return;
      const said = text.trim();
      const wasOpen = line.isOpen;
      const audio = newClause(protocol, hooks);
      try {
        yield* sayOnce(protocol, line, { contextId: `c${++clausesBegun}`, text: said, audio, signal });
      } catch (error) {
        // The vendor closes sockets that were idle for long, or that it will not have any more, and its close may cross
        // the clause on the way. Nothing of the clause was given out, so it may be said over a new socket.
        const failure = error instanceof AppError ? (error.details as Partial<ProviderFailure>) : {};
        const after = protocol.redialAfter(failure);
        if (!wasOpen || audio.samples > 0 || signal.aborted || after === null) throw error;
        context.report({ event: 'provider_reconnected', provider, family: 'tts', after });
        const again = newClause(protocol, hooks);
        yield* sayOnce(protocol, line, { contextId: `c${++clausesBegun}`, text: said, audio: again, signal });
      }
    },

    async warm() {
      await line.open();
    },

    close: () => line.close(protocol.farewell && JSON.stringify(protocol.farewell)),
  };
}

async function* sayOnce(
  protocol: ContextProtocol,
  line: VoiceLine,
  clause: { contextId: string; text: string; audio: ClauseStream; signal: AbortSignal },
): AsyncGenerator<Int16Array> {
  const { contextId, text, audio, signal } = clause;
  const connection = await takePlace(protocol, line, clause);
  const { socket, clauses } = connection;
  // It may have ended between its opening and now, and then nobody would tell the clause.
  if (!socket.isOpen) audio.fail(failure(protocol, {}, 'ended the connection as it opened'));
  const messages = protocol.clauseMessages(contextId, text).map((message) => JSON.stringify(message));
  let isSent = false;
  const onLeft = () => {
    // Whoever left early has silenced the line already; only now the vendor is told.
    const isKnown = clauses.has(contextId) && isSent && socket.isOpen;
    const stop = isKnown ? protocol.stopMessage(contextId) : null;
    if (stop) socket.send(JSON.stringify(stop));
    if (!isKnown || !protocol.countsUntilLast) clauses.delete(contextId);
    line.left(connection);
  };
  try {
    const [first, ...rest] = messages;
    if (first !== undefined) await socket.sendWhenClear(first, signal);
    for (const message of rest) socket.send(message);
    isSent = true;
  } catch (error) {
    onLeft();
    throw error;
  }
  yield* audio.read(signal, onLeft);
}

/**
 * Puts a clause among those of a connection that has room for it. Where contexts that nobody hears any more take the
 * room, a new socket has none of them.
 */
async function takePlace(
  protocol: ContextProtocol,
  line: VoiceLine,
  clause: { contextId: string; audio: ClauseStream; signal: AbortSignal },
): Promise<VoiceConnection> {
  const { maxContexts } = protocol;
  let connection = await line.open(clause.signal);
  const allAreHeard = [...connection.clauses.values()].every(({ isOpen }) => isOpen);
  if (connection.clauses.size >= maxContexts && !allAreHeard) {
    line.retire(connection);
    connection = await line.open(clause.signal);
  }
  if (connection.clauses.size >= maxContexts) {
    throw failure(protocol, { class: 'rate_limit' }, `is asked for more than ${maxContexts} clauses`);
  }
  connection.clauses.set(clause.contextId, clause.audio);
  return connection;
}

function receive(
  protocol: ContextProtocol,
  clauses: Map<string, ClauseStream>,
  message: string | Buffer,
  socket: VendorSocket,
): void {
  const parsed: unknown = JSON.parse(message.toString());
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) return;
  const news = protocol.read(parsed as Record<string, unknown>);
  if (!news) return;
  if (news.contextId === null) {
    if (news.error) socket.fail(refused(protocol, news.error));
    return;
  }
  const clause = clauses.get(news.contextId);
  if (!clause) return;
  news.words?.(clause);
  if (news.audio) clause.bytes(news.audio);
  if (news.error) clause.fail(refused(protocol, news.error));
  if (news.isLast) clause.end();
  if (news.reply && socket.isOpen) socket.send(JSON.stringify(news.reply));
  if (news.isLast || news.error) clauses.delete(news.contextId);
}

function newClause(protocol: ContextProtocol, hooks: SpeakHooks | undefined): ClauseStream {
  return new ClauseStream({ provider: protocol.provider, sampleRate: protocol.sampleRate, hooks });
}

function refused(protocol: ContextProtocol, refusal: ContextRefusal): AppError {
  const { message, ...rest } = refusal;
  const said = tidyVendorText(message ?? rest.vendorCode ?? 'it gives no reason', protocol.socket);
  return failure(protocol, rest, `refused: ${said}`);
}

function failure(protocol: ContextProtocol, what: Partial<ProviderFailure>, sentence: string): AppError {
  const { provider } = protocol;
  return providerError(
    { provider, family: 'tts', class: 'transient', status: null, ...what },
    `${provider} (tts) ${sentence}`,
  );
}
