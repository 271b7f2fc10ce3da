import { expect, test } from 'vitest';
import { Spending, spendingWindowMs } from '../../server/quota/spending.ts';

const seen = (spending: Spending, at: number) => [spending.amount(at), spending.calls(at)];

test('an amount counts for at least one and at most two windows', () => {
  const spending = new Spending();
  expect(seen(spending, 0)).toEqual([0, 0]);
  spending.add(5, 1);
  spending.add(2, spendingWindowMs - 1);
  expect(seen(spending, spendingWindowMs - 1)).toEqual([7, 2]);
  spending.add(1, spendingWindowMs);
  expect(seen(spending, 2 * spendingWindowMs - 1)).toEqual([8, 3]);
  expect(seen(spending, 2 * spendingWindowMs)).toEqual([1, 1]);
  expect(seen(spending, 3 * spendingWindowMs)).toEqual([0, 0]);
});

test('the next window begins at the next access', () => {
  const spending = new Spending();
  spending.add(3, 10);
  const late = spendingWindowMs + 5_000;
  expect(spending.calls(late)).toBe(1);
  spending.add(4, late);
  expect(seen(spending, late + spendingWindowMs - 1)).toEqual([7, 2]);
  expect(seen(spending, late + spendingWindowMs)).toEqual([4, 1]);
});

test('the sum is zero after two windows without access', () => {
  const spending = new Spending();
  spending.add(3, 10);
  expect(spending.calls(2 * spendingWindowMs)).toBe(0);
  expect(spending.amount(2 * spendingWindowMs)).toBe(0);
  spending.add(4, 5 * spendingWindowMs);
  expect(seen(spending, 5 * spendingWindowMs)).toEqual([4, 1]);
});
