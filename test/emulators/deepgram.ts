import { deepgramAuth, deepgramBadRequest, keyInQuery } from './deepgram-door.ts';
import { type DeepgramAsked, deepgramAsked, deepgramProblems } from './deepgram-query.ts';
import type { EmulatedSocket } from './kit/emulated-socket.ts';
import { type Emulator, startEmulator } from './kit/emulator.ts';
import { IdleWatch } from './kit/idle-watch.ts';
import type { HeardWord, SpeechTick } from './kit/speech-reader.ts';
import {
  type Ear,
  Ears,
  emulatedId,
  kitOptions,
  type SttEmulator,
  type SttEmulatorOptions,
} from './kit/stt-emulator.ts';

export interface DeepgramOptions extends SttEmulatorOptions {
  /** Whether `Finalize` is answered: always, only where something was buffered, or never. `always` by default. */
  finalize?: 'always' | 'when_buffered' | 'never';
  quirks?: {
    speechStartedTwice?: boolean;
    noSpeechStarted?: boolean;
    /** No `speech_final`: the utterance ends with `UtteranceEnd` alone. */
    noSpeechFinal?: boolean;
    /** An empty final before each real one. */
    emptyFinals?: boolean;
    duplicateFinals?: boolean;
  };
  /** A final piece, without an end of speech, after so many words; 8 by default. */
  finalEveryWords?: number;
}

/** Closes with NET-0001 when neither audio nor KeepAlive came for this long (reference 3.1). */
const IDLE_MS = 10_000;
const INTERIM_EVERY_MS = 200;

/**
 * Deepgram's `/v1/listen` (D-35). Without a script it transcribes: interim results five
 * times a second, finals at the end of speech as asked for.
 */
export async function startDeepgram(options: DeepgramOptions = {}): Promise<SttEmulator> {
  const key = options.key ?? 'deepgram-test-key';
  const ears = new Ears(options);
  const emulator: Emulator = await startEmulator({
    vendor: 'deepgram',
    ...kitOptions(options, key),
    sockets: [
      {
        path: /\/v1\/listen$/,
        admit: (request) =>
          deepgramAuth(request, key, emulator.violations) ??
          deepgramBadRequest(
            [...keyInQuery(request, key), ...deepgramProblems(request.query)],
            emulator.violations,
          ) ?? { headers: { 'dg-request-id': emulatedId() } },
        session(socket, request) {
          const asked = deepgramAsked(request.query);
          const ear = ears.open(socket, { ...asked, clock: emulator.clock });
          socket.delayAllMs = options.answerDelayMs ?? 0;
          new DeepgramSession({ socket, ear, asked, emulator, options });
        },
      },
    ],
  });
  return Object.assign(emulator, { key, audio: (index: number) => ears.truth(index) });
}

interface SessionParts {
  socket: EmulatedSocket;
  ear: Ear;
  asked: DeepgramAsked;
  emulator: Emulator;
  options: DeepgramOptions;
}

class DeepgramSession {
  private readonly parts: SessionParts;
  private readonly requestId = emulatedId();
  private readonly idle: IdleWatch;
  private closing = false;
  private lastInterimMs = 0;
  /** Words of the open utterance that went out as final. */
  private finalWords = 0;
  /** Up to here, finals have covered the audio. */
  private coveredMs = 0;
  private lastWordEndMs: number | null = null;

  constructor(parts: SessionParts) {
    this.parts = parts;
    const { socket, emulator } = parts;
    this.idle = new IdleWatch(emulator.clock, IDLE_MS, () => {
      socket.close(1011, 'NET-0001: did not receive audio data or a text message within the timeout window');
    });
    socket.onClose(() => this.idle.stop());
    socket.onBinary((bytes) => this.heard(bytes));
    socket.onText((json, text) => this.told(json, text));
  }

  private heard(bytes: Buffer): void {
    const { socket, ear } = this.parts;
    this.idle.touch();
    if (this.closing) {
      this.trespass('audio after CloseStream');
      return;
    }
    if (bytes.length === 0) {
      this.trespass('an empty binary frame');
      socket.close(1000);
      return;
    }
    const samples = isControl(bytes) ? null : ear.audio.add(bytes);
    if (!samples) {
      this.trespass(isControl(bytes) ? 'a control message in a binary frame' : 'audio of odd length');
      socket.close(1008, 'DATA-0000: the payload cannot be decoded as audio');
      return;
    }
    for (const tick of ear.reader.read(samples)) this.tick(tick);
  }

  private told(json: unknown, text: string): void {
    this.idle.touch();
    const isBare = typeof json === 'object' && json !== null && Object.keys(json).length === 1;
    switch (isBare ? (json as { type?: unknown }).type : undefined) {
      case 'KeepAlive':
        break;
      case 'Finalize':
        this.finalize();
        break;
      case 'CloseStream':
        this.closeStream();
        break;
      default:
        this.trespass(`the text frame ${text.slice(0, 80)}`);
        this.parts.socket.close(1008, 'DATA-0000: unknown message');
    }
  }

