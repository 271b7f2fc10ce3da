import { expect, test } from 'vitest';
import { findDisturbances, median, medianInterval, minSamples, spread, target, verdict } from './verdict.ts';

test('median interpolates, and spread is the relative interquartile range', () => {
  expect(median([4, 1, 3])).toBe(3);
  expect(median([4, 1, 3, 2])).toBe(2.5);
  expect(spread([1, 2, 3, 4, 100])).toBeCloseTo(2 / 3);
  expect(spread([5, 5, 5])).toBe(0);
});

test('the interval of the median excludes as many samples on each side as 95 % allow', () => {
  const upTo = (count: number) => Array.from({ length: count }, (_, index) => count - index);
  // 2 × 0.5⁶ = 3 %, and with a second sample on each side more than 5 %.
  expect(medianInterval(upTo(6))).toEqual({ low: 1, high: 6 });
  expect(medianInterval(upTo(8))).toEqual({ low: 1, high: 8 });
  // 2 × (1 + 9) × 0.5⁹ = 4 %.
  expect(medianInterval(upTo(9))).toEqual({ low: 2, high: 8 });
  expect(medianInterval(upTo(20))).toEqual({ low: 6, high: 15 });
  expect(() => medianInterval(upTo(minSamples - 1))).toThrow('at least 6 samples, not 5');
});

test('a target is reached at its limit, except with "below"', () => {
  expect(target('x', 1, 'at least', 1).reached).toBe(true);
  expect(target('x', 0.99, 'at least', 1).reached).toBe(false);
  expect(target('x', 1, 'at most', 1).reached).toBe(true);
  expect(target('x', 1, 'below', 1).reached).toBe(false);
});

test('a busy machine is reported by its load or by the raw proxy', () => {
  const targets = [target('requests/s', 0.7, 'at least', 0.65), target('CPU', 1.6, 'at most', 1.5)];
  expect(findDisturbances(0.1, [0.05, 0.1])).toEqual([]);
  expect(verdict(targets, [])).toContain('1 of 2 targets reached on a quiet machine.');
  const busy = verdict(targets, findDisturbances(2, []));
  expect(busy).toContain('too busy for a result: the load was 2.0 per core');
  expect(busy).not.toMatch(/reached|missed/);
  expect(verdict(targets, findDisturbances(0, [0.1, 0.4]))).toContain('rounds have a spread of 40 %');
});
