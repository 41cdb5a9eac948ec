import type { ProviderTrouble } from '../contract/provider-context.ts';
import { failureClass } from '../contract/provider-error.ts';
import type {
  SpeechToText,
  SttHandlers,
  SttResult,
  SttSession,
  SttTurnEvent,
} from '../contract/speech-to-text.ts';
import { AudioRing } from './audio-ring.ts';
import { type BookedTurn, PendingTurns } from './pending-turns.ts';
import type { ProviderChain } from './provider-chain.ts';
import { ReconnectPolicy } from './reconnect-policy.ts';
import { ReplayFeeder } from './replay-feeder.ts';
import { replayStart, SpeechIntervals } from './speech-intervals.ts';
import { deafError, dialConnection, type SttConnection, sessionOver } from './stt-connection.ts';
import { SttWatchdog } from './stt-watchdog.ts';

/** What is heard again after a lost session (D-31, RT-57). */
const RING_SECONDS = 10;
/** Turns whose text is out at one time; the oldest is given up for another. */
const MAX_PENDING_TURNS = 8;
/** A session that lived this long was one, even if it said nothing. */
const LIVED_MS = 2_000;
/** So much speech since an engine that tells words at once said anything, and no answer at the end of the turn. */
const UNANSWERED_SPEECH_MS = 500;
const NO_WORDS = 'gave no text for two turns of speech';

/** A flush that waits for the text of its turn. */
interface Waiter {
  resolve(result: SttResult): void;
  reject(error: unknown): void;
  startedAtMs: number;
  signal: AbortSignal;
  hadSpeech: boolean;
  /** A session did not answer for this turn already; what the next one says counts. */
  wasUnanswered: boolean;
}

export interface SessionOptions {
  chain: ProviderChain<SpeechToText>;
  handlers: SttHandlers;
  random: () => number;
  onEngine(engine: SpeechToText): void;
}

/** The one session that the call sees, over as many sessions with engines as it takes. */
export class ResilientSttSession implements SttSession {
  private readonly chain: ProviderChain<SpeechToText>;
  private readonly handlers: SttHandlers;
  private readonly onEngine: SessionOptions['onEngine'];
  private readonly ring: AudioRing;
  private readonly book: PendingTurns;
  private readonly marks: SpeechIntervals;
  private readonly reconnectPolicy: ReconnectPolicy;
  private readonly deaf = new SttWatchdog();
  private readonly waiters = new Map<BookedTurn, Waiter>();
  /** Ends waits and flushes of the present connection. */
  private connectionAbort = new AbortController();
  private connection: SttConnection | null = null;
  private feeder: ReplayFeeder | null = null;
  /** Grows with every connection: what an older one still says is not heard. */
  private epoch = 0;
  private lastIndex: number | null = null;
  private brokeAtMs: number | null = null;
  private brokeBy: unknown;
  private turnIsOpen = false;
  /** Where the audio was when the present connection last said anything at all. */
  private aliveAt = 0;
  /** A session that broke between opening and being ours. */
  private earlyFailure: Error | undefined;
  private over = false;

  constructor(options: SessionOptions) {
    const { sampleRate } = options.chain.context;
    this.chain = options.chain;
    this.handlers = options.handlers;
    this.onEngine = options.onEngine;
    this.ring = new AudioRing(sampleRate, RING_SECONDS);
    this.book = new PendingTurns(sampleRate);
    this.marks = new SpeechIntervals(sampleRate);
    this.reconnectPolicy = new ReconnectPolicy(options.random);
  }

  start(): void {
    void this.connect();
  }

  feed(samples: Int16Array): void {
    if (this.over || samples.length === 0) return;
    this.ring.push(samples);
    this.feeder?.arrived(samples);
  }

  speechHeard(ms: number): void {
    if (this.over) return;
    this.marks.add(this.ring.endAt, ms);
    const isDeaf = this.deaf.speech(
      ms,
      (this.feeder?.isLive && this.connection?.traits.tellsWordsAtOnce) ?? false,
    );
    if (isDeaf && this.connection) this.wentDeaf(this.connection, 'heard speech for 3 s and said nothing');
  }

