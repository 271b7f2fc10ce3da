import { expect, test } from 'vitest';
import { periodAround } from '../../server/lib/budget-period.ts';

const hours = ({ start, end }: { start: number; end: number }) => (end - start) / 3_600_000;
const iso = (at: number) => new Date(at).toISOString();
const at = (text: string) => Date.parse(text);

test.each([
  ['daily', 'UTC', '2026-11-26T12:00:00Z', '2026-11-26T00:00:00.000Z', 24],
  ['daily', 'Europe/Berlin', '2026-03-29T10:00:00Z', '2026-03-28T23:00:00.000Z', 23],
  ['daily', 'Europe/Berlin', '2026-10-25T10:00:00Z', '2026-10-24T22:00:00.000Z', 25],
  ['daily', 'Asia/Kolkata', '2026-11-26T18:30:00Z', '2026-11-26T18:30:00.000Z', 24],
  ['daily', 'America/New_York', '2026-11-26T04:59:59Z', '2026-11-25T05:00:00.000Z', 24],
  ['weekly', 'UTC', '2026-11-29T23:59:59Z', '2026-11-23T00:00:00.000Z', 168],
  ['weekly', 'Europe/Berlin', '2026-03-29T10:00:00Z', '2026-03-22T23:00:00.000Z', 167],
  ['monthly', 'UTC', '2028-02-29T23:59:59Z', '2028-02-01T00:00:00.000Z', 29 * 24],
  ['monthly', 'Europe/Berlin', '2026-12-31T23:30:00Z', '2026-12-31T23:00:00.000Z', 31 * 24],
] as const)('a %s period in %s around %s', (period, zone, now, start, length) => {
  const bounds = periodAround(period, zone, at(now));
  expect(iso(bounds.start)).toBe(start);
  expect(hours(bounds)).toBe(length);
});

test.each(['America/Sao_Paulo', 'Asia/Beirut', 'Africa/Cairo', 'Pacific/Apia', 'Australia/Lord_Howe'])(
  'periods in %s follow each other without a gap, also where midnight is skipped',
  (zone) => {
    let now = at('2018-01-01T12:00:00Z');
    for (let day = 0; day < 800; day += 1) {
      const bounds = periodAround('daily', zone, now);
      expect(bounds.start).toBeLessThanOrEqual(now);
      expect(bounds.end).toBeGreaterThan(now);
      expect(periodAround('daily', zone, bounds.end).start).toBe(bounds.end);
      expect(periodAround('daily', zone, bounds.start)).toEqual(bounds);
      now = bounds.end + 1_000;
    }
  },
);
