import { deepgramAuth, deepgramBadRequest, keyInQuery } from './deepgram-door.ts';
import { configured, type FluxSettings, fluxProblems, fluxSettings } from './deepgram-flux-query.ts';
import type { EmulatedSocket } from './kit/emulated-socket.ts';
import { type Emulator, startEmulator } from './kit/emulator.ts';
import type { SpeechTick } from './kit/speech-reader.ts';
import {
  type Ear,
  Ears,
  emulatedId,
  kitOptions,
  type SttEmulator,
  type SttEmulatorOptions,
} from './kit/stt-emulator.ts';

export interface FluxOptions extends SttEmulatorOptions {
  /** `Connected` comes so much after the upgrade; audio before it is refused. 300 ms by default (reference 8.3). */
  connectedAfterMs?: number;
  configureAckMs?: number;
  configure?: 'accept' | 'refuse';
  quirks?: {
    /** `StartOfTurn` without its first words. */
    emptyStart?: boolean;
    /** Instead of `model`: the vendor may add triggers. */
    trigger?: string;
    /** The end says more than the eager end before it did. */
    endSaysMore?: string;
    /** The first and every such following `EndOfTurn` comes twice. */
    duplicateEnds?: boolean;
    /** No turn is ever ended, not even when it is asked for. */
    neverEnds?: boolean;
  };
}

export interface FluxEmulator extends SttEmulator {
  /** Longest time without a frame while a turn was open, on the emulator's clock. */
  longestOpenTurnGapMs(): number;
}

const UPDATE_EVERY_MS = 250;
/** Frames of 80 ms are strongly advised. */
const FRAME_MS = 80;
/** Confidence in the end of a turn after so much silence is 1 - 1/e; 0.7 is reached after 480 ms. */
const CONFIDENCE_MS = 400;

/**
 * Deepgram Flux, `/v2/listen` (D-35). Without a script it detects turns: its confidence in
 * the end grows with the silence, and crosses the thresholds that were asked for.
 */
export async function startFlux(options: FluxOptions = {}): Promise<FluxEmulator> {
  const key = options.key ?? 'deepgram-test-key';
  const ears = new Ears(options);
  const gaps = { longestMs: 0 };
  const emulator: Emulator = await startEmulator({
    vendor: 'deepgram_flux',
    ...kitOptions(options, key),
    sockets: [
      {
        path: /\/v[12]\/listen$/,
        admit: (request) =>
          deepgramAuth(request, key, emulator.violations) ??
          deepgramBadRequest(
            request.path.endsWith('/v1/listen')
              ? ['flux models are served at /v2/listen']
              : [...keyInQuery(request, key), ...fluxProblems(request.query)],
            emulator.violations,
          ) ?? { headers: { 'dg-request-id': emulatedId() } },
        session(socket, request) {
          const settings = fluxSettings(request.query);
          const ear = ears.open(socket, { ...settings, clock: emulator.clock });
          socket.delayAllMs = options.answerDelayMs ?? 0;
          new FluxSession({ socket, ear, settings, emulator, options, gaps });
        },
      },
    ],
  });
  return Object.assign(emulator, {
    key,
    audio: (index: number) => ears.truth(index),
    longestOpenTurnGapMs: () => gaps.longestMs,
  });
}

interface SessionParts {
  socket: EmulatedSocket;
  ear: Ear;
  settings: FluxSettings;
  emulator: Emulator;
  options: FluxOptions;
  gaps: { longestMs: number };
}

class FluxSession {
  private readonly parts: SessionParts;
  private readonly requestId = emulatedId();
  private settings: FluxSettings;
  private sequence = 0;
  private connected = false;
  private configuresInFlight = 0;
  private turn = 0;
  private eagerText: string | null = null;
  private lastUpdateMs = 0;
  private windowStartMs = 0;
  private lastFrameMs: number | null = null;
  private oddFrames = 0;