  flush(signal: AbortSignal): Promise<SttResult> {
    if (signal.aborted) return Promise.reject(signal.reason);
    if (this.over) return Promise.reject(sessionOver());
    const turn = this.book.end(this.ring.endAt);
    const { hadSpeech } = this.deaf.turnEnded();
    const { promise, resolve, reject } = Promise.withResolvers<SttResult>();
    const waiter: Waiter = {
      resolve,
      reject,
      startedAtMs: this.now,
      signal,
      hadSpeech,
      wasUnanswered: false,
    };
    this.waiters.set(turn, waiter);
    const onAbort = () => this.settle(turn, () => reject(signal.reason));
    signal.addEventListener('abort', onAbort, { once: true });
    const [oldest] = this.book.pending;
    if (oldest && this.book.pending.length > MAX_PENDING_TURNS) {
      this.settle(oldest, (abandoned) => abandoned.reject(sessionOver()));
    }
    this.feeder?.at(turn.endAt ?? 0, () => this.flushConnection(turn));
    return promise.finally(() => signal.removeEventListener('abort', onAbort));
  }

  discard(): void {
    this.book.discard(this.ring.endAt);
    this.deaf.turnEnded();
    this.turnIsOpen = false;
    const { session } = this.connection ?? {};
    if (session) this.feeder?.at(this.ring.endAt, () => session.discard());
  }

  async close(): Promise<void> {
    const connection = this.connection;
    this.end(sessionOver());
    await connection?.session.close();
  }

  private get now(): number {
    return this.chain.context.clock.nowMs();
  }

  private msOf(samples: number): number {
    return Math.round((samples * 1000) / this.ring.sampleRate);
  }

  /** Dials until somebody listens, or everybody had a turn. */
  private async connect(): Promise<void> {
    const dialled = await dialConnection({
      chain: this.chain,
      reconnectPolicy: this.reconnectPolicy,
      signal: this.connectionAbort.signal,
      nextHandlers: () => {
        this.earlyFailure = undefined;
        return this.handlersOf(++this.epoch);
      },
    });
    if (dialled === 'cancelled') return;
    if ('connection' in dialled) this.adopt(dialled.connection, dialled.attempt);
    else this.giveUp(dialled.error);
  }

  /** A session is open: it hears what is not settled, then what comes. */
  private adopt(connection: SttConnection, attempt: number): void {
    const { clock } = this.chain.context;
    this.settleHeard();
    const { fromAt, lostSamples } = replayStart(this.book.neededFrom, this.ring, this.marks);
    const feeder = new ReplayFeeder({
      ring: this.ring,
      session: connection.session,
      clock,
      fromAt,
      timesRealTime: connection.traits.replayRate,
    });
    this.connection = connection;
    this.feeder = feeder;
    this.aliveAt = fromAt;
    this.deaf.newSession();
    this.tellEngine(connection, attempt, this.ring.endAt - fromAt);
    if (lostSamples > 0) this.report('provider_audio_dropped', connection, { ms: this.msOf(lostSamples) });
    for (const turn of this.book.pending) feeder.at(turn.endAt ?? 0, () => this.flushConnection(turn));
    const { startAt } = this.book.open;
    // What was discarded is heard again where a turn before it is.
    if (startAt > (this.book.pending.at(-1)?.endAt ?? fromAt))
      feeder.at(startAt, () => connection.session.discard());
    if (this.earlyFailure) this.broke(this.earlyFailure);
    else feeder.start();
  }

  private tellEngine(connection: SttConnection, attempt: number, replaySamples: number): void {
    const { index } = connection.link;
    const afterMs = this.brokeAtMs === null ? 0 : Math.round(this.now - this.brokeAtMs);
    this.brokeAtMs = null;
    this.brokeBy = undefined;
    if (this.lastIndex === index) {
      const replayedMs = this.msOf(replaySamples);
      this.report('provider_reconnected', connection, {
        attempt,
        after_ms: afterMs,
        replayed_ms: replayedMs,
      });
      return;
    }
    if (index !== (this.lastIndex ?? 0)) this.chain.switched(this.lastIndex ?? 0, index, 'failed');
    this.lastIndex = index;
    this.onEngine(connection.engine);
    this.handlers.onEngine?.(connection.engine);
  }

