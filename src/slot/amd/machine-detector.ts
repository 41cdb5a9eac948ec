import { LINE_RATE_HZ } from '../../contracts/limits.ts';
import type { ProgressKind } from './call-progress.ts';
import { GREETING_TIMES, GreetingTimer, type GreetingTimes } from './greeting-timer.ts';
import { ToneDetector, type ToneEvent } from './tone-detector.ts';
import { type OwnPhrases, type PhraseKind, phraseFinder } from './voicemail-phrases.ts';

/** Who or what has answered. `screening` is an assistant that asks who calls; `tone` is the network's own sound. */
export type AnswerKind = 'human' | 'voicemail' | 'screening' | 'silence' | 'tone';

export interface AmdEvidence {
  layer: 'tone' | 'timing' | 'phrase' | 'llm' | 'digit';
  /** A word or two that says what was found; never the caller's own text. */
  what: string;
  atSample: number;
}

export interface AmdVerdict {
  kind: AnswerKind;
  evidence: readonly AmdEvidence[];
  atSample: number;
  /** Nothing spoke against a person, and waiting longer would have spoiled the call if there is one. */
  isProvisional: boolean;
  /** It takes back the verdict `human`: a bot that talks is to stop. */
  isRetraction: boolean;
  /** A message can be left: there is a mailbox, not an announcement. */
  takesMessage: boolean;
  /** End of the beep that was part of it; the message may follow (RT-28). */
  beepEndSample: number | null;
}

export interface AmdRules {
  language: string | undefined;
  ownPhrases?: OwnPhrases;
  times?: Partial<GreetingTimes>;
  /** Sample of the line clock at which the call was answered. */
  answeredAtSample?: number;
  rateHz?: 8_000 | 16_000;
}

/** A special information tone begins like a beep; the next of its three comes within this. */
const TONE_SETTLE_MS = 120;
/** A beep that nobody has spoken before: a mailbox without a greeting stays silent, a person speaks. */
const BARE_BEEP_SILENCE_MS = 2_000;
/** Below this it may be the first burst of ring back, whose pause lasts up to 5 s (ITU-T E.180). */
const RINGING_HZ = 520;
const RINGING_PAUSE_MS = 5_500;
/** Two ways of saying that somebody is away make a mailbox only in a greeting of this length without a pause. */
const LONG_ABSENCE_MS = 5_000;
/** An announcement is over after such a pause, or counts as it is after this long. */
const ANNOUNCEMENT_PAUSE_MS = 800;
const ANNOUNCEMENT_MS = 8_000;
/** Engines give the last words of an utterance within this of its end. */
const LATE_TEXT_MS = 1_500;
/** More of them would say nothing new; later ones are left out. */
const MAX_EVIDENCE = 20;

/**
 * Judges who has answered, in layers: tones, the length of the greeting, phrases, and the language model (RT-27). One
 * detector for the screening of campaign calls and for the bot's own detection (D-39). It runs beside the
 * greeting of the bot and never delays it: a person is recognised within 2.5 s, and in doubt it is a person; a later
 * verdict may take that back.
 *
 * No single hint ends a call with a person: once a short greeting and a pause have shown one, phrases that people use
 * too need a second sign. Everything is driven by samples of the line clock; each method returns a verdict when it is
 * new, and null otherwise.
 */
export class MachineDetector {
  verdict: AmdVerdict | null = null;
  private readonly times: GreetingTimes;
  private readonly tones: ToneDetector;
  private readonly find: ReturnType<typeof phraseFinder>;
  private readonly perMs: number;
  private readonly evidence: AmdEvidence[] = [];
  private readonly phrases = new Map<string, PhraseKind>();
  /** Phrases that belong to a screening that is over. */
  private readonly spent = new Set<string>();
  private greeting: GreetingTimer;
  private answeredAtSample: number;
  private now: number;
  private beep: { hz: number; endSample: number } | null = null;
  private network: ProgressKind | null = null;
  private model: 'human' | 'voicemail' | 'screening' | null = null;
  private hasPressedKey = false;
  private wasScreened = false;
  /** When the network's words were first heard; -1 while they were not. */
  private announcedAtSample = -1;

  constructor(rules: AmdRules) {
    this.times = { ...GREETING_TIMES, ...rules.times };
    this.perMs = (rules.rateHz ?? LINE_RATE_HZ) / 1_000;
    this.tones = new ToneDetector(rules.rateHz);
    this.find = phraseFinder(rules.language, rules.ownPhrases);
    this.greeting = new GreetingTimer(this.times, this.perMs);
    this.answeredAtSample = rules.answeredAtSample ?? 0;
    this.now = this.answeredAtSample;
  }

  /** Nothing that comes now changes the verdict: feeding may stop. */
  get isSettled(): boolean {
    if (this.verdict?.kind === 'voicemail' || this.verdict?.kind === 'tone') return true;
    return this.verdict !== null && this.now - this.answeredAtSample > this.times.totalMs * this.perMs;
  }

