/** Between two looks. */
export const LOOK_MS = 500;
/** Looks without a frame of a track that was asked for, until it is asked for anew (1 s). */
export const ASK_ANEW_LOOKS = 2;
/**
 * The same until we join anew (3 s), and doubled after each fresh join: on a machine where everything is slow, joining
 * again and again makes it slower, and patience alone brings the sound.
 */
export const JOIN_ANEW_LOOKS = 6;
/** Of somebody whose track we were never told of, the media server must say so often in a row that there is one. */
const UNTOLD_ANSWERS = 2;
/** Fresh joins for one person that bring no audio of theirs; 12 s after the last one we give them up. */
export const MAX_FRESH_JOINS = 2;

/** Somebody who is listened to. */
export interface WantedVoice {
  readonly identity: string;
  /** Frames that were heard so far. */
  readonly frames: number;
  /** Of the track that was asked for; undefined while we know of none. */
  readonly trackSid: string | undefined;
  /** Gives the track back and asks for it once more. False where there is none to ask for. */
  askAnew(): boolean;
}

export interface HearingHooks {
  voices(): Iterable<WantedVoice>;
  /** Whether the media server has a microphone of this person that is on; null where it does not answer. */
  hasMicrophone(identity: string): Promise<boolean | null>;
  onAskedAnew(identity: string): void;
  /** A connection of its own in place of the one that carries nothing. Never rejects. */
  joinAnew(reason: string): Promise<void>;
  /** They are in the room and speak, and every means has failed. */
  onGivenUp(identity: string): void;
}

interface Silence {
  frames: number;
  trackSid: string | undefined;
  looks: number;
  /** Answers in a row that there is a microphone. */
  answers: number;
  freshJoins: number;
  isGivenUp: boolean;
}

/**
 * Sees to it that whoever is listened to is heard. Frames of a track come without a gap, silence included, so that none
 * at all mean that the connection is deaf: now and then, on a busy machine, the SDK joins a room and is sent nothing, or
 * is never told of a track. That the connection says of itself that it stands is no proof.
 *
 * Looks are counted and not time: a process that could not run for seconds takes its frames before the next look.
 */
export class HearingWatch {
  private readonly hooks: HearingHooks;
  private readonly silences = new WeakMap<WantedVoice, Silence>();
  private isHealing = false;
  /** Looks before this one are of another connection. */
  private round = 0;

  constructor(hooks: HearingHooks) {
    this.hooks = hooks;
  }

  /** Every LOOK_MS while the connection stands. Resolves when what it led to is done; never rejects. */
  async look(): Promise<void> {
    if (this.isHealing) return;
    for (const voice of this.hooks.voices()) {
      const silence = this.silenceOf(voice);
      if (silence.isGivenUp || silence.looks === 0) continue;
      if (silence.looks === ASK_ANEW_LOOKS && voice.askAnew()) this.hooks.onAskedAnew(voice.identity);
      if (silence.looks % (JOIN_ANEW_LOOKS << silence.freshJoins) === 0) {
        await this.heal(voice, silence);
        return;
      }
    }
  }

  /** The connection was made anew: what was missed before says nothing about it. */
  beginAnew(): void {
    this.round++;
    for (const voice of this.hooks.voices()) {
      const silence = this.silences.get(voice);
      if (silence) Object.assign(silence, { looks: 0, answers: 0, frames: voice.frames });
    }
  }

  private silenceOf(voice: WantedVoice): Silence {
    const { frames, trackSid } = voice;
    const known = this.silences.get(voice);
    if (known && known.frames === frames && known.trackSid === trackSid) {
      known.looks++;
      return known;
    }
    const freshJoins = known && known.frames === frames ? known.freshJoins : 0;
    const fresh = { frames, trackSid, looks: 0, answers: 0, freshJoins, isGivenUp: false };
    this.silences.set(voice, fresh);
    return fresh;
  }

  private async heal(voice: WantedVoice, silence: Silence): Promise<void> {
    this.isHealing = true;
    const { round } = this;
    try {
      const isThere = await this.hooks.hasMicrophone(voice.identity);
      // Meanwhile they may have been heard after all, or the connection may have been made anew.
      if (round !== this.round || voice.frames > silence.frames) return;
      silence.answers = isThere ? silence.answers + 1 : 0;
      if (silence.answers < (voice.trackSid === undefined ? UNTOLD_ANSWERS : 1)) return;
      if (silence.freshJoins >= MAX_FRESH_JOINS) {
        silence.isGivenUp = true;
        this.hooks.onGivenUp(voice.identity);
        return;
      }
      silence.freshJoins++;
      await this.hooks.joinAnew('somebody in the room was not heard');
    } finally {
      this.isHealing = false;
    }
  }
}
