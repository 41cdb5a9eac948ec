import fc from 'fast-check';
import t from 'tap';
import { type ActiveHours, WEEKDAYS } from '../../../src/contracts/bot/operation.ts';
import { checkActiveHours, secondsUntil } from '../../../src/control/runtime-config/active-hours.ts';

const isOpen = (hours: ActiveHours | null, zone: string, iso: string) =>
  checkActiveHours(hours, zone, Date.parse(iso)).open;
/** 2026-03-02 is a Monday. */
const DAY: ActiveHours = { enabled: true, start_time: '09:00', end_time: '18:00' };
const NIGHT: ActiveHours = { enabled: true, start_time: '22:00', end_time: '06:00' };

t.test('R35 the hours count only where they are enabled', async (t) => {
  const closed = { ...DAY, enabled: false };
  t.equal(isOpen(closed, 'UTC', '2026-03-02T03:00:00Z'), true);
  t.equal(isOpen(null, 'UTC', '2026-03-02T03:00:00Z'), true);
  t.equal(isOpen(DAY, 'UTC', '2026-03-02T03:00:00Z'), false);
});

t.test('R36 all seven days, or those that are named, in the local week', async (t) => {
  for (let day = 2; day <= 8; day++) t.equal(isOpen(DAY, 'UTC', `2026-03-0${day}T12:00:00Z`), true);
  const monday = { ...DAY, start_time: '00:00', end_time: '24:00', days: ['monday'] } as ActiveHours;
  t.equal(isOpen(monday, 'UTC', '2026-03-02T23:59:59Z'), true);
  t.equal(isOpen(monday, 'UTC', '2026-03-03T00:00:00Z'), false);
  t.equal(isOpen(monday, 'Asia/Kolkata', '2026-03-01T18:29:59Z'), false, 'Sunday 23:59 there');
  t.equal(isOpen(monday, 'Asia/Kolkata', '2026-03-01T18:30:00Z'), true, 'Monday 00:00 there');
});

t.test('R37 the start counts, the end does not, and a start after the end is overnight', async (t) => {
  const at = (hours: ActiveHours, time: string) => isOpen(hours, 'UTC', `2026-03-02T${time}Z`);
  t.strictSame(
    ['08:59:59', '09:00:00', '17:59:59', '18:00:00'].map((time) => at(DAY, time)),
    [false, true, true, false],
  );
  t.strictSame(
    ['21:59:59', '22:00:00', '23:59:59', '00:00:00', '05:59:59', '06:00:00'].map((time) => at(NIGHT, time)),
    [false, true, true, true, true, false],
  );
  t.equal(at({ ...DAY, start_time: '08:00', end_time: '08:00' }, '03:00:00'), true, 'the same: all day');
  const friday = { ...NIGHT, days: ['friday'] } as ActiveHours;
  t.equal(isOpen(friday, 'UTC', '2026-03-06T23:00:00Z'), true);
  t.equal(isOpen(friday, 'UTC', '2026-03-07T02:00:00Z'), false, 'the weekday is that of the moment');
  t.equal(isOpen(friday, 'UTC', '2026-03-06T02:00:00Z'), true);
});

t.test('R38 a zone that does not exist is read as UTC', async (t) => {
  t.equal(isOpen(DAY, 'Mars/Olympus', '2026-03-02T09:00:00Z'), true);
  t.match(checkActiveHours(DAY, 'Mars/Olympus', Date.parse('2026-03-02T20:00:00Z')), {
    reason: /monday 20:00 in UTC/,
    opensAt: '2026-03-03T09:00:00.000Z',
  });
});

t.test('a change of the clock neither opens nor closes anything else', async (t) => {
  const early: ActiveHours = { enabled: true, start_time: '02:30', end_time: '04:00' };
  // In Berlin 02:00 becomes 03:00 on 29 March 2026, and 03:00 becomes 02:00 on 25 October.
  t.equal(isOpen(early, 'Europe/Berlin', '2026-03-29T00:59:00Z'), false, '01:59');
  t.equal(isOpen(early, 'Europe/Berlin', '2026-03-29T01:00:00Z'), true, '03:00, one minute later');
  const spring = checkActiveHours(early, 'Europe/Berlin', Date.parse('2026-03-29T00:00:00Z'));
  t.match(spring, { opensAt: '2026-03-29T01:00:00.000Z' });
  t.equal(isOpen(early, 'Europe/Berlin', '2026-10-25T00:45:00Z'), true, '02:45, first time');
  t.equal(isOpen(early, 'Europe/Berlin', '2026-10-25T01:15:00Z'), false, '02:15, second time');
  const autumn = checkActiveHours(early, 'Europe/Berlin', Date.parse('2026-10-25T01:15:00Z'));
  t.match(autumn, { opensAt: '2026-10-25T01:30:00.000Z' });
});

