import type { EmulatedSocket } from './kit/emulated-socket.ts';
import { type Emulator, startEmulator } from './kit/emulator.ts';
import { checkFields } from './kit/field-rules.ts';
import { IdleWatch } from './kit/idle-watch.ts';
import type { SpeechTick } from './kit/speech-reader.ts';
import {
  type Ear,
  Ears,
  emulatedId,
  kitOptions,
  type SttEmulator,
  type SttEmulatorOptions,
} from './kit/stt-emulator.ts';
import { fromBase64, sarvamKey } from './sarvam-door.ts';
import { sarvamLegacyRoute } from './sarvam-stt-legacy.ts';
import {
  ignoredKnobs,
  SARVAM_EVENTS,
  type SarvamConfig,
  sarvamConfig,
  sarvamProblems,
  sarvamUpdate,
} from './sarvam-stt-rules.ts';

export interface SarvamSttOptions extends SttEmulatorOptions {
  /** Without audio or ping for so long, the socket closes with 1008. A minute by default, as on the legacy socket. */
  idleMs?: number;
  /** What `language_code=auto` and `unknown` find. */
  foundLanguage?: string;
  quirks?: {
    /** A final whose `vad.speech_end` never came. */
    noSpeechEnd?: boolean;
    duplicateFinals?: boolean;
  };
}

const PARTIAL_EVERY_MS = 250;

/**
 * Sarvam's two speech-to-text sockets (D-35): the realtime one and, at its own path, the
 * legacy one. Without a script they transcribe by energy, or as `speech_start` and `speech_end` say.
 */
export async function startSarvamStt(options: SarvamSttOptions = {}): Promise<SttEmulator> {
  const key = options.key ?? 'sarvam-test-key';
  const ears = new Ears(options);
  const emulator: Emulator = await startEmulator({
    vendor: 'sarvam',
    ...kitOptions(options, key),
    sockets: [
      {
        path: /\/speech-to-text-realtime\/ws$/,
        admit: (request) => sarvamKey(request, emulator.violations),
        session(socket, request) {
          socket.delayAllMs = options.answerDelayMs ?? 0;
          const admitted = sarvamKey(request, emulator.violations);
          if (!('given' in admitted) || admitted.given !== key) {
            emulator.violations.add('sarvam: the key is wrong');
            refuse(socket, 1003, {
              code: 'invalid_api_key',
              message: 'invalid subscription key',
              status_code: 403,
            });
            return;
          }
          const problems = sarvamProblems(request.query);
          if (problems.length > 0) {
            emulator.violations.add(...problems.map((problem) => `sarvam: ${problem}`));
            refuse(socket, 4000, {
              code: 'invalid_parameter',
              message: problems.join('; '),
              status_code: 400,
            });
            return;
          }
          emulator.count('ignored_parameters', ignoredKnobs(request.query).length);
          const config = sarvamConfig(request.query);
          const ear = ears.open(socket, {
            sampleRate: config.sample_rate,
            encoding: config.encoding,
            clock: emulator.clock,
          });
          new RealtimeSession({ socket, ear, config, emulator, options });
        },
      },
      sarvamLegacyRoute({ key, ears, options, emulator: () => emulator }),
    ],
  });
  return Object.assign(emulator, { key, audio: (index: number) => ears.truth(index) });
}

/** A fatal `error` and then the close, whose reason is cut at 123 bytes. */
function refuse(
  socket: EmulatedSocket,
  closeCode: number,
  error: { code: string; message: string; status_code: number },
): void {
  socket.send({ event: 'error', is_fatal: true, ...error });
  socket.close(closeCode, error.message.slice(0, 123));
}

interface SessionParts {
  socket: EmulatedSocket;
  ear: Ear;
  config: SarvamConfig;
  emulator: Emulator;
  options: SarvamSttOptions;
}

class RealtimeSession {
  private readonly parts: SessionParts;
  private readonly requestId = emulatedId();
  private readonly idle: IdleWatch;
  private readonly startMs: number;
  private config: SarvamConfig;
  /** Waits for the end of the open utterance. */
  private deferred: Partial<SarvamConfig> = {};
  private utterance = 0;
  private announced = false;
  private ended = false;
  private lastPartialMs = 0;

  constructor(parts: SessionParts) {
    this.parts = parts;
    this.config = parts.config;
    const { socket, emulator, options } = parts;
    this.startMs = emulator.clock.nowMs();
    this.idle = new IdleWatch(emulator.clock, options.idleMs ?? 60_000, () => {
      socket.close(1008, 'Inactivity timeout');
    });
    socket.onClose(() => this.idle.stop());
    socket.onBinary(() => {
      this.trespass('a binary frame');
      refuse(socket, 4000, { code: 'invalid_message', message: 'text frames only', status_code: 400 });
    });
    socket.onText((json, text) => this.told(json, text));
    socket.send({ event: 'session.begin', request_id: this.requestId, config: this.config });
  }

