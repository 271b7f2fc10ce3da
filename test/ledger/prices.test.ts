import { describe, expect, test } from 'vitest';
import { Prices } from '../../server/ledger/prices.ts';

const groups = { default: { models: ['*'], ratio: 1 }, trial: { models: ['*'], ratio: 2.5 } };
const rules = { '*': 2, 'v*o*x*a': 13, 'alpha*': 3, 'alpha-tts*': 5, 'alpha-tts-2': 7, voxa: 11 } as const;

/** The same prices in the order in which they are written and in the other: it must not matter. */
const orders = [Object.entries(rules), Object.entries(rules).reverse()].map(
  (entries) => [entries.map(([pattern]) => pattern).join(', '), Object.fromEntries(entries)] as const,
);

describe.each(orders)('prices written as %s', (_, prices) => {
  const of = (id: string, group = 'default') => new Prices(prices, groups).rate(id, group);

  test.each([
    ['an exact id wins over every pattern', 'alpha-tts-2', 7],
    ['a longer pattern wins over a shorter one', 'alpha-tts-3', 5],
    ['a shorter one holds for the rest', 'alpha9', 3],
    ['the star alone holds for all others', 'beta', 2],
    ['an id without a star is that id only', 'voxa-2', 2],
  ])('%s', (_words, id, rate) => {
    expect(of(id)).toBe(rate);
    // Once known, it stays what it is.
    const known = new Prices(prices, groups);
    expect([known.rate(id, 'default'), known.rate('beta', 'default'), known.rate(id, 'default')]).toEqual([
      rate,
      2,
      rate,
    ]);
  });

  test('the ratio of a group multiplies, and a group that is not known has none', () => {
    // Its exact price, although a pattern that matches it is longer.
    expect([of('voxa', 'default'), of('voxa', 'trial'), of('voxa', 'gone')]).toEqual([11, 27.5, 11]);
  });
});

test('a model without a rule costs 1 a unit', () => {
  expect(new Prices({ voxa: 3 }, {}).rate('alpha', 'default')).toBe(1);
});

test('what was quoted holds when prices and groups change, and all else goes by the new ones', () => {
  const prices = new Prices({ voxa: 3 }, groups);
  const quoted = prices.quoted('voxa', 'trial');
  expect([quoted(0), quoted(1), quoted(2)]).toEqual([0, 8, 15]);
  prices.apply({ prices: { voxa: 4 }, groups: { trial: { models: ['*'], ratio: 1 } } });
  expect(quoted(2)).toBe(15);
  expect(prices.quoted('voxa', 'trial')(2)).toBe(8);
  expect(prices.rate('voxa', 'trial')).toBe(4);
});
