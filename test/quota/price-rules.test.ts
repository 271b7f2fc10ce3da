import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Usage } from '../../server/models/usage.ts';
import { exactCost } from '../../server/quota/exact-sum.ts';
import {
  boundFigures,
  chooseRule,
  ruleCost,
  usageBounds,
  usageFigures,
  usageUnderRule,
} from '../../server/quota/price-rules.ts';
import { costOf, highestCost, Prices } from '../../server/quota/prices.ts';
import { type PriceRule, ruleProblems, unreachableRules } from '../../server/settings/price-rules.ts';

const video: PriceRule[] = [
  { when: { resolution: '1080p', audio: true }, per: { completion_tokens: 5.1 }, minimum: 1_000 },
  { when: { resolution: ['720p', '1080P'] }, per: { completion_tokens: 4 } },
  { when: { duration: { min: 6, max: 10 } }, per: { seconds: 3 } },
  { per: { units: 2 } },
];

describe('the first rule that applies is chosen', () => {
  test.each([
    ['by all of its conditions', { resolution: '1080P', audio: true }, 1],
    ['by one of several values', { resolution: '1080p', audio: false }, 2],
    ['by a range', { resolution: '480p', duration: 6 }, 3],
    ['by no condition', { resolution: '480p', duration: 11 }, 4],
    ['without any field', {}, 4],
  ])('%s', (_words, fields, number) => {
    expect(chooseRule(video, fields)?.number).toBe(number);
  });

  test('and none if none applies', () => {
    expect(chooseRule([{ when: { audio: true }, per: { units: 1 } }], {})).toBeUndefined();
  });
});

test('a cost is exact and rounded up once', () => {
  expect(exactCost([[100, 1.1]], 0, 1.1)).toBe(121);
  expect(
    exactCost(
      [
        [3, 0.1],
        [1, 0.7],
      ],
      0,
      1,
    ),
  ).toBe(1);
  expect(
    exactCost(
      [
        [3, 0.1],
        [1, 0.7],
        [1, 1e-9],
      ],
      0,
      1,
    ),
  ).toBe(2);
  expect(
    exactCost(
      [
        [1, 0.4],
        [1, 0.4],
      ],
      0,
      1,
    ),
  ).toBe(1);
  expect(exactCost([[1, 5e-324]], 0, 1)).toBe(1);
  expect(exactCost([], 10.5, 2)).toBe(21);
  expect(exactCost([[244_800, 5.1]], 1_000, 1)).toBe(1_248_480);
});

test.each([
  ['infinite', Number.POSITIVE_INFINITY],
  ['negative', -1],
  ['not a number', Number.NaN],
  ['too large', 2 ** 53],
])('a figure that is %s has no cost', (_words, figure) => {
  expect(() => exactCost([[figure, 1]], 0, 1)).toThrow(RangeError);
});

test('whole products equal those of big integers', () => {
  const factor = fc.nat(2 ** 20);
  fc.assert(
    fc.property(fc.array(fc.tuple(factor, factor), { maxLength: 4 }), factor, (products, minimum) => {
      const sum = products.reduce((total, [left, right]) => total + BigInt(left) * BigInt(right), 0n);
      const least = BigInt(minimum);
      expect(BigInt(exactCost(products, minimum, 1))).toBe(sum > least ? sum : least);
    }),
  );
});

const text: PriceRule = {
  per: { input_tokens: 3, cached_tokens: 0.3, cache_write_tokens: 3.75, output_tokens: 15 },
};

test('cached tokens have their own price, and without one count as input', () => {
  const usage = { units: 130, inputTokens: 100, outputTokens: 30, cachedTokens: 40, cacheWriteTokens: 10 };
  expect(usageFigures(text, usage)).toEqual({
    input_tokens: 50,
    cached_tokens: 40,
    cache_write_tokens: 10,
    output_tokens: 30,
  });
  expect(ruleCost(text, usageFigures(text, usage), 1)).toBe(Math.ceil(150 + 12 + 37.5 + 450));
  const plain: PriceRule = { per: { input_tokens: 3, output_tokens: 15 } };
  expect(usageFigures(plain, usage)).toEqual({ input_tokens: 100, output_tokens: 30 });
});

