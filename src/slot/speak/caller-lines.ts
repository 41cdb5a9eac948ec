import { ofLanguage, readTexts } from '../../platform/text-table.ts';

/** What every bot says in moments that its own texts do not provide for (caller-lines.txt). */
const LINES = readTexts(import.meta.url, 'caller-lines.txt');

export type CallerLine =
  | 'handoff_wait'
  | 'handoff_comfort'
  | 'handoff_position'
  | 'handoff_nobody'
  | 'transfer_failed'
  | 'ending_soon';

/** In the language of the voice (BCP 47); English where it is not known. */
export function callerLine(language: string | undefined, line: CallerLine): string {
  return ofLanguage(LINES, language)?.get(line) ?? LINES.get('en')?.get(line) ?? '';
}