  /**
   * Audio of the far end from `fromSample` of the line clock on. The next `tick` gives the verdict on it; once one
   * stands, the tones tell of the beep that a message waits for.
   */
  hearTones(samples: Int16Array, fromSample: number): readonly ToneEvent[] {
    const events = this.tones.feed(samples, fromSample);
    for (const event of events) this.onTone(event);
    return events;
  }

  /** What the far end has been doing, for whoever leaves a message. */
  get farEnd(): { isSpeaking: boolean; lastSpeechSample: number } {
    return { isSpeaking: this.greeting.isSpeaking, lastSpeechSample: this.greeting.lastSpeechSample };
  }

  /** Voice activity began at `atSample`. A tone may count as voice for a moment, which does no harm. */
  speechStart(atSample: number): AmdVerdict | null {
    this.greeting.speechStart(atSample);
    return this.tick(atSample);
  }

  /** The last speech was at `atSample`. */
  speechStop(atSample: number): AmdVerdict | null {
    this.greeting.speechStop(atSample);
    return this.tick(atSample);
  }

  /** The transcript of what is being said, so far or in the end; each call brings the whole of its utterance. */
  text(text: string, atSample: number): AmdVerdict | null {
    if (this.isSettled) return null;
    for (const { kind, phrase } of this.find(text)) {
      if (this.spent.has(phrase) || this.phrases.has(phrase)) continue;
      this.phrases.set(phrase, kind);
      if (kind === 'announcement' && this.announcedAtSample < 0) this.announcedAtSample = atSample;
      this.note('phrase', kind, atSample);
    }
    return this.tick(atSample);
  }

  /** The language model has called `detected_voicemail`, or was asked. It counts whenever it comes. */
  llmVerdict(kind: 'human' | 'voicemail' | 'screening', atSample: number): AmdVerdict | null {
    if (this.verdict?.kind === 'voicemail' || this.verdict?.kind === 'tone') return null;
    this.model = kind;
    this.note('llm', kind, atSample);
    this.now = Math.max(this.now, atSample);
    return this.decide();
  }

  /** A key was pressed: that is a person. */
  digit(atSample: number): AmdVerdict | null {
    this.hasPressedKey = true;
    this.note('digit', 'pressed', atSample);
    return this.tick(atSample);
  }

  /** Time has passed; call it at least every 100 ms, with audio or without. */
  tick(nowSample: number): AmdVerdict | null {
    this.now = Math.max(this.now, nowSample);
    if (this.isSettled) return null;
    const looked = this.greeting.looks;
    this.greeting.tick(this.now);
    if (this.greeting.looks !== looked) this.note('timing', `greeting_${this.greeting.looks}`, this.now);
    return this.decide();
  }

  private onTone(event: ToneEvent): void {
    if (event.type === 'tone_end' && event.isBeep) {
      this.beep = { hz: event.hz, endSample: event.toSample };
      this.note('tone', `beep_${Math.round(event.hz)}_hz`, event.toSample);
    } else if (event.type === 'progress') {
      this.note('tone', event.kind, event.atSample);
      if (event.kind !== 'ringback') this.network = event.kind;
      else {
        // It still rings: nobody has answered yet, whatever the carrier said.
        this.answeredAtSample = event.atSample;
        this.beep = null;
      }
    }
  }

  private decide(): AmdVerdict | null {
    if (this.network) return this.give('tone', { takesMessage: false });
    if (this.hasScreening()) return this.giveScreening();
    const machine = this.machineSign();
    if (machine) return this.give('voicemail', { takesMessage: machine === 'mailbox' });
    return this.verdict === null || this.verdict.kind !== 'human'
      ? this.personOrNobody()
      : this.confirmPerson();
  }

  private hasScreening(): boolean {
    return !this.wasScreened && (this.model === 'screening' || this.count('screening') > 0);
  }

  private giveScreening(): AmdVerdict | null {
    const verdict = this.give('screening', {});
    // What comes next is judged afresh: the person, or the mailbox that the assistant passes the call to.
    this.wasScreened = true;
    if (this.model === 'screening') this.model = null;
    for (const phrase of this.phrases.keys()) this.spent.add(phrase);
    this.phrases.clear();
    this.announcedAtSample = -1;
    this.greeting = new GreetingTimer(this.times, this.perMs);
    this.answeredAtSample = this.now;
    this.beep = null;
    return verdict;
  }

