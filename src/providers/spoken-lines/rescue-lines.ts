import type { ProviderConfig } from '../../contracts/runtime-config.ts';
import { ofLanguage, readTexts } from '../../platform/text-table.ts';

/**
 * What a bot says when a provider fails it, in the language of its voice (RT-59). `rescue` bridges the time until the
 * answer comes, `again` asks the caller to repeat what was lost, `farewell` ends a call that cannot go on; `goodbye` and
 * `connecting` stand in for the words before a hang-up or a transfer that was ordered.
 */
export interface RescueLines {
  rescue: string;
  again: string;
  farewell: string;
  goodbye: string;
  connecting: string;
}

const LINES = readTexts(import.meta.url, 'rescue-lines.txt');

/** What of a bot, or of the config of a call, decides what it says then. */
export interface RescueSource {
  tts: ProviderConfig;
  stt: ProviderConfig;
  rescue_line?: string | null;
}

/** Of the voice, else of the speech input; undefined where neither says. */
export function spokenLanguage(source: RescueSource): string | undefined {
  return source.tts.language ?? source.stt.language;
}

/** The lines of a bot: its own bridging line where it has one, else by language; English where none is known. */
export function rescueLines(source: RescueSource): RescueLines {
  const language = spokenLanguage(source);
  const ownLine = source.rescue_line;
  const known = ofLanguage(LINES, language);
  const line = (name: keyof RescueLines) => known?.get(name) ?? LINES.get('en')?.get(name) ?? '';
  return {
    rescue: ownLine || line('rescue'),
    again: line('again'),
    farewell: line('farewell'),
    goodbye: line('goodbye'),
    connecting: line('connecting'),
  };
}
