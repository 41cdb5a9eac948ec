import type { LanguagePack } from './language-pack.ts';
import { END, type Rule, START } from './pattern.ts';

/** Times of day, where the language has words for them: "5:30 PM", "5 p.m.", "17:30", "शाम 5:30 बजे". */
const WITH_HALF = new RegExp(
  `${START}(\\d{1,2})(?:[:.]([0-5]\\d))?(?::[0-5]\\d)?\\s?([ap])(?:m(?!\\p{L}|\\.\\p{L})|\\.m(\\.|${END}))(\\s?बजे)?`,
  'giu',
);
const CLOCK = new RegExp(
  `(?<![\\p{L}\\p{N}:.])([01]?\\d|2[0-3]):([0-5]\\d)(?::[0-5]\\d)?(?!:?\\p{N}|\\p{L})(?:\\s?(?:hrs|hours)${END})?(\\s?बजे)?`,
  'giu',
);

type WithHalf = [string, string, string | undefined, string, string | undefined, string | undefined];

export const times: Rule = (text, pack) => {
  const { time } = pack;
  if (!time) return text;
  return text
    .replace(WITH_HALF, (...match) => {
      const [written, hour, minute, letter, stop, oClock] = match as unknown as WithHalf;
      if (Number(hour) < 1 || Number(hour) > 12) return written;
      const half = letter.toLowerCase() === 'a' ? 'am' : 'pm';
      const place = configInputs(written, match);
      const spoken = sayTime(time, { hour: Number(hour), minute: Number(minute ?? 0), half }, oClock, place);
      // The full stop of "p.m." stays where it ends the sentence, too.
      return stop === '.' && ENDS_HERE.test(place.behind) ? `${spoken}.` : spoken;
    })
    .replace(CLOCK, (...match) => {
      const [written, hour, minute, oClock] = match as unknown as [
        string,
        string,
        string,
        string | undefined,
      ];
      const read = { hour: Number(hour), minute: Number(minute), half: null };
      return sayTime(time, read, oClock, configInputs(written, match));
    });
};

const ENDS_HERE = /^\s*(?:$|\p{Lu})/u;
const PART_OF_DAY = /(?:सुबह|सवेरे|दोपहर|शाम|रात)\s*(?:के|को|करीब)?\s*$/u;
const POSTPOSITION = /^\s*(?:तक|से|के|का|की|पर|को|हैं?|हुए)(?!\p{M})/u;
/** Longer than a part of the day and a particle, on either side. */
const LOOK_CHARS = 20;

interface ConfigInputReader {
  before: string;
  behind: string;
}

/** The last two arguments of a replacement are the place and the whole text. */
function configInputs(written: string, match: readonly unknown[]): ConfigInputReader {
  const at = Number(match.at(-2));
  const whole = String(match.at(-1));
  const end = at + written.length;
  return {
    before: whole.slice(Math.max(0, at - LOOK_CHARS), at),
    behind: whole.slice(end, end + LOOK_CHARS),
  };
}

function sayTime(
  time: NonNullable<LanguagePack['time']>,
  read: { hour: number; minute: number; half: 'am' | 'pm' | null },
  oClock: string | undefined,
  { before, behind }: ConfigInputReader,
): string {
  const spoken = time({ ...read, hasPartOfDay: PART_OF_DAY.test(before) });
  // "बजे" is part of the spoken time but for minutes that have no word of their own, where "पर" takes its place.
  if (oClock === undefined || spoken.endsWith('बजे') || POSTPOSITION.test(behind)) return spoken;
  return `${spoken} पर`;
}
