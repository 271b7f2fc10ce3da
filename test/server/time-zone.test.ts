import { describe, expect, test } from 'vitest';
import { isTimeZone, TimeZone } from '../../server/lib/time-zone.ts';

const at = (date: string) => Date.parse(date) / 1_000;

describe('TimeZone', () => {
  test('knows the offsets of a year with daylight saving time', () => {
    const zone = new TimeZone('Europe/Berlin');
    expect(zone.offsetsIn(at('2026-01-01T00:00Z'), at('2027-01-01T00:00Z'))).toEqual([
      { from: at('2026-01-01T00:00Z'), offset: 3_600 },
      { from: at('2026-03-29T01:00Z'), offset: 7_200 },
      { from: at('2026-10-25T01:00Z'), offset: 3_600 },
    ]);
  });

  test.each([
    ['UTC', '2026-07-01', '2026-07-01T00:00Z'],
    ['Europe/Berlin', '2026-03-29', '2026-03-28T23:00Z'],
    ['Europe/Berlin', '2026-03-30', '2026-03-29T22:00Z'],
    ['America/New_York', '2026-11-01', '2026-11-01T04:00Z'],
    ['America/New_York', '2026-11-02', '2026-11-02T05:00Z'],
    ['Asia/Kolkata', '2026-07-01', '2026-06-30T18:30Z'],
    ['Pacific/Kiritimati', '2026-07-01', '2026-06-30T10:00Z'],
  ])('in %s, %s starts at %s', (name, date, start) => {
    expect(new TimeZone(name).startOfDay(at(`${date}T00:00Z`))).toBe(at(start));
  });

  test('has one offset for an empty range', () => {
    const now = at('2026-07-01T00:00Z');
    expect(new TimeZone('Asia/Tokyo').offsetsIn(now, now)).toEqual([{ from: now, offset: 32_400 }]);
  });
});

test('recognizes the names of time zones', () => {
  expect(['UTC', 'Europe/Berlin', 'Etc/GMT+5'].every(isTimeZone)).toBe(true);
  expect(['', 'Mars', 'Europe/Berlin2', '../etc', "' or 1=1"].some(isTimeZone)).toBe(false);
});