  constructor(parts: SessionParts) {
    this.parts = parts;
    this.settings = parts.settings;
    const { socket, emulator, options } = parts;
    socket.onBinary((bytes) => this.heard(bytes));
    socket.onText((json, text) => this.told(json, text));
    socket.onSent((json) => {
      const type = (json as { type?: string } | undefined)?.type;
      if (type === 'Connected') this.connected = true;
      if (type === 'ConfigureSuccess' || type === 'ConfigureFailure') this.configuresInFlight -= 1;
    });
    // A script begins after it, with sequence_id 1.
    emulator.clock.after(options.connectedAfterMs ?? 300, () => {
      if (socket.isOpen) socket.send(this.stamped({ type: 'Connected', request_id: this.requestId }));
    });
  }

  private heard(bytes: Buffer): void {
    const { ear, emulator, gaps } = this.parts;
    if (!this.connected) {
      this.trespass('audio before Connected');
      this.fail('UNEXPECTED_CLIENT_MESSAGE', 'audio came before the session was ready', 1008);
      return;
    }
    const samples = bytes.length === 0 ? null : ear.audio.add(bytes);
    if (!samples) {
      this.trespass(bytes.length === 0 ? 'an empty binary frame' : 'audio of odd length');
      this.fail('DATA-0000', 'the payload cannot be decoded as audio', 1008);
      return;
    }
    const frameMs = (samples.length * 1000) / this.settings.sampleRate;
    // The rest of a stream may be short; two odd frames are a habit.
    if (frameMs !== FRAME_MS) {
      this.oddFrames += 1;
      if (this.oddFrames === 2) this.trespass(`frames of ${frameMs} ms instead of ${FRAME_MS} ms`);
    }
    const nowMs = emulator.clock.nowMs();
    if (ear.reader.open && this.lastFrameMs !== null)
      gaps.longestMs = Math.max(gaps.longestMs, nowMs - this.lastFrameMs);
    this.lastFrameMs = nowMs;
    for (const tick of ear.reader.read(samples)) this.tick(tick);
  }

  private told(json: unknown, text: string): void {
    const type = typeof json === 'object' && json !== null ? (json as { type?: unknown }).type : undefined;
    const isBare = type !== undefined && Object.keys(json as object).length === 1;
    if (type === 'Configure') {
      this.configure(json);
    } else if (type === 'ForceEndTurn' && isBare) {
      if (this.parts.ear.reader.open) this.endTurn('manual', 1);
    } else if (type === 'CloseStream' && isBare) {
      if (!this.parts.socket.scripted) this.parts.socket.close(1000);
    } else {
      this.trespass(`the text frame ${text.slice(0, 80)}`);
      this.fail('UNPARSABLE_CLIENT_MESSAGE', 'the message cannot be understood', 1008);
    }
  }

  private configure(json: unknown): void {
    const { emulator, options } = this.parts;
    this.configuresInFlight += 1;
    if (this.configuresInFlight > 1) this.trespass('a second Configure before the answer to the first');
    const next = configured(this.settings, json);
    if (Array.isArray(next)) this.trespass(...next);
    const accepted = !Array.isArray(next) && options.configure !== 'refuse';
    if (accepted) this.settings = next;
    const { eotThreshold, eagerThreshold, eotTimeoutMs, keyterms, languageHints } = this.settings;
    const answer = accepted
      ? {
          type: 'ConfigureSuccess',
          request_id: this.requestId,
          thresholds: {
            eot_threshold: eotThreshold,
            ...(eagerThreshold === null ? {} : { eager_eot_threshold: eagerThreshold }),
            eot_timeout_ms: eotTimeoutMs,
          },
          keyterms,
          ...(languageHints.length > 0 ? { language_hints: languageHints } : {}),
        }
      : {
          type: 'ConfigureFailure',
          request_id: this.requestId,
          code: 'INVALID_CONFIGURATION',
          description: 'the configuration is refused',
        };
    emulator.clock.after(options.configureAckMs ?? 100, () => this.answer(answer));
  }