describe('the reserved cost', () => {
  test('takes all input at the price of its most expensive kind', () => {
    const bounds = usageBounds('tokens', 130, 30);
    expect(bounds).toEqual({ units: 130, inputTokens: 100, outputTokens: 30 });
    expect(boundFigures(text, bounds)).toEqual({
      input_tokens: 0,
      cached_tokens: 0,
      cache_write_tokens: 100,
      output_tokens: 30,
    });
  });

  test('without a bound of the output takes all tokens as input and as output', () => {
    expect(usageBounds('tokens', 130, undefined)).toEqual({
      units: 130,
      inputTokens: 130,
      outputTokens: 130,
    });
  });

  test('covers every usage within the bounds', () => {
    const price = fc.integer({ min: 0, max: 1_000 }).map((tenths) => tenths / 10);
    const rule = fc.record(
      {
        per: fc.record(
          {
            units: price,
            input_tokens: price,
            cached_tokens: price,
            cache_write_tokens: price,
            output_tokens: price,
          },
          { requiredKeys: [] },
        ),
        minimum: fc.nat(1_000),
      },
      { requiredKeys: ['per'] },
    );
    const part = fc.double({ min: 0, max: 1, noNaN: true });
    fc.assert(
      fc.property(rule, fc.nat(5_000), part, part, part, part, (one, most, output, used, cached, written) => {
        const maxOutputTokens = Math.floor(most * output);
        const outputTokens = Math.floor(maxOutputTokens * used);
        const inputTokens = Math.floor((most - maxOutputTokens) * used);
        const cachedTokens = Math.floor(inputTokens * cached);
        const cacheWriteTokens = Math.floor((inputTokens - cachedTokens) * written);
        const units = inputTokens + outputTokens;
        const terms = { unitPrice: null, rule: { number: 1, ...one }, groupRatio: 1.3 };
        const reserved = highestCost({ unit: 'tokens', units: most, maxOutputTokens }, terms);
        const usage = { units, inputTokens, outputTokens, cachedTokens, cacheWriteTokens };
        expect(costOf(usage, terms)).toBeLessThanOrEqual(reserved);
      }),
    );
  });
});

describe('a reported usage', () => {
  const bounds = { units: 5, inputTokens: 0, outputTokens: 100 };
  const [rule = text] = video;
  const charged = (reported: Partial<Usage>) => usageUnderRule(rule, reported, bounds);

  test('is charged as it is', () => {
    expect(charged({ units: 5, outputTokens: 90 })).toEqual({
      usage: { units: 5, inputTokens: 0, outputTokens: 90, cachedTokens: 0, cacheWriteTokens: 0 },
      replaced: [],
    });
  });

  test('may exceed the bounds up to four times', () => {
    expect(charged({ units: 20, outputTokens: 400 })).toMatchObject({
      usage: { units: 20, outputTokens: 400 },
      replaced: [],
    });
  });

  test.each([
    ['implausible', 401],
    ['negative', -1],
    ['not a number', Number.NaN],
    ['infinite', Number.POSITIVE_INFINITY],
    ['not whole', 1.5],
  ])('with a figure that is %s is charged at the bound', (_words, outputTokens) => {
    expect(charged({ units: 5, outputTokens })).toMatchObject({
      usage: { units: 5, outputTokens: 100 },
      replaced: ['outputTokens'],
    });
  });

  test('without a priced figure is charged at the bound', () => {
    expect(charged({})).toMatchObject({ usage: { units: 5, outputTokens: 100 }, replaced: [] });
  });

  test('of another rule is charged by the chosen rule', () => {
    const seconds: PriceRule = { per: { seconds: 2 } };
    const { usage } = usageUnderRule(seconds, { units: 4, outputTokens: 1e8 }, bounds);
    expect(usageFigures(seconds, usage)).toEqual({ seconds: 4 });
  });

  test.each([
    ['output', { inputTokens: 17, outputTokens: 900 }, { units: 37, inputTokens: 17, outputTokens: 20 }],
    ['input', { inputTokens: 9_000, outputTokens: 3 }, { units: 153, inputTokens: 150, outputTokens: 3 }],
    ['tokens', { inputTokens: 9_000, outputTokens: 900 }, { units: 170, inputTokens: 150, outputTokens: 20 }],
    ['output with plausible units', { inputTokens: 17, outputTokens: 81 }, { units: 37, outputTokens: 20 }],
  ])('with implausible %s has the sum of the tokens as units', (_words, tokens, expected) => {
    const most = { units: 170, inputTokens: 150, outputTokens: 20 };
    const per: PriceRule = { per: { input_tokens: 3, output_tokens: 15 } };
    const reported = { ...tokens, units: tokens.inputTokens + tokens.outputTokens };
    expect(usageUnderRule(per, reported, most).usage).toMatchObject(expected);
    const { usage } = usageUnderRule({ per: { tokens: 2 } }, { ...reported, units: 1e6 }, most);
    expect(usage.inputTokens + usage.outputTokens).toBe(170);
    expect(usage.units).toBe(170);
  });

  test('has no more cached tokens than input', () => {
    const most = { units: 100, inputTokens: 100, outputTokens: 100 };
    const reported = { units: 60, inputTokens: 50, outputTokens: 10, cachedTokens: 70, cacheWriteTokens: 9 };
    expect(usageUnderRule(text, reported, most).usage).toMatchObject({
      cachedTokens: 50,
      cacheWriteTokens: 0,
    });
    expect(usageUnderRule(text, { ...reported, cachedTokens: -3 }, most).usage).toMatchObject({
      cachedTokens: 0,
      cacheWriteTokens: 9,
    });
  });
});

