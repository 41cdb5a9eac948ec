import { BOT_DEFAULTS, type BotContent, type NewBot } from '../../contracts/bot.ts';
import { invalidBody } from '../http/validation-issues.ts';

/** A new bot with its defaults. Throws `validation_error`. */
export function newContent(bot: NewBot): BotContent {
  return checked({ ...structuredClone(BOT_DEFAULTS), ...bot } as BotContent);
}

/** The content with the named fields replaced, each as a whole. Throws `validation_error`. */
export function patchedContent(content: BotContent, patch: Partial<BotContent>): BotContent {
  return checked({ ...content, ...patch });
}

/**
 * The content again. Throws `validation_error` for a key of a provider in it: keys live encrypted in the system
 * settings, and a bot is exported, versioned and read by people who may not see them.
 */
export function checked(content: BotContent): BotContent {
  for (const family of ['stt', 'llm', 'tts', 'post_call_llm'] as const) {
    const provider = content[family];
    if (!provider) continue;
    if (provider.api_key !== undefined) throw keyInBot(`/${family}/api_key`);
    for (const [index, fallback] of (provider.fallbacks ?? []).entries()) {
      const pointer = `/${family}/fallbacks/${index}`;
      if (fallback.api_key !== undefined) throw keyInBot(`${pointer}/api_key`);
      if (fallback.fallbacks !== undefined) {
        throw invalidBody(`${pointer}/fallbacks`, 'a fallback has no fallbacks of its own');
      }
    }
  }
  return content;
}

function keyInBot(pointer: string) {
  return invalidBody(pointer, 'keys of providers belong into the system settings, not into a bot');
}
