/** How often something happened, with the interval in which the true rate lies with 95 % confidence. */
export interface Rate {
  count: number;
  of: number;
  /** 0 to 1; null where nothing was tried. */
  share: number | null;
  low: number;
  high: number;
}

const Z = 1.96;

/** Wilson's score interval, which is honest for small numbers and for none. */
export function rateOf(count: number, of: number): Rate {
  if (of === 0) return { count, of, share: null, low: 0, high: 1 };
  const share = count / of;
  const middle = share + (Z * Z) / (2 * of);
  const spread = Z * Math.sqrt((share * (1 - share)) / of + (Z * Z) / (4 * of * of));
  const scale = 1 + (Z * Z) / of;
  return {
    count,
    of,
    share,
    low: count === 0 ? 0 : Math.max(0, (middle - spread) / scale),
    high: count === of ? 1 : Math.min(1, (middle + spread) / scale),
  };
}

/** Events per hour that must be feared after `count` of them, with 95 % confidence; three for none (the rule of three). */
export function mostPerHour(count: number, hours: number): number {
  if (hours <= 0) return Number.POSITIVE_INFINITY;
  return (count === 0 ? 3 : count + Z * Math.sqrt(count) + 2) / hours;
}

export function describeRate(rate: Rate): string {
  if (rate.share === null) return 'none tried';
  const percent = (share: number) => `${(share * 100).toFixed(1)} %`;
  return `${percent(rate.share)} (${rate.count} of ${rate.of}; 95 %: ${percent(rate.low)} to ${percent(rate.high)})`;
}
