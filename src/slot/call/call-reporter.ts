import type { CacheUse } from '../../contracts/call-results.ts';
import { LINE_RATE_HZ } from '../../contracts/limits.ts';
import { monotonicMs } from '../../platform/clock.ts';
import type { CallLog } from '../record/call-log.ts';
import { tokenCounts } from '../record/token-counts.ts';
import type { Reply } from '../speak/speaker.ts';
import type { HeardSoFar, SpeechLedger } from '../speak/speech-ledger.ts';
import type { AnswerRecord } from '../think/think-aloud.ts';
import type { DecidedBy } from '../turn/turn-types.ts';
import type { EndVerdict } from '../wrap-up/end-arbiter.ts';

/** Its name is read whenever something is reported: behind it, another provider may have taken over. */
interface Engine {
  readonly name: string;
  readonly model: string | null;
}

/** A turn of the caller as it is answered and told. */
export interface UserTurn {
  id: number;
  text: string;
  confidence: number | null;
  /** First and last sample of the caller's speech. */
  fromSample: number;
  toSample: number;
  decidedAtSample: number;
  /** Monotonic. */
  decidedAtMs: number;
  decidedBy: DecidedBy;
  /** The last verdict of the turn model, null where there was none. */
  probability: number | null;
  /** Why the silence rule decided. */
  ruleReason: string | null;
  /** From the last speech sample to the decision, and from there to the text. */
  endpointMs: number;
  transcribeMs: number;
}

/**
 * Puts what happens in a conversation into the words of the results payload: transcript entries, events, usage
 * (R92, R108, R167). It decides nothing.
 */
export class CallReporter {
  private readonly log: CallLog;
  private readonly ledger: SpeechLedger;
  private readonly stt: Engine;
  private readonly llm: Engine;
  private readonly tts: Engine;
  private readonly cacheVersion: string | null;
  private hasToldCache = false;
  private readonly places = new Map<number, { seq: number; timestamp: number }>();
  private unanswered: { turn: UserTurn; endedAtMs: number } | undefined;
  /** The turn whose event is still to be written, and when the caller's last word of it ended. */
  private untold: { turn: UserTurn; endedAt: number } | undefined;
  /** Where the transcript has the caller's latest words. */
  private lastSeq: number | null = null;
  /** The next turn holds the words of the last one, and takes its place. */
  private isContinued = false;

  /** `cacheVersion` is the version of the live prompt, null where the bot caches none. */
  constructor(options: {
    log: CallLog;
    ledger: SpeechLedger;
    stt: Engine;
    llm: Engine;
    tts: Engine;
    cacheVersion: string | null;
  }) {
    this.log = options.log;
    this.ledger = options.ledger;
    this.stt = options.stt;
    this.cacheVersion = options.cacheVersion;
    this.llm = options.llm;
    this.tts = options.tts;
  }

  /** The caller has said something; `nowSample` is the line clock. */
  turn(turn: UserTurn, nowSample: number): void {
    this.unanswered = { turn, endedAtMs: monotonicMs() };
    this.turnUnanswered();
    this.untold = { turn, endedAt: this.secondsAt(turn.toSample, nowSample) };
    // From the end of speech to its final text, which is what this step costs the caller.
    this.firstByte(identityOf(this.stt), turn.endpointMs + turn.transcribeMs);
    this.lastSeq = this.isContinued && this.lastSeq !== null ? this.lastSeq : this.log.reserve();
    this.isContinued = false;
    this.log.transcript(this.lastSeq, {
      speaker: 'customer',
      text: turn.text,
      timestamp: this.secondsAt(turn.fromSample, nowSample),
    });
  }

  /** The caller went on before the answer to this turn was heard. */
  withdrawn(reply: number): void {
    this.isContinued = true;
    this.unanswered = undefined;
    this.untold = undefined;
    this.log.event('turn_withdrawn', { reply });
  }