  private told(json: unknown, text: string): void {
    const name = typeof json === 'object' && json !== null ? (json as { event?: unknown }).event : undefined;
    const fields =
      typeof name === 'string' && Object.hasOwn(SARVAM_EVENTS, name) ? SARVAM_EVENTS[name] : undefined;
    if (!fields) {
      this.refuseEvent(`the frame ${text.slice(0, 80)}`);
      return;
    }
    this.idle.touch();
    if (name === 'config.update') {
      this.update(json);
      return;
    }
    const problems = checkFields(json, fields, String(name));
    if (problems.length > 0) this.refuseEvent(problems.join('; '));
    else if (this.ended) this.trespass(`${name} after end`);
    else this.act(String(name), json as { audio?: string });
  }

  private act(name: string, message: { audio?: string }): void {
    const { socket, ear } = this.parts;
    const isManual = this.config.turn_detection === 'manual';
    switch (name) {
      case 'audio_input':
        this.heard(message.audio ?? '');
        break;
      case 'ping':
        socket.answer({ event: 'pong' });
        break;
      case 'end':
        this.end();
        break;
      default:
        if (!isManual) this.trespass(`${name} under endpointing=vad`);
        else if (name !== 'speech_start' && ear.reader.open) this.final();
    }
  }

  private heard(audio: string): void {
    const { ear } = this.parts;
    const bytes = fromBase64(audio);
    const samples = bytes && bytes.length > 0 ? ear.audio.add(bytes) : null;
    if (!samples) {
      this.refuseEvent('audio_input.audio is not base64 of whole samples');
      return;
    }
    for (const tick of ear.reader.read(samples)) this.tick(tick);
  }

  private tick(tick: SpeechTick): void {
    const { socket, ear, options } = this.parts;
    if (!tick.open) return;
    const isVad = this.config.turn_detection === 'vad';
    if (tick.started) this.lastPartialMs = tick.atMs;
    if (isVad && !this.announced) {
      this.announced = true;
      socket.answer({ event: 'vad.speech_start', utterance_idx: this.utterance, confidence: 0.9 });
    }
    if (this.config.stream_type !== 'simulated' && tick.atMs - this.lastPartialMs >= PARTIAL_EVERY_MS) {
      this.lastPartialMs = tick.atMs;
      const text = ear.reader
        .words()
        .map(({ word }) => word)
        .join(' ');
      if (text)
        socket.answer({
          event: 'transcript.partial',
          utterance_idx: this.utterance,
          text,
          ...this.language(false),
        });
    }
    if (isVad && tick.silenceMs >= this.config.silence_duration_ms) {
      if (!options.quirks?.noSpeechEnd)
        socket.answer({ event: 'vad.speech_end', utterance_idx: this.utterance });
      this.final();
    }
  }

  private final(): void {
    const { socket, ear, options } = this.parts;
    const utterance = ear.reader.take();
    if (!utterance) return;
    socket.answer({
      event: 'transcript.final',
      utterance_idx: this.utterance,
      text: utterance.text,
      ...this.language(true),
      ...(this.config.return_timestamps
        ? { start_s: utterance.startMs / 1000, end_s: utterance.endMs / 1000 }
        : {}),
    });
    if (options.quirks?.duplicateFinals && !socket.scripted) socket.duplicateLast();
    this.utterance += 1;
    this.announced = false;
    this.config = { ...this.config, ...this.deferred };
    this.deferred = {};
  }

  private update(json: unknown): void {
    const { socket, ear } = this.parts;
    const update = sarvamUpdate(this.config, json);
    if (Array.isArray(update)) {
      this.refuseEvent(update.join('; '));
      return;
    }
    const { threshold, silence_duration_ms, min_speech_duration_ms, ...gated } = update.changes;
    const atOnce = { threshold, silence_duration_ms, min_speech_duration_ms };
    const given = Object.fromEntries(Object.entries(atOnce).filter(([, value]) => value !== undefined));
    this.config = { ...this.config, ...given };
    if (ear.reader.open) this.deferred = { ...this.deferred, ...gated };
    else this.config = { ...this.config, ...gated };
    socket.answer({ event: 'config.updated', applied: update.applied });
  }

  private end(): void {
    const { socket, ear, emulator } = this.parts;
    this.ended = true;
    this.final();
    socket.answer({
      event: 'session.end',
      request_id: this.requestId,
      total_duration_s: (emulator.clock.nowMs() - this.startMs) / 1000,
      total_utterances: this.utterance,
      audio_duration_s: ear.reader.heardMs / 1000,
    });
    if (!socket.scripted) socket.close(1000);
  }

  private language(isFinal: boolean): Record<string, unknown> {
    if (this.config.language_code !== 'auto') return {};
    const language = this.parts.options.foundLanguage ?? 'hi-IN';
    return { language, ...(isFinal ? { language_confidence: 0.93 } : {}) };
  }

  /** The vendor goes on after a message that it does not understand; a strict test does not. */
  private refuseEvent(what: string): void {
    this.trespass(what);
    this.parts.socket.send({
      event: 'error',
      code: 'invalid_config',
      is_fatal: false,
      message: what.slice(0, 200),
    });
  }

  private trespass(what: string): void {
    this.parts.emulator.violations.add(`sarvam: ${what}`);
  }
}
