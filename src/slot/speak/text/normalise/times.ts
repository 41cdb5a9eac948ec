import type { LanguagePack, TimeOfDay } from './language-pack.ts';
import { TIME_ZONE } from './letters.ts';
import { END, type Rule, START } from './pattern.ts';

type Time = Pick<TimeOfDay, 'hour' | 'minute' | 'half'>;

/** Times of day, where the language has words for them: "5:30 PM", "5 p.m.", "17:30", "0630 hrs", "शाम 5:30 बजे". */
const WITH_HALF = new RegExp(
  `${START}(\\d{1,2})(?:[:.]([0-5]\\d))?(?::[0-5]\\d)?\\s?([ap])(?:m(?!\\p{L}|\\.\\p{L})|\\.m(\\.|${END}))(\\s?बजे)?`,
  'giu',
);
const CLOCK = new RegExp(
  `(?<![\\p{L}\\p{N}:.])([01]?\\d|2[0-3]):([0-5]\\d)(?::[0-5]\\d)?(?!:?\\p{N}|\\p{L})(\\s?(?:hrs|hours)${END})?(\\s?बजे)?`,
  'giu',
);

/** Four digits are a time where they say so, and a number of hours where they might be one: "0630 hrs", "at 1430 hrs". */
const SERVICE_TIME = new RegExp(
  `(?<![\\p{L}\\p{M}\\p{N}:.,])(?:(?<=(?:at|by|from|till|until|to|before|after|around|between|and)\\s)(?=1|2)|(?=0))([01]\\d|2[0-3])([0-5]\\d)\\s?(?:hrs|hours)${END}`,
  'giu',
);
const SERVICE_SPAN =
  /(?<![\p{L}\p{M}\p{N}:.,])([01]\d|2[0-3])([0-5]\d)\s?(?:hrs\s?)?[-–—]\s?([01]\d|2[0-3])([0-5]\d)\s?(?:hrs|hours)(?![\p{L}\p{M}\p{N}])/giu;

/** A stroke between two times. The first may leave it to the second whether it is morning: "9-11 am". */
const HALF = '\\s?[ap](?:\\.m\\.?|m)';
const HOUR = '\\d{1,2}(?:[:.][0-5]\\d)?';
const STROKE = '\\s?[-–—]\\s?';
const SPAN_OF_HALVES = new RegExp(
  `(?<![\\p{N}:./-])(\\d{1,2})(?:([:.])([0-5]\\d))?(${HALF})?${STROKE}(?=${HOUR}${HALF}(?!\\p{L}))`,
  'giu',
);
const SPAN_OF_CLOCKS = new RegExp(`(?<![\\p{N}:.])(\\d{1,2}:[0-5]\\d)${STROKE}(?=\\d{1,2}:[0-5]\\d)`, 'gu');

function withSpans(text: string, to: string): string {
  if (to === '' || !/\d[^\d]{0,8}[-–—]/.test(text)) return text;
  return text
    .replace(SERVICE_SPAN, (_, ...times: string[]) => {
      const [hour, minute, laterHour, laterMinute] = times;
      return `${hour}:${minute} hrs ${to} ${laterHour}:${laterMinute} hrs`;
    })
    .replace(SPAN_OF_HALVES, (_, hour: string, __, minute: string | undefined, half: string | undefined) => {
      const from = minute === undefined ? hour : `${hour}:${minute}`;
      return `${from}${half ?? ''} ${to} `;
    })
    .replace(SPAN_OF_CLOCKS, `$1 ${to} `);
}

type WithHalf = [string, string, string | undefined, string, string | undefined, string | undefined];

export const times: Rule = (text, pack) => {
  const { time } = pack;
  if (!time) return text;
  return withSpans(text, pack.words.to)
    .replace(SERVICE_TIME, '$1:$2 hrs')
    .replace(WITH_HALF, (...match) => {
      const [written, hour, minute, letter, stop, oClock] = match as unknown as WithHalf;
      if (Number(hour) < 1 || Number(hour) > 12) return written;
      const half = letter.toLowerCase() === 'a' ? 'am' : 'pm';
      const place = placeOf(written, match);
      const spoken = sayTime(time, { hour: Number(hour), minute: Number(minute ?? 0), half }, oClock, place);
      // The full stop of "p.m." stays where it ends the sentence, too.
      return stop === '.' && ENDS_HERE.test(place.behind) ? `${spoken}.` : spoken;
    })
    .replace(CLOCK, (...match) => {
      const [written, hour, minute, hours, oClock] = match as unknown as Clock;
      // A clock of twenty-four hours knows morning from evening.
      const read = hours === undefined ? clockTime(hour, minute) : serviceTime(hour, minute);
      return sayTime(time, read, oClock, placeOf(written, match));
    });
};

type Clock = [string, string, string, string | undefined, string | undefined];

const clockTime = (hour: string, minute: string): Time => ({
  hour: Number(hour),
  minute: Number(minute),
  half: null,
});

function serviceTime(hour: string, minute: string): Time {
  const hours = Number(hour);
  return { hour: hours % 12 === 0 ? 12 : hours % 12, minute: Number(minute), half: hours < 12 ? 'am' : 'pm' };
}

/** What follows is a sentence of its own, and not the time zone. */
const ENDS_HERE = new RegExp(`^\\s*(?:$|(?!${TIME_ZONE})\\p{Lu})`, 'u');
const PART_OF_DAY = /(?:सुबह|सवेरे|दोपहर|शाम|रात)\s*(?:के|को|करीब)?\s*$/u;
const POSTPOSITION = /^\s*(?:तक|से|के|का|की|पर|को|हैं?|हुए)(?!\p{M})/u;
/** Longer than a part of the day and a particle, on either side. */
const LOOK_CHARS = 20;

interface Surroundings {
  before: string;
  behind: string;
}

/** The last two arguments of a replacement are the place and the whole text. */
function placeOf(written: string, match: readonly unknown[]): Surroundings {
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
  read: Time,
  oClock: string | undefined,
  { before, behind }: Surroundings,
): string {
  const spoken = time({ ...read, hasPartOfDay: PART_OF_DAY.test(before) });
  // "बजे" is part of the spoken time but for minutes that have no word of their own, where "पर" takes its place.
  if (oClock === undefined || spoken.endsWith('बजे') || POSTPOSITION.test(behind)) return spoken;
  return `${spoken} पर`;
}