  private report(
    event: ProviderTrouble['event'],
    connection: SttConnection,
    more: Record<string, unknown>,
  ): void {
    this.chain.context.report({ event, provider: connection.link.config.provider, family: 'stt', ...more });
  }

  /** Turns of which nothing is left to be heard need no new session. */
  private settleHeard(): void {
    const { fromAt } = replayStart(this.book.neededFrom, this.ring, this.marks);
    for (const turn of this.book.pending) {
      const endAt = turn.endAt ?? 0;
      const isQuiet = this.marks.areKept && !this.marks.any(turn.settledAt, endAt);
      if (endAt > fromAt && !isQuiet) return;
      const result = this.book.result(turn, { text: '', confidence: null });
      this.settle(turn, (waiter) => waiter.resolve(result));
    }
  }

  private handlersOf(epoch: number): SttHandlers {
    const isCurrent = () => epoch === this.epoch && !this.over;
    return {
      onInterim: (text) => {
        if (!isCurrent()) return;
        this.showsLife(text);
        this.handlers.onInterim(this.book.textSoFar(text));
      },
      onFinal: (piece) => {
        if (!isCurrent()) return;
        const uptoSample = piece.uptoSample === null ? null : piece.uptoSample + (this.feeder?.fromAt ?? 0);
        const placed = { ...piece, uptoSample };
        this.aliveAt = this.feeder?.fedUpTo ?? this.aliveAt;
        this.book.final(placed);
        if (piece.text !== '') this.showsLife(piece.text);
        this.handlers.onFinal?.(placed);
      },
      onTurn: (event) => {
        if (isCurrent()) this.onTurn(event);
      },
      onFailure: (error) => {
        if (!isCurrent()) return;
        if (this.connection) this.broke(error);
        else this.earlyFailure = error;
      },
    };
  }

  private onTurn(event: SttTurnEvent): void {
    this.showsLife('text' in event ? event.text : '');
    // After a break the new session begins the turn again; for the call it is the one it knows.
    if (event.type === 'start' && this.turnIsOpen) return;
    this.turnIsOpen = event.type !== 'end';
    if (event.type === 'start' || event.type === 'resumed') {
      this.handlers.onTurn?.(event);
      return;
    }
    const text = this.book.textSoFar(event.text);
    // A turn that a flush ends already is settled by that flush.
    if (event.type === 'end' && this.book.pending.length === 0) this.endTurn({ ...event, text });
    else this.handlers.onTurn?.({ ...event, text });
  }

  /** The engine itself has ended a turn. */
  private endTurn(event: Extract<SttTurnEvent, { type: 'end' }>): void {
    const settledAt = this.book.open.fresh.findLast((piece) => piece.uptoSample !== null)?.uptoSample;
    this.book.settle(this.book.end(settledAt ?? this.feeder?.fedUpTo ?? this.ring.endAt));
    const { hadSpeech } = this.deaf.turnEnded();
    const isUnheard = event.text === '' && hadSpeech;
    this.handlers.onTurn?.(isUnheard ? { ...event, isUnheard } : event);
    const isDeaf = this.deaf.turnText(event.text, hadSpeech);
    if (isDeaf && this.connection) this.wentDeaf(this.connection, NO_WORDS);
  }

  private showsLife(text: string): void {
    this.aliveAt = this.feeder?.fedUpTo ?? this.aliveAt;
    if (text === '') this.deaf.sign();
    else this.deaf.words();
    this.reconnectPolicy.works();
  }

