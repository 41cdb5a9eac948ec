import type { Bot } from '../../contracts/bot.ts';
import { LINE_RATE_HZ } from '../../contracts/limits.ts';
import type { ProviderConfig } from '../../contracts/runtime-config.ts';
import { describeError } from '../../platform/app-error.ts';
import type { Logger } from '../../platform/logger.ts';
import { isFixed } from '../../platform/render-template.ts';
import { fillerLines } from '../../providers/spoken-lines/filler-lines.ts';
import { type RenderedLine, renderLine } from '../../providers/spoken-lines/render-line.ts';
import { rescueLines } from '../../providers/spoken-lines/rescue-lines.ts';
import { isKeptVoice, type SpeechCache, speechKey } from '../../providers/spoken-lines/speech-cache.ts';

/** Bots that wait for their turn; one that finds no room is rendered by the slot of its first call instead. */
const MAX_WAITING = 100;
/** A voice that takes longer for a sentence than this is not asked for the next one. */
const LINE_TIMEOUT_MS = 10_000;

export interface RescueAudioParts {
  cache: SpeechCache;
  /** The bot as calls get it; null where it is gone meanwhile. */
  bot: (botId: string) => Promise<Bot | null>;
  /** The settings of its voice with the key that calls get. */
  voiceOf: (bot: Bot) => Promise<ProviderConfig>;
  logger: Logger;
}

export interface RescueAudio {
  /** A bot has gone live: its lines are rendered soon, one bot after the other. Returns at once. */
  published(botId: string): void;
  /** Resolves when nothing waits any more. */
  settled(): Promise<void>;
  /** Gives up what is not rendered yet. */
  stop(): Promise<void>;
}

/**
 * Renders what a bot says when a provider fails, an opening that is the same in every call, and what bridges a wait, as
 * soon as the bot goes live (RT-59, RT-46, RT-45): when the audio is needed, the voice may be the provider that fails.
 * What fails here is only logged; the bot is live all the same, and the slots render what is missing.
 */
export function startRescueAudio(parts: RescueAudioParts): RescueAudio {
  const { logger } = parts;
  const waiting = new Set<string>();
  const stopping = new AbortController();
  let working: Promise<void> = Promise.resolve();
  let isWorking = false;

  const work = async () => {
    for (const botId of waiting) {
      if (stopping.signal.aborted) return;
      waiting.delete(botId);
      try {
        await renderBot(parts, botId, stopping.signal);
      } catch (error) {
        if (stopping.signal.aborted) return;
        logger.info({ bot_id: botId, err: describeError(error) }, 'the rescue audio could not be rendered');
      }
    }
  };

  return {
    published(botId) {
      if (stopping.signal.aborted || waiting.size >= MAX_WAITING) return;
      waiting.add(botId);
      if (isWorking) return;
      isWorking = true;
      working = work().finally(() => {
        isWorking = false;
      });
    },
    settled: () => working,
    async stop() {
      stopping.abort(new Error('the control plane stops'));
      await working;
    },
  };
}

async function renderBot(parts: RescueAudioParts, botId: string, stopping: AbortSignal): Promise<void> {
  const bot = await parts.bot(botId);
  if (!bot || !isKeptVoice(bot.tts)) return;
  const voice = await parts.voiceOf(bot);
  // No call pays for these, so the log is where the characters are told.
  const onSpoken = (line: RenderedLine) =>
    parts.logger.info({ bot_id: botId, ...line }, 'a line was rendered ahead of its first call');
  const opening = isFixed(bot.opening_message) ? [bot.opening_message] : [];
  for (const text of [...Object.values(rescueLines(bot)), ...opening, ...fillerLines(bot)]) {
    const key = speechKey(voice, text, LINE_RATE_HZ);
    if (text.trim() === '' || (await parts.cache.get(key))) continue;
    const signal = AbortSignal.any([stopping, AbortSignal.timeout(LINE_TIMEOUT_MS)]);
    await parts.cache.put(key, await renderLine(voice, text, LINE_RATE_HZ, signal, onSpoken));
  }
}
