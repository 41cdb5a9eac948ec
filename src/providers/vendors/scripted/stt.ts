import type { ProviderConfig } from '../../../contracts/runtime-config.ts';
import { AppError } from '../../../platform/app-error.ts';
import { monotonicMs } from '../../../platform/clock.ts';
import { waitUntil } from '../../connect/abortable-wait.ts';
import type { ProviderContext } from '../../contract/provider-context.ts';
import { ProviderSettings } from '../../contract/provider-settings.ts';
import type { SpeechToText, SttHandlers, SttSession } from '../../contract/speech-to-text.ts';

interface Script {
  texts: string[];
  loop: boolean;
  finalDelayMs: number;
  wordMs: number;
  failOn: ReadonlySet<number>;
  breakOn: ReadonlySet<number>;
  unsureOn: ReadonlySet<number>;
}

const UNSURE = 0.2;

/**
 * Speech to text that knows beforehand what the caller says, for benches and tests: the audio decides when words
 * come, the script decides which.
 *
 * Settings: `script` (texts, one per turn), `loop` (begin again after the last; else later turns are ''),
 * `final_delay_ms` (0), `word_ms` (audio per interim word, 200), `fail_on` (turns, from 1, whose flush rejects with
 * `provider_failed`), `break_on` (turns in which the session breaks at the first audio), `unsure_on` (turns understood
 * with little confidence), `wants_silence` (false).
 * A turn without audio is '' and takes no text from the script.
 */
export async function createScriptedStt(
  config: ProviderConfig,
  { sampleRate }: ProviderContext,
): Promise<SpeechToText> {
  const settings = new ProviderSettings('stt', config);
  const script: Script = {
    texts: settings.texts('script', { maximumItems: 10_000, maximumLength: 2_000 }),
    loop: settings.flag('loop', false),
    finalDelayMs: settings.number('final_delay_ms', { fallback: 0, minimum: 0, maximum: 60_000 }),
    wordMs: settings.number('word_ms', { fallback: 200, minimum: 20, maximum: 10_000 }),
    failOn: settings.ordinals('fail_on'),
    breakOn: settings.ordinals('break_on'),
    unsureOn: settings.ordinals('unsure_on'),
  };
  const wantsSilence = settings.flag('wants_silence', false);
  return {
    name: 'scripted',
    model: config.model ?? null,
    wantsSilence,
    open: async (handlers) => openSession(script, sampleRate, handlers),
  };
}

function openSession(script: Script, sampleRate: number, handlers: SttHandlers): SttSession {
  let turn = 1;
  let heardSamples = 0;
  let wordsTold = 0;
  let over = false;

  const words = () => (textOf(script, turn) ?? '').split(/\s+/).filter(Boolean);
  const forget = () => {
    heardSamples = 0;
    wordsTold = 0;
  };

  return {
    feed(samples) {
      if (over || samples.length === 0) return;
      heardSamples += samples.length;
      if (script.breakOn.has(turn)) {
        over = true;
        handlers.onFailure(new AppError('provider_failed', `the script breaks in turn ${turn}`));
        return;
      }
      const due = Math.floor((heardSamples * 1000) / sampleRate / script.wordMs);
      const spoken = words();
      while (wordsTold < Math.min(due, spoken.length)) {
        wordsTold++;
        handlers.onInterim(spoken.slice(0, wordsTold).join(' '));
      }
    },

    async flush(signal) {
      signal.throwIfAborted();
      if (over) throw new AppError('provider_failed', 'the speech-to-text session is over; open a new one');
      if (heardSamples === 0) return { text: '', confidence: null };
      const ended = turn++;
      forget();
      await waitUntil(monotonicMs() + script.finalDelayMs, signal);
      if (script.failOn.has(ended)) {
        throw new AppError('provider_failed', `the script fails turn ${ended}`);
      }
      return {
        text: textOf(script, ended) ?? '',
        confidence: script.unsureOn.has(ended) ? UNSURE : 1,
      };
    },

    discard: forget,

    async close() {
      over = true;
    },
  };
}

/** The text of a turn counted from 1. */
function textOf(script: Script, turn: number): string | undefined {
  const index = turn - 1;
  return script.texts[script.loop && script.texts.length > 0 ? index % script.texts.length : index];
}
