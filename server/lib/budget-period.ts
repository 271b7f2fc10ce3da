import { TimeZone } from './time-zone.ts';

export type BudgetPeriod = 'daily' | 'weekly' | 'monthly';

/** Start, inclusive, and end, exclusive, in epoch milliseconds. */
export interface PeriodBounds {
  start: number;
  end: number;
}

const daySeconds = 86_400;

/**
 * Returns the period around a time in epoch milliseconds. Days begin at midnight of the time zone, weeks on Monday. A day
 * has 23 or 25 hours when the offset of the zone changes.
 */
export function periodAround(period: BudgetPeriod, zone: string, now: number): PeriodBounds {
  const timeZone = new TimeZone(zone);
  const seconds = Math.floor(now / 1_000);
  // The date in the zone, as midnight of UTC.
  const local = seconds + timeZone.offsetAt(seconds);
  const today = local - (((local % daySeconds) + daySeconds) % daySeconds);
  const boundsOf = (date: number): PeriodBounds => {
    const [first, next] = datesOf(period, date);
    return { start: timeZone.startOfDay(first) * 1_000, end: timeZone.startOfDay(next) * 1_000 };
  };
  const bounds = boundsOf(today);
  // A zone can skip midnight, so that the day begins later than its date.
  if (now < bounds.start) return boundsOf(today - daySeconds);
  return now >= bounds.end ? boundsOf(today + daySeconds) : bounds;
}

/** Returns the first dates of a period and of the next one, as midnight of UTC. */
function datesOf(period: BudgetPeriod, date: number): [number, number] {
  if (period === 'daily') return [date, date + daySeconds];
  const day = new Date(date * 1_000);
  if (period === 'weekly') {
    const monday = date - ((day.getUTCDay() + 6) % 7) * daySeconds;
    return [monday, monday + 7 * daySeconds];
  }
  const first = (months: number) => Date.UTC(day.getUTCFullYear(), day.getUTCMonth() + months) / 1_000;
  return [first(0), first(1)];
}