  /** The present connection has been fed up to the end of a turn. */
  private flushConnection(turn: BookedTurn): void {
    const connection = this.connection;
    const waiter = this.waiters.get(turn);
    if (!connection) return;
    if (!waiter) {
      // Nobody wants the text any more, and it must not turn up in the next turn.
      connection.session.discard();
      return;
    }
    const epoch = this.epoch;
    const { clock } = this.chain.context;
    const { flushMs } = connection.traits;
    const cancel =
      flushMs === null
        ? () => undefined
        : clock.after(flushMs, () => {
            if (epoch === this.epoch) {
              this.broke(deafError(connection.link, `gave no text for a turn within ${flushMs} ms`));
            }
          });
    connection.session
      .flush(AbortSignal.any([this.connectionAbort.signal, waiter.signal]))
      .then(
        (rest) => {
          if (epoch === this.epoch) this.onText(connection, turn, rest);
        },
        (error: unknown) => {
          if (epoch === this.epoch && this.waiters.has(turn) && !waiter.signal.aborted) this.broke(error);
        },
      )
      .finally(cancel);
  }

  private onText(connection: SttConnection, turn: BookedTurn, rest: SttResult): void {
    const waiter = this.waiters.get(turn);
    if (!waiter) return;
    const result = this.book.result(turn, rest);
    if (this.isUnanswered(connection, turn) && !waiter.wasUnanswered) {
      waiter.wasUnanswered = true;
      this.broke(deafError(connection.link, 'did not answer at the end of a turn'), this.deaf.isDoubted);
      return;
    }
    // A turn that another session has heard already needs no third opinion.
    if (this.deaf.turnText(result.text, waiter.hadSpeech) && !waiter.wasUnanswered) {
      this.wentDeaf(connection, NO_WORDS);
      return;
    }
    this.reconnectPolicy.works();
    const ms = this.now - waiter.startedAtMs;
    this.chain.ended(connection.link.index, { result: 'ok', ms });
    const isUnheard = result.text === '' && waiter.hadSpeech;
    this.settle(turn, () => waiter.resolve(isUnheard ? { ...result, isUnheard } : result));
  }

  /**
   * Whether a text is only what there was when the line went dead: the engine had said nothing for a while of speech,
   * and the end of the turn moved it to nothing either.
   */
  private isUnanswered(connection: SttConnection, turn: BookedTurn): boolean {
    if (!connection.traits.tellsWordsAtOnce) return false;
    return this.marks.msBetween(this.aliveAt, turn.endAt ?? 0) >= UNANSWERED_SPEECH_MS;
  }

  /** Takes a turn out of the book and does the rest with its waiter, once. */
  private settle(turn: BookedTurn, action: (waiter: Waiter) => void): void {
    const waiter = this.waiters.get(turn);
    if (!waiter) return;
    this.waiters.delete(turn);
    this.book.settle(turn);
    action(waiter);
  }

  /** A second opinion comes from somebody else, where there is anybody. */
  private wentDeaf(connection: SttConnection, detail: string): void {
    this.broke(deafError(connection.link, detail), true);
  }

  /** The present connection is no use any more: the next one is dialled. */
  private broke(error: unknown, leave = false): void {
    const connection = this.connection;
    if (!connection) return;
    if (this.now - connection.openedAtMs >= LIVED_MS) this.reconnectPolicy.works();
    this.brokeBy = error;
    this.brokeAtMs = this.now;
    this.chain.failed(connection.link.index, error);
    const hasOthers = this.chain.length > 1;
    this.reconnectPolicy.failed(failureClass(error), error, { nowMs: this.now, hasOthers });
    if (leave) this.reconnectPolicy.leave(hasOthers);
    this.dropConnection();
    void connection.session.close();
    this.settleHeard();
    void this.connect();
  }

  private dropConnection(): void {
    this.connection = null;
    this.feeder?.stop();
    this.feeder = null;
    this.book.broke();
    this.connectionAbort.abort(sessionOver());
    this.connectionAbort = new AbortController();
  }

  /** The break that nobody could mend is the reason; at the beginning of a call it is the first refusal. */
  private giveUp(refusal: unknown): void {
    const reason = this.brokeBy ?? refusal;
    const error = reason instanceof Error ? reason : sessionOver();
    this.end(error);
    this.handlers.onFailure(error);
  }

  private end(error: Error): void {
    if (this.over) return;
    this.over = true;
    this.epoch++;
    this.dropConnection();
    for (const turn of [...this.waiters.keys()]) this.settle(turn, (waiter) => waiter.reject(error));
  }
}