  private tick(tick: SpeechTick): void {
    const quirks = this.parts.options.quirks ?? {};
    if (tick.started) {
      this.windowStartMs = Math.max(0, tick.atMs - 30);
      this.turnInfo('StartOfTurn', { confidence: 0.1, transcript: quirks.emptyStart ? '' : this.text() });
      this.lastUpdateMs = tick.atMs;
      return;
    }
    if (tick.open) {
      const confidence = 1 - Math.exp(-tick.silenceMs / CONFIDENCE_MS);
      if (this.eagerText !== null && tick.silenceMs === 0) {
        this.eagerText = null;
        this.turnInfo('TurnResumed', { confidence: 0.1 });
      }
      if (confidence >= this.settings.eotThreshold) {
        this.endTurn(quirks.trigger ?? 'model', confidence);
        return;
      }
      if (tick.silenceMs >= this.settings.eotTimeoutMs) {
        this.endTurn('timeout', confidence);
        return;
      }
      const eager = this.settings.eagerThreshold;
      if (eager !== null && this.eagerText === null && confidence >= eager) {
        this.eagerText = this.text();
        this.turnInfo('EagerEndOfTurn', { confidence });
      }
    }
    if (tick.atMs - this.lastUpdateMs >= UPDATE_EVERY_MS) {
      this.lastUpdateMs = tick.atMs;
      this.turnInfo('Update', { confidence: tick.open ? 0.2 : 0 });
    }
  }

  private endTurn(trigger: string, confidence: number): void {
    const { ear, options, socket } = this.parts;
    if (options.quirks?.neverEnds) return;
    const eager = this.eagerText;
    const utterance = ear.reader.take();
    const more = options.quirks?.endSaysMore;
    const spoken = utterance?.text ?? '';
    const transcript = more === undefined ? (eager ?? spoken) : `${spoken} ${more}`.trim();
    this.eagerText = null;
    this.turnInfo('EndOfTurn', { confidence, transcript, trigger });
    if (options.quirks?.duplicateEnds && !socket.scripted) socket.duplicateLast();
    this.turn += 1;
    this.windowStartMs = ear.reader.heardMs;
    this.lastUpdateMs = ear.reader.heardMs;
  }

  private turnInfo(
    event: string,
    about: { confidence: number; transcript?: string; trigger?: string },
  ): void {
    const { ear } = this.parts;
    const transcript = about.transcript ?? this.text();
    this.answer({
      type: 'TurnInfo',
      request_id: this.requestId,
      event,
      turn_index: this.turn,
      audio_window_start: this.windowStartMs / 1000,
      audio_window_end: ear.reader.heardMs / 1000,
      transcript,
      words: transcript
        .split(' ')
        .filter(Boolean)
        .map((word) => ({ word, confidence: 0.97 })),
      end_of_turn_confidence: Number(about.confidence.toFixed(3)),
      ...(about.trigger === undefined ? {} : { trigger: about.trigger }),
      ...(this.settings.languageHints.length > 0 ? { languages_hinted: this.settings.languageHints } : {}),
    });
  }

  /** The turn so far. */
  private text(): string {
    return this.parts.ear.reader
      .words()
      .map(({ word }) => word)
      .join(' ');
  }

  private fail(code: string, description: string, closeCode: number): void {
    const { socket } = this.parts;
    socket.send(this.stamped({ type: 'Error', code, description }));
    socket.close(closeCode, code);
  }

  private answer(message: Record<string, unknown>): void {
    const { socket } = this.parts;
    if (!socket.scripted && socket.isOpen) socket.send(this.stamped(message));
  }

  private stamped(message: Record<string, unknown>): Record<string, unknown> {
    const sequence = this.sequence;
    this.sequence += 1;
    return { ...message, sequence_id: sequence };
  }

  private trespass(...whats: string[]): void {
    this.parts.emulator.violations.add(...whats.map((what) => `deepgram_flux: ${what}`));
  }
}
