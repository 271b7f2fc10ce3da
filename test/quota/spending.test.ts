import { expect, test } from 'vitest';
import { Spending, spendingWindow } from '../../server/quota/spending.ts';

const seen = (spending: Spending, at: number) => [spending.amount(at), spending.calls(at)];

test('what was spent counts for one window at least and two at the most', () => {
  const spending = new Spending();
  expect(seen(spending, 0)).toEqual([0, 0]);
  spending.add(5, 1);
  spending.add(2, spendingWindow - 1);
  expect(seen(spending, spendingWindow - 1)).toEqual([7, 2]);
  spending.add(1, spendingWindow);
  expect(seen(spending, 2 * spendingWindow - 1)).toEqual([8, 3]);
  expect(seen(spending, 2 * spendingWindow)).toEqual([1, 1]);
  expect(seen(spending, 3 * spendingWindow)).toEqual([0, 0]);
});

test('the next window begins when it is looked at', () => {
  const spending = new Spending();
  spending.add(3, 10);
  const late = spendingWindow + 5_000;
  expect(spending.calls(late)).toBe(1);
  spending.add(4, late);
  expect(seen(spending, late + spendingWindow - 1)).toEqual([7, 2]);
  expect(seen(spending, late + spendingWindow)).toEqual([4, 1]);
});

test('after two windows without a look nothing is left', () => {
  const spending = new Spending();
  spending.add(3, 10);
  expect(spending.calls(2 * spendingWindow)).toBe(0);
  expect(spending.amount(2 * spendingWindow)).toBe(0);
  spending.add(4, 5 * spendingWindow);
  expect(seen(spending, 5 * spendingWindow)).toEqual([4, 1]);
});