  /** The caller was understood too poorly to act on it (RT-83). */
  uncertain(turn: UserTurn, action: 'asked_again' | 'accepted'): void {
    this.log.event('low_confidence', {
      confidence: Math.round((turn.confidence ?? 0) * 100) / 100,
      action,
    });
  }

  /** The bot has said goodbye, by this phrase. */
  closing(phrase: string): void {
    this.log.event('closing', { trigger: 'closure_phrase', phrase });
  }

  /** Words said over the bot that did not take the floor (RT-13). */
  overlap(text: string, meaning: string, fromSample: number, nowSample: number): void {
    this.log.event('overlap', { text, meaning });
    this.log.transcript(this.log.reserve(), {
      speaker: 'customer',
      text,
      timestamp: this.secondsAt(fromSample, nowSample),
      overlap: true,
    });
  }

  /** The bot's own words came back from the far end, and nobody said them (RT-18). */
  echo(text: string, line: { delayMs: number | null; lossDb: number | null }): void {
    this.log.event('echo', {
      text,
      ...(line.delayMs === null ? {} : { delay_ms: line.delayMs, loss_db: line.lossDb }),
    });
  }

  /** The model has begun to answer a turn; what it remarked on it stands in the same event. */
  turnTaken(turn: UserTurn, note: string | null): void {
    const endedAt = this.untold?.turn === turn ? this.untold.endedAt : this.log.seconds;
    this.untold = undefined;
    this.log.event('user_turn', {
      text: turn.text,
      ended_at: endedAt,
      decided_by: turn.decidedBy,
      probability: turn.probability,
      ...(turn.ruleReason ? { reason: turn.ruleReason } : {}),
      endpoint_ms: turn.endpointMs,
      transcribe_ms: turn.transcribeMs,
      ...(turn.confidence === null ? {} : { confidence: Math.round(turn.confidence * 100) / 100 }),
      ...(note ? { note } : {}),
    });
  }

  /** The model has no answer to the last turn, or will give none: its event is written all the same. */
  turnUnanswered(): void {
    if (this.untold) this.turnTaken(this.untold.turn, null);
  }

  /** The first frame of a reply has left. */
  replyStarted(reply: Reply): void {
    this.places.set(reply.id, { seq: this.log.reserve(), timestamp: this.log.seconds });
    const last = this.unanswered;
    // A rescue line only bridges the time until the answer, whose times are still to be told.
    if (reply.kind !== 'rescue') this.unanswered = undefined;
    if (reply.kind !== 'answer' || !last) {
      this.log.event('reply_started', { reply: reply.id, kind: reply.kind });
      return;
    }
    const afterTurnMs = Math.round(monotonicMs() - last.endedAtMs);
    this.log.event('reply_started', {
      reply: reply.id,
      kind: reply.kind,
      // What the caller waits: end of speech to the first frame on the wire, and its parts.
      response_ms: last.turn.endpointMs + last.turn.transcribeMs + afterTurnMs,
      endpoint_ms: last.turn.endpointMs,
      transcribe_ms: last.turn.transcribeMs,
      think_and_speak_ms: afterTurnMs,
    });
  }

  /** What the caller heard of a reply has changed. */
  heard(reply: Reply): void {
    const place = this.places.get(reply.id);
    if (!place) return;
    const heard = this.ledger.heardText(reply.id);
    const unheard = this.ledger.unheardText(reply.id);
    const isCut = reply.signal.aborted && unheard !== '';
    this.log.transcript(place.seq, {
      speaker: 'bot',
      text: heard,
      timestamp: place.timestamp,
      heard: this.ledger.evidence(reply.id),
      ...(isCut ? { generated: `${heard} ${unheard}`.trim() } : {}),
    });
  }

  /** A reply is being heard, and this far: should the process die now, the transcript has it (RT-66). */
  speaking(reply: Reply, { text, evidence, unheard }: HeardSoFar): void {
    const place = this.places.get(reply.id);
    if (!place) return;
    this.log.sketch(place.seq, {
      speaker: 'bot',
      text,
      timestamp: place.timestamp,
      heard: evidence,
      ...(unheard === '' ? {} : { generated: `${text} ${unheard}`.trim() }),
    });
  }