describe('terms with a rule', () => {
  const groups = { default: { models: ['*'], ratio: 1.5 } };

  test('stay the same when the rules change', () => {
    const prices = new Prices({ prices: { 'gamma*': video }, groups, revision: 'a' });
    const terms = prices.terms('gamma3', 'default', () => ({ resolution: '720p' }));
    prices.apply({ prices: { 'gamma*': 7 }, groups, revision: 'b' });
    expect(terms).toMatchObject({
      unitPrice: null,
      rule: { number: 2 },
      groupRatio: 1.5,
      configRevision: 'a',
    });
    expect(costOf({ units: 5, inputTokens: 0, outputTokens: 10 }, terms)).toBe(60);
  });

  test('have a minimum, except for a usage of nothing', () => {
    const terms = { unitPrice: null, rule: { number: 1, per: { tokens: 1 }, minimum: 50 }, groupRatio: 2 };
    expect(costOf({ units: 10, inputTokens: 0, outputTokens: 0 }, terms)).toBe(100);
    expect(costOf({ units: 60, inputTokens: 0, outputTokens: 0 }, terms)).toBe(120);
    expect(costOf({ units: 0, inputTokens: 0, outputTokens: 0 }, terms)).toBe(0);
  });

  test('do not read the fields of a request for a model with one price', () => {
    const prices = new Prices({ prices: { gamma: 3 }, groups, revision: 'a' });
    const fields = () => {
      throw new Error('not needed');
    };
    expect(prices.terms('gamma', 'default', fields)).toMatchObject({ unitPrice: 3, rule: null });
    expect(prices.dependsOn('gamma', 'voice')).toBe(false);
  });
});

test('mistakes in rules are found', () => {
  expect(ruleProblems(video)).toEqual([]);
  expect(
    ruleProblems([
      { when: { duration: { min: 3, max: 2 } }, per: { units: 1 } },
      {},
      { when: { audio: true }, minimum: 1 },
    ]).map(({ at }) => at.join('.')),
  ).toEqual(['0.when.duration', '1', '2']);
});

describe('a rule never applies', () => {
  test.each([
    ['after one without conditions', [{ per: { units: 1 } }, { per: { units: 2 } }], [1]],
    [
      'after one with fewer conditions',
      [
        { when: { audio: true }, minimum: 1 },
        { when: { audio: true, resolution: '720p' }, minimum: 2 },
        { minimum: 3 },
      ],
      [1],
    ],
    [
      'after one with more values',
      [
        { when: { resolution: ['720p', '480P'] }, minimum: 1 },
        { when: { resolution: '480p' }, minimum: 2 },
        { minimum: 3 },
      ],
      [1],
    ],
    [
      'after one with a wider range',
      [
        { when: { duration: { max: 10 } }, minimum: 1 },
        { when: { duration: 5 }, minimum: 2 },
        { minimum: 3 },
      ],
      [1],
    ],
    ['except when it is wider', [...video], []],
  ] as const)('%s', (_words, rules, expected) => {
    expect(unreachableRules(rules as readonly PriceRule[]).map(({ index }) => index)).toEqual(expected);
  });
});
