import { describe, expect, test } from 'vitest';
import { costOf, Prices } from '../../server/quota/prices.ts';

const groups = { default: { models: ['*'], ratio: 1 }, trial: { models: ['*'], ratio: 2.5 } };
const rules = { '*': 2, 'v*o*x*a': 13, 'alpha*': 3, 'alpha-tts*': 5, 'alpha-tts-2': 7, voxa: 11 } as const;

const usage = (units: number) => ({ units, inputTokens: 0, outputTokens: 0 });

const rateOf = (prices: Prices, id: string, group: string) => {
  const { unitPrice, groupRatio } = prices.terms(id, group);
  return (unitPrice ?? 0) * groupRatio;
};

/** The same prices in both orders, which must not matter. */
const orders = [Object.entries(rules), Object.entries(rules).reverse()].map(
  (entries) => [entries.map(([pattern]) => pattern).join(', '), Object.fromEntries(entries)] as const,
);

describe.each(orders)('prices written as %s', (_, prices) => {
  const of = (id: string, group = 'default') =>
    rateOf(new Prices({ prices, groups, revision: 'abc' }), id, group);

  test.each([
    ['an exact id wins over every pattern', 'alpha-tts-2', 7],
    ['a longer pattern wins over a shorter one', 'alpha-tts-3', 5],
    ['a shorter one applies to the rest', 'alpha9', 3],
    ['the star applies to all others', 'beta', 2],
    ['an id without a star matches that id only', 'voxa-2', 2],
  ])('%s', (_words, id, rate) => {
    expect(of(id)).toBe(rate);
    // The price is cached.
    const known = new Prices({ prices, groups, revision: 'abc' });
    expect([id, 'beta', id].map((one) => rateOf(known, one, 'default'))).toEqual([rate, 2, rate]);
  });

  test('the ratio of a group multiplies the price; the default is 1', () => {
    // The exact price wins, although a matching pattern is longer.
    expect([of('voxa', 'default'), of('voxa', 'trial'), of('voxa', 'gone')]).toEqual([11, 27.5, 11]);
  });
});

test('a model without a price is refused like an unknown one', () => {
  const prices = new Prices({ prices: { voxa: 3 }, groups: {}, revision: 'abc' });
  expect(() => prices.terms('alpha', 'default')).toThrow(
    expect.objectContaining({ status: 404, code: 'model_not_found' }),
  );
});

test('the terms of a call stay valid when a reload removes the price', () => {
  const prices = new Prices({ prices: { voxa: 3 }, groups, revision: 'before' });
  const terms = prices.terms('voxa', 'trial');
  prices.apply({ prices: {}, groups: {}, revision: 'after' });
  expect(costOf(usage(2), terms)).toBe(15);
});

test('the terms of a call stay the same when prices and groups change', () => {
  const prices = new Prices({ prices: { voxa: 3 }, groups, revision: 'before' });
  const terms = prices.terms('voxa', 'trial');
  expect([0, 1, 2].map((units) => costOf(usage(units), terms))).toEqual([0, 8, 15]);
  prices.apply({ prices: { voxa: 4 }, groups: { trial: { models: ['*'], ratio: 1 } }, revision: 'after' });
  expect(costOf(usage(2), terms)).toBe(15);
  expect(costOf(usage(2), prices.terms('voxa', 'trial'))).toBe(8);
  expect(rateOf(prices, 'voxa', 'trial')).toBe(4);
  expect([terms, prices.terms('voxa', 'trial')].map((one) => one.configRevision)).toEqual([
    'before',
    'after',
  ]);
});
