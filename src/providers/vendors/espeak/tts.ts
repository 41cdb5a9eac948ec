import type { ProviderConfig } from '../../../contracts/runtime-config.ts';
import { AppError, describeError } from '../../../platform/app-error.ts';
import { within } from '../../../platform/clock.ts';
import { findEngine } from '../../../platform/engine-programs.ts';
import { untilAborted } from '../../connect/abortable-wait.ts';
import { type ChildEngine, startEngine } from '../../connect/child-engine.ts';
import { ProviderSettings } from '../../contract/provider-settings.ts';
import type { TextToSpeech } from '../../contract/text-to-speech.ts';
import { WavStream } from './wav-stream.ts';

/** Rate of the built-in voices of espeak-ng. */
const SAMPLE_RATE = 22_050;
/** A clause is some ten words; text beyond this is not spoken. */
const MAX_TEXT_LENGTH = 2_000;
/** Programs of one call at the same time: the clause that is heard and the one that comes next. */
const MAX_AT_ONCE = 2;
/** Clauses that may wait for a free program; one more is refused with `provider_failed`. */
const MAX_WAITING = 16;
/** Without audio for so long the program counts as hung; it makes some 100 s of speech per second. */
const SILENT_TIMEOUT_MS = 5_000;

/**
 * Text to speech by the program espeak-ng: one short-lived child per clause, text through its standard input.
 *
 * Settings: `voice` (a name of `espeak-ng --voices`, else `language`, else `en`), `speed` (words per minute, 80 to
 * 450, 165), `pitch` (0 to 99, 50), `volume` (0 to 200, 100), `end_pause` (true: the pause of about 0.3 s that belongs
 * behind a sentence). Throws `bad_provider_config`, and `engine_missing` with the package to install.
 */
export async function createEspeak(config: ProviderConfig): Promise<TextToSpeech> {
  const args = readArguments(config);
  if (!findEngine('espeak-ng')) startEspeak(args);
  const running = new Set<ChildEngine>();
  const slots = new Turnstile(MAX_AT_ONCE, MAX_WAITING);
  const closing = new AbortController();

  return {
    name: 'espeak',
    model: null,
    sampleRate: SAMPLE_RATE,

    async *speak(text, signal) {
      const ended = AbortSignal.any([signal, closing.signal]);
      await slots.enter(ended);
      try {
        ended.throwIfAborted();
        const clause = speakable(text);
        if (clause !== '') yield* runClause(startEspeak(args), clause, ended, running);
      } finally {
        slots.leave();
      }
    },

    async close() {
      closing.abort(new AppError('provider_failed', 'the call closed its text to speech'));
      for (const engine of running) engine.process.kill('SIGKILL');
      await Promise.all([...running].map((engine) => engine.exited));
    },
  };
}

async function* runClause(
  engine: ChildEngine,
  clause: string,
  signal: AbortSignal,
  running: Set<ChildEngine>,
): AsyncGenerator<Int16Array> {
  const { stdin, stdout } = engine.process;
  if (!stdin || !stdout) throw new AppError('internal', 'espeak-ng was started without its pipes');
  running.add(engine);
  void engine.exited.then(() => running.delete(engine));
  const kill = () => engine.process.kill('SIGKILL');
  signal.addEventListener('abort', kill, { once: true });
  const aborted = untilAborted(signal);
  aborted.catch(() => undefined);
  try {
    stdin.end(clause);
    const wav = new WavStream();
    const pieces = stdout[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
    while (true) {
      const piece = await Promise.race([within(pieces.next(), SILENT_TIMEOUT_MS, 'hung' as const), aborted]);
      signal.throwIfAborted();
      if (piece === 'hung') {
        throw new AppError('provider_timeout', `espeak-ng gave no audio for ${SILENT_TIMEOUT_MS} ms`);
      }
      if (piece.done) break;
      const samples = takeSamples(wav, piece.value);
      if (samples.length > 0) yield samples;
      signal.throwIfAborted();
    }
    await checkExit(engine, aborted);
  } finally {
    signal.removeEventListener('abort', kill);
    kill();
    stdout.destroy();
  }
}

function takeSamples(wav: WavStream, piece: Buffer): Int16Array {
  try {
    return wav.push(piece, SAMPLE_RATE);
  } catch (cause) {
    throw new AppError('provider_failed', describeError(cause), { cause });
  }
}

async function checkExit(engine: ChildEngine, aborted: Promise<never>): Promise<void> {
  const exit = await Promise.race([within(engine.exited, SILENT_TIMEOUT_MS, 'hung' as const), aborted]);
  if (exit === 'hung') throw new AppError('provider_timeout', 'espeak-ng gave its audio but does not end');
  if (exit?.code === 0) return;
  const how = exit === null ? 'could not be started' : `ended with ${exit.signal ?? `code ${exit.code}`}`;
  throw new AppError('provider_failed', `espeak-ng ${how}: ${engine.complaint() || 'it gave no reason'}`);
}

function startEspeak(args: readonly string[]): ChildEngine {
  return startEngine({
    program: 'espeak-ng',
    debianPackages: 'espeak-ng',
    args,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
}

function readArguments(config: ProviderConfig): string[] {
  const settings = new ProviderSettings('tts', config);
  // Letters first: a voice that began with "-" or held a "/" could be read as an option or a file.
  const pattern = /^[A-Za-z][A-Za-z0-9+_-]{0,63}$/;
  const voice =
    settings.text('voice', { maximumLength: 64, pattern }) ??
    settings.text('language', { maximumLength: 64, pattern }) ??
    'en';
  const speed = settings.number('speed', { fallback: 165, minimum: 80, maximum: 450, whole: true });
  const pitch = settings.number('pitch', { fallback: 50, minimum: 0, maximum: 99, whole: true });
  const volume = settings.number('volume', { fallback: 100, minimum: 0, maximum: 200, whole: true });
  const pause = settings.flag('end_pause', true) ? [] : ['-z'];
  return [
    ...['--stdin', '--stdout', '-b', '1'],
    ...['-v', voice, '-s', `${speed}`, '-p', `${pitch}`, '-a', `${volume}`],
    ...pause,
  ];
}

/** Without control characters, and without `[[`, behind which espeak-ng reads phoneme codes instead of words. */
function speakable(text: string): string {
  return text.slice(0, MAX_TEXT_LENGTH).replace(/\p{C}/gu, ' ').replaceAll('[[', '[ [').trim();
}

/** Lets a few in at once and the rest in order of arrival. */
class Turnstile {
  private free: number;
  private readonly waiting: (() => void)[] = [];
  private readonly maximumWaiting: number;

  constructor(places: number, maximumWaiting: number) {
    this.free = places;
    this.maximumWaiting = maximumWaiting;
  }

  /** Every call that resolves must be followed by `leave`. Throws the signal's reason, or `provider_failed`. */
  async enter(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.free > 0) {
      this.free--;
      return;
    }
    if (this.waiting.length >= this.maximumWaiting) {
      throw new AppError('provider_failed', `more than ${this.maximumWaiting} clauses wait for espeak-ng`);
    }
    await new Promise<void>((resolve, reject) => {
      const proceed = () => {
        signal.removeEventListener('abort', giveUp);
        resolve();
      };
      const giveUp = () => {
        this.waiting.splice(this.waiting.indexOf(proceed), 1);
        reject(signal.reason);
      };
      this.waiting.push(proceed);
      signal.addEventListener('abort', giveUp, { once: true });
    });
  }

  leave(): void {
    const next = this.waiting.shift();
    if (next) next();
    else this.free++;
  }
}