  /** Whether a machine has shown itself, and which. */
  private machineSign(): 'mailbox' | 'announcement' | null {
    if (this.model === 'voicemail') return this.announcedAtSample >= 0 ? 'announcement' : 'mailbox';
    if (this.count('mailbox') > 0) return 'mailbox';
    const isLong = this.greeting.longestSpeechMs > this.times.humanSpeechMs;
    const hasBeep = this.beep !== null && this.now - this.beep.endSample >= TONE_SETTLE_MS * this.perMs;
    const absences = this.count('absence');
    if (this.hasShownPerson()) {
      // People talk at length, their kitchens beep, and they speak of messages: only several signs make a machine.
      if (this.count('invitation') > 0 && (hasBeep || (isLong && absences > 0))) return 'mailbox';
      if (this.count('announcement') > 1 && isLong && this.isAnnouncementOver()) return 'announcement';
      return hasBeep && isLong && absences > 0 ? 'mailbox' : null;
    }
    if (this.count('invitation') > 0) return 'mailbox';
    if (this.isAnnouncementOver()) return 'announcement';
    if (hasBeep && (isLong || absences > 0)) return 'mailbox';
    if (hasBeep && this.isBareBeep()) return 'mailbox';
    if (absences > 1 && this.greeting.longestSpeechMs >= LONG_ABSENCE_MS) return 'mailbox';
    return null;
  }

  /** A beep, nothing before it, and nothing after it for a while. */
  private isBareBeep(): boolean {
    if (!this.beep || this.hasPressedKey) return false;
    const { firstSpeechSample, isSpeaking, lastSpeechSample } = this.greeting;
    // Voice activity may take the beep itself for a moment of voice.
    const spokeBefore =
      firstSpeechSample >= 0 && firstSpeechSample < this.beep.endSample - BEEP_AS_VOICE_MS * this.perMs;
    const spokeAfter = isSpeaking || lastSpeechSample > this.beep.endSample + BEEP_AS_VOICE_MS * this.perMs;
    if (spokeBefore || spokeAfter) return false;
    const silenceMs = this.beep.hz < RINGING_HZ ? RINGING_PAUSE_MS : BARE_BEEP_SILENCE_MS;
    return this.now - this.beep.endSample >= silenceMs * this.perMs;
  }

  /** Mailboxes and assistants begin as the network does ("the person you are calling"), and then say what they are. */
  private isAnnouncementOver(): boolean {
    if (this.announcedAtSample < 0) return false;
    if (this.greeting.silenceMs(this.now) >= ANNOUNCEMENT_PAUSE_MS) return true;
    return this.now - this.announcedAtSample >= ANNOUNCEMENT_MS * this.perMs;
  }

  private hasShownPerson(): boolean {
    if (this.hasPressedKey || this.model === 'human') return true;
    if (this.verdict?.kind !== 'human' || this.verdict.isProvisional) return false;
    // The words of the greeting itself may come after the pause that followed it.
    const isFresh = this.now - this.verdict.atSample < LATE_TEXT_MS * this.perMs;
    return !isFresh || this.greeting.isSpeaking;
  }

  /** Short, then silence, and none of what machines say. */
  private soundsLikePerson(): boolean {
    if (this.hasPressedKey || this.model === 'human') return true;
    return this.greeting.looks === 'short' && this.announcedAtSample < 0 && this.count('invitation') === 0;
  }

  private personOrNobody(): AmdVerdict | null {
    if (this.soundsLikePerson()) return this.give('human', {});
    const sinceMs = (this.now - this.answeredAtSample) / this.perMs;
    if (this.greeting.firstSpeechSample < 0) {
      return sinceMs >= this.times.noSpeechMs && this.verdict?.kind !== 'silence'
        ? this.give('silence', {})
        : null;
    }
    // Waiting on would keep a person waiting; a machine goes on talking, and its verdict takes this one back.
    const spokenMs = (this.now - this.greeting.firstSpeechSample) / this.perMs;
    if (spokenMs < this.times.decideMs || this.verdict?.kind === 'screening') return null;
    return this.give('human', { isProvisional: true });
  }

  /** A person in doubt becomes one who is certain. */
  private confirmPerson(): AmdVerdict | null {
    if (!this.verdict?.isProvisional) return null;
    if (this.soundsLikePerson()) this.verdict = { ...this.verdict, isProvisional: false };
    return null;
  }

  private give(kind: AnswerKind, more: Partial<AmdVerdict>): AmdVerdict {
    this.verdict = {
      kind,
      evidence: [...this.evidence],
      atSample: this.now,
      isProvisional: false,
      isRetraction: kind !== 'human' && this.verdict?.kind === 'human',
      takesMessage: false,
      beepEndSample: this.beep?.endSample ?? null,
      ...more,
    };
    return this.verdict;
  }

  private count(kind: PhraseKind): number {
    let count = 0;
    for (const found of this.phrases.values()) if (found === kind) count++;
    return count;
  }

  private note(layer: AmdEvidence['layer'], what: string, atSample: number): void {
    if (this.evidence.length < MAX_EVIDENCE) this.evidence.push({ layer, what, atSample });
  }
}

/** Voice activity calls a tone voice for about this long at its edges. */
const BEEP_AS_VOICE_MS = 300;
