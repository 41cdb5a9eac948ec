import { ofLanguage, readLists } from '../../platform/text-table.ts';
import { type RescueSource, spokenLanguage } from './rescue-lines.ts';

/**
 * What a bot says while the caller waits for an answer that is known to take long (RT-45), in the language of its
 * voice. Short, and true whatever the answer turns out to be.
 */
export interface FillerSource extends RescueSource {
  filler_lines?: readonly string[] | null;
}

const LINES = readLists(import.meta.url, 'filler-lines.txt');

/** The lines of a bot: its own where it has any, none where it wants none, else by language; English where unknown. */
export function fillerLines(source: FillerSource): readonly string[] {
  if (source.filler_lines) return source.filler_lines;
  return ofLanguage(LINES, spokenLanguage(source)) ?? LINES.get('en') ?? [];
}