  /** The caller spoke over a reply and it was cut. */
  interrupted(reply: Reply, times: { droppedMs: number; onsetMs: number }): void {
    this.log.event('interrupted', {
      reply: reply.id,
      heard: this.ledger.heardText(reply.id),
      unheard: this.ledger.unheardText(reply.id),
      dropped_ms: Math.round(times.droppedMs),
      onset_ms: times.onsetMs,
    });
  }

  /** An answer that was begun on a guess has been used, or was for nothing (RT-51). */
  speculated(told: { status: 'used' | 'discarded'; reason?: string; completionTokens?: number }): void {
    const { status, reason, completionTokens } = told;
    this.log.event('speculation', {
      status,
      ...(reason === undefined ? {} : { reason }),
      ...(completionTokens === undefined ? {} : { completion_tokens: completionTokens }),
    });
  }

  /** The model has finished an answer, or was stopped in it; `isWasted` where nobody was to hear it. */
  answered(record: AnswerRecord, isWasted = false): void {
    const { usage, servedBy } = record;
    const engine = servedBy ? { processor: servedBy.provider, model: servedBy.model } : identityOf(this.llm);
    if (usage.promptTokens !== null || record.firstTokenMs !== null) {
      this.log.metric({
        type: 'llm',
        ...engine,
        ...tokenCounts(usage),
        cache: this.cacheUse(record),
        ...(isWasted ? { discarded: true } : {}),
      });
    }
    if (!isWasted) this.firstByte(engine, record.firstTokenMs);
  }

  /**
   * A clause went to the voice, whether or not it was heard to its end: characters count as they were sent. Not called
   * for speech that was kept from earlier. `servedBy` names the provider where it was not the one that the name tells.
   */
  synthesized(clause: { characters: number; firstAudioMs: number | null; servedBy?: string | null }): void {
    const named = identityOf(this.tts);
    const { servedBy } = clause;
    const engine = servedBy && servedBy !== named.processor ? { processor: servedBy, model: null } : named;
    this.log.metric({ type: 'tts', ...engine, characters: clause.characters });
    this.firstByte(engine, clause.firstAudioMs);
  }

  disconnected(verdict: EndVerdict): void {
    this.turnUnanswered();
    this.log.event('disconnected', {
      by: verdict.by,
      ...(verdict.trigger ? { trigger: verdict.trigger } : {}),
      reason: verdict.reason,
      ...this.log.durations(),
    });
  }

  /** Seconds from call start at which a sample of the line clock was spoken. */
  private secondsAt(sample: number, nowSample: number): number {
    const seconds = this.log.seconds - (nowSample - sample) / LINE_RATE_HZ;
    return Math.max(0, Math.round(seconds * 1000) / 1000);
  }

  /**
   * The `cache` of an `llm` entry (R112): the first live entry that knows tells the state of the cache, a later one
   * only where something became of the entry in that step, such as a loss. An answer that was cut before its vendor
   * spoke of the cache leaves it to the next one; where the provider knows of no cache, the first whole answer says so.
   */
  private cacheUse({ cache: told, isCut }: AnswerRecord): CacheUse | null {
    if (this.cacheVersion === null || (told === null && isCut)) return null;
    const isFirst = !this.hasToldCache;
    this.hasToldCache = true;
    if (!isFirst && !told?.reason) return null;
    return {
      enabled: told?.enabled ?? false,
      status: told?.status ?? 'miss',
      namespace: 'live_prompt',
      version: told?.version ?? this.cacheVersion,
      reason: told ? told.reason : 'not_supported',
    };
  }

  private firstByte(engine: { processor: string; model: string | null }, ms: number | null): void {
    if (ms !== null) this.log.metric({ type: 'ttfb', ...engine, ttfb_ms: Math.round(ms) });
  }
}

function identityOf(engine: Engine): { processor: string; model: string | null } {
  return { processor: engine.name, model: engine.model };
}
