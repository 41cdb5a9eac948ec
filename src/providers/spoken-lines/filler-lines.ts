import { type RescueSource, spokenLanguage } from './rescue-lines.ts';

/**
 * What a bot says while the caller waits for an answer that is known to take long (RT-45), in the language of its
 * voice. Short, and true whatever the answer turns out to be.
 */
export interface FillerSource extends RescueSource {
  filler_lines?: readonly string[] | null;
}

/** By the first part of a BCP 47 tag. */
const LINES: Readonly<Record<string, readonly string[]>> = {
  en: ['One moment, please.', 'Let me see.', 'Just a second.'],
  hi: ['एक क्षण रुकिए।', 'अभी देखते हैं।', 'बस एक सेकंड।'],
  bn: ['এক মুহূর্ত।', 'একটু দেখছি।', 'এক সেকেন্ড।'],
  gu: ['એક ક્ષણ.', 'હમણાં જોઉં છું.', 'એક સેકન્ડ.'],
  mr: ['एक क्षण थांबा.', 'आत्ता बघूया.', 'एक सेकंद.'],
  ta: ['ஒரு நிமிடம்.', 'இதோ பார்க்கிறேன்.', 'ஒரு நொடி.'],
  te: ['ఒక్క క్షణం.', 'ఇప్పుడే చూస్తాను.', 'ఒక్క సెకను.'],
  es: ['Un momento, por favor.', 'Déjeme ver.', 'Un segundo.'],
  fr: ['Un instant, s’il vous plaît.', 'Je regarde.', 'Une seconde.'],
  de: ['Einen Moment, bitte.', 'Ich schaue nach.', 'Eine Sekunde.'],
  it: ['Un momento, per favore.', 'Vediamo.', 'Un secondo.'],
  pt: ['Um momento, por favor.', 'Deixe-me ver.', 'Só um segundo.'],
  nl: ['Een ogenblik, alstublieft.', 'Even kijken.', 'Een seconde.'],
};

/** The lines of a bot: its own where it has any, none where it wants none, else by language; English where unknown. */
export function fillerLines(source: FillerSource): readonly string[] {
  if (source.filler_lines) return source.filler_lines;
  const primary = (spokenLanguage(source) ?? '').toLowerCase().split(/[-_]/)[0] ?? '';
  return (Object.hasOwn(LINES, primary) ? LINES[primary] : LINES.en) ?? [];
}