  private tick(tick: SpeechTick): void {
    const { asked, options, ear, socket } = this.parts;
    const quirks = options.quirks ?? {};
    if (tick.started) {
      this.lastWordEndMs = null;
      this.lastInterimMs = tick.atMs;
      const times = quirks.speechStartedTwice ? 2 : quirks.noSpeechStarted || !asked.vadEvents ? 0 : 1;
      for (let time = 0; time < times; time += 1)
        socket.answer({ type: 'SpeechStarted', channel: [0], timestamp: seconds(tick.atMs) });
    }
    if (tick.open) {
      const words = ear.reader.words().slice(this.finalWords);
      if (words.length > (options.finalEveryWords ?? 8)) {
        // The last word may still be growing.
        const ready = words.slice(0, -1);
        this.results(ready, { is_final: true, upto: ready.at(-1)?.endMs ?? tick.atMs });
        this.finalWords += ready.length;
      } else if (asked.interim && tick.atMs - this.lastInterimMs >= INTERIM_EVERY_MS && words.length > 0) {
        this.lastInterimMs = tick.atMs;
        this.results(words, { upto: tick.atMs });
      }
      const limitMs = quirks.noSpeechFinal ? null : asked.endpointingMs;
      if (limitMs !== null && tick.silenceMs >= limitMs) this.endUtterance({ speech_final: true });
      else if (limitMs === null && tick.silenceMs >= (asked.utteranceEndMs ?? 1_000)) this.endUtterance({});
    }
    const end = this.lastWordEndMs;
    if (asked.utteranceEndMs !== null && end !== null && tick.atMs - end >= asked.utteranceEndMs) {
      this.lastWordEndMs = null;
      socket.answer({ type: 'UtteranceEnd', channel: [0, 1], last_word_end: seconds(end) });
    }
  }

  private endUtterance(flags: { speech_final?: boolean; from_finalize?: boolean }): void {
    const { options, ear, socket } = this.parts;
    const utterance = ear.reader.take();
    const words = utterance?.words.slice(this.finalWords) ?? [];
    this.finalWords = 0;
    this.lastWordEndMs = utterance?.endMs ?? null;
    const upto = ear.reader.heardMs;
    if (options.quirks?.emptyFinals) this.results([], { is_final: true, upto: this.coveredMs });
    this.results(words, { is_final: true, upto, ...flags });
    if (options.quirks?.duplicateFinals && !socket.scripted) socket.duplicateLast();
  }

  private finalize(): void {
    const { options, ear } = this.parts;
    const policy = options.finalize ?? 'always';
    if (policy === 'never') return;
    if (!ear.reader.open && policy === 'when_buffered') return;
    this.endUtterance({ from_finalize: true });
  }

  private closeStream(): void {
    const { socket, ear } = this.parts;
    if (this.closing) {
      this.trespass('a second CloseStream');
      return;
    }
    this.closing = true;
    this.endUtterance({ speech_final: ear.reader.open });
    socket.answer({
      type: 'Metadata',
      transaction_key: 'deprecated',
      request_id: this.requestId,
      sha256: '0'.repeat(64),
      created: new Date().toISOString(),
      duration: seconds(ear.reader.heardMs),
      channels: 1,
    });
    if (!socket.scripted) socket.close(1000);
  }

  private results(
    words: readonly HeardWord[],
    flags: { is_final?: boolean; speech_final?: boolean; from_finalize?: boolean; upto: number },
  ): void {
    const start = this.coveredMs;
    this.parts.socket.answer({
      type: 'Results',
      channel_index: [0, 1],
      start: seconds(start),
      duration: seconds(flags.upto - start),
      is_final: flags.is_final ?? false,
      speech_final: flags.speech_final ?? false,
      from_finalize: flags.from_finalize ?? false,
      channel: {
        alternatives: [
          {
            transcript: words.map(({ word }) => word).join(' '),
            confidence: words.length > 0 ? 0.98 : 0,
            words: words.map(({ word, startMs, endMs }) => ({
              word,
              start: seconds(startMs),
              end: seconds(endMs),
              confidence: 0.98,
              punctuated_word: word,
            })),
          },
        ],
      },
      metadata: {
        request_id: this.requestId,
        model_uuid: '00000000-0000-4000-8000-0000000000aa',
        model_info: { name: this.parts.asked.model, version: '2026-01-01.0', arch: 'nova-3' },
      },
    });
    if (flags.is_final) this.coveredMs = flags.upto;
  }

  private trespass(what: string): void {
    this.parts.emulator.violations.add(`deepgram: ${what}`);
  }
}

function isControl(bytes: Buffer): boolean {
  return bytes[0] === 0x7b && /^\{\s*"type"/.test(bytes.toString('latin1', 0, 40));
}

function seconds(ms: number): number {
  return ms / 1000;
}