const ZONES = [
  'UTC',
  'Asia/Kolkata',
  'Asia/Kathmandu',
  'Europe/Berlin',
  'America/New_York',
  'Australia/Lord_Howe',
  'Pacific/Apia',
  'America/Sao_Paulo',
];
const clock = fc
  .tuple(fc.integer({ min: 0, max: 23 }), fc.integer({ min: 0, max: 59 }))
  .map(([hour, minute]) => `${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`);
const anyHours: fc.Arbitrary<ActiveHours> = fc.record({
  enabled: fc.constant(true),
  days: fc.subarray([...WEEKDAYS], { minLength: 1 }),
  start_time: clock,
  end_time: clock,
});
const MINUTE_MS = 60_000;
/** Around both changes of the clock of 2026, and anywhere else in that year. */
const from = (iso: string, min: number, max: number) =>
  fc.integer({ min, max }).map((minutes) => Date.parse(iso) + minutes * MINUTE_MS);
const anyMoment = fc.oneof(
  from('2026-03-29T01:00:00Z', -2_880, 2_880),
  from('2026-11-01T06:00:00Z', -2_880, 2_880),
  from('2026-01-01T00:00:00Z', 0, 525_599),
);

t.test('R36 R37 the gate agrees with a calendar that is read another way', async (t) => {
  const agrees = () =>
    fc.assert(
      fc.property(anyHours, fc.constantFrom(...ZONES), anyMoment, (hours, zone, epochMs) => {
        // Another code path of the platform: a written date with its weekday, taken apart.
        const written = new Date(epochMs).toLocaleString('en-GB', { timeZone: zone, hour12: false });
        const [date = '', time = ''] = written.split(', ');
        const [d, m, y] = date.split('/').map(Number);
        const weekday = WEEKDAYS[(new Date(Date.UTC(y ?? 0, (m ?? 1) - 1, d)).getUTCDay() + 6) % 7];
        const minutes = (text: string) => Number(text.slice(0, 2)) * 60 + Number(text.slice(3, 5));
        const [now, start, end] = [time, hours.start_time, hours.end_time].map(minutes) as [
          number,
          number,
          number,
        ];
        const length = (end - start + 1440) % 1440 || 1440;
        const expected =
          (hours.days ?? []).includes(weekday as never) && (now - start + 1440) % 1440 < length;
        if (checkActiveHours(hours, zone, epochMs).open !== expected) {
          throw new Error(`${zone} ${written} ${JSON.stringify(hours)}`);
        }
      }),
      { seed: 21, numRuns: 1_500 },
    );
  t.doesNotThrow(agrees);
});

t.test('the next opening is open, and nothing before it is', async (t) => {
  const holds = () =>
    fc.assert(
      fc.property(anyHours, fc.constantFrom(...ZONES), anyMoment, (hours, zone, epochMs) => {
        const gate = checkActiveHours(hours, zone, epochMs);
        if (gate.open) return;
        if (gate.opensAt === null) throw new Error('a window on some weekday opens within eight days');
        const opensMs = Date.parse(gate.opensAt);
        if (opensMs <= epochMs) throw new Error('the opening is in the past');
        if (!checkActiveHours(hours, zone, opensMs).open) throw new Error(`closed at ${gate.opensAt}`);
        if (checkActiveHours(hours, zone, opensMs - 1).open) throw new Error('it was open just before');
        // A prime number of minutes, so that the samples do not fall on the same minute of each hour.
        for (let at = epochMs; at < opensMs; at += 97 * MINUTE_MS) {
          if (checkActiveHours(hours, zone, at).open) throw new Error(`open already at ${at}`);
        }
      }),
      { seed: 22, numRuns: 300 },
    );
  t.doesNotThrow(holds);
});

t.test('the time to wait is at least a second, and rounded up', async (t) => {
  t.equal(secondsUntil('2026-03-02T00:00:10.000Z', Date.parse('2026-03-02T00:00:00.001Z')), 10);
  t.equal(secondsUntil('2026-03-02T00:00:00.000Z', Date.parse('2026-03-02T00:00:00.000Z')), 1);
});
