import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { chooseRule } from '../../server/quota/price-rules.ts';
import type { PricedRequest } from '../../server/quota/priced-request.ts';
import { costOf } from '../../server/quota/prices.ts';
import { chargeableUsage, highestUsage } from '../../server/quota/quote.ts';
import { reportedPrice, rulesForReports } from '../../server/quota/reported-price.ts';
import type { OpenFields, PriceFields, PriceRule } from '../../server/settings/price-rules.ts';

const rules: PriceRule[] = [
  { when: { reference_video: true }, per: { seconds: 1 } },
  { when: { resolution: '1080p' }, per: { seconds: 50 } },
  { when: { duration: { max: 5 }, audio: true }, per: { seconds: 90 } },
  { when: { ratio: '9:16' }, per: { seconds: 30 } },
  { per: { seconds: 20, completion_tokens: 0.001 } },
  { when: { audio: false }, per: { seconds: 1 } },
];
const fields: PriceFields = { resolution: '720p', duration: 10, audio: true, reference_video: false };
const request = (change: PriceFields = {}, openFields: OpenFields = {}, seconds = 10): PricedRequest => ({
  model: { id: 'v', unit: 'seconds' },
  expectedUnits: seconds,
  maxOutputTokens: 96_000,
  priceFields: () => ({ ...fields, duration: seconds, ...change }),
  openFields,
});
const termsOf = (list: PriceRule[], { priceFields }: PricedRequest) => ({
  unitPrice: null,
  rule: chooseRule(list, priceFields?.() ?? {}) ?? null,
  rules: list,
  groupRatio: 1,
});
const terms = (priced: PricedRequest) => termsOf(rules, priced);

describe('the reservation', () => {
  test('without open fields is for the rule of the request', () => {
    const priced = request();
    expect(highestUsage(priced, terms(priced))).toMatchObject({ rule: { number: 5 }, amount: 296 });
  });

  test.each<[string, OpenFields, number, number]>([
    ['a resolution', { resolution: ['480p', '720p', '1080p'] }, 2, 500],
    ['a ratio', { ratio: ['16:9', '9:16'] }, 4, 300],
    ['a length', { duration: [2, 10] }, 3, 450],
    ['all of them', { resolution: ['1080p'], ratio: ['9:16'], duration: [2, 10] }, 2, 500],
    ['a length that no rule has', { duration: [7, 10] }, 5, 296],
  ])(
    'is for the highest price over the values of %s that the provider chooses',
    (_, open, number, amount) => {
      const priced = request({}, open);
      expect(highestUsage(priced, terms(priced))).toMatchObject({ rule: { number }, amount });
    },
  );

  test('for a shorter length is for its seconds and tokens', () => {
    const list: PriceRule[] = [
      { when: { duration: { max: 5 } }, per: { completion_tokens: 10 } },
      { per: { completion_tokens: 1 } },
    ];
    const priced = request({}, { duration: [2, 10] });
    expect(highestUsage(priced, termsOf(list, priced))).toMatchObject({
      amount: 480_000,
      bounds: { units: 5, outputTokens: 48_000 },
    });
  });

  test('covers every video within its bounds', () => {
    const price = fc.nat(100);
    const some = <Value>(...values: Value[]) => fc.option(fc.constantFrom(...values), { nil: undefined });
    const condition = fc
      .record({
        resolution: some('480p', '720p', '1080p'),
        ratio: some('16:9', '9:16', '1:1'),
        duration: fc.option(
          fc
            .tuple(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 12 }))
            .map(([one, other]) => ({ min: Math.min(one, other), max: Math.max(one, other) })),
          { nil: undefined },
        ),
      })
      .map((when) => Object.fromEntries(Object.entries(when).filter(([, value]) => value !== undefined)));
    const per = fc.record({ seconds: price, completion_tokens: price }, { requiredKeys: ['seconds'] });
    const list = fc.tuple(
      fc.array(fc.record({ when: condition, per }), { maxLength: 5 }),
      fc.record({ per }),
    );
    const made = fc.record({
      resolution: fc.constantFrom('480p', '720p', '1080p'),
      ratio: fc.constantFrom('16:9', '9:16', '1:1'),
      units: fc.integer({ min: 2, max: 10 }),
    });
    const open = { resolution: ['480p', '720p', '1080p'], ratio: ['16:9', '9:16', '1:1'] };
    fc.assert(
      fc.property(list, made, ([first, last], { units, ...report }) => {
        const priced = request({ resolution: '1080p' }, { ...open, duration: [2, 10] });
        const requested = termsOf([...first, last], priced);
        const { terms: settled, bounds } = reportedPrice(priced, requested, { units }, report);
        const { usage } = chargeableUsage({ units }, settled, bounds);
        expect(costOf(usage, settled)).toBeLessThanOrEqual(highestUsage(priced, requested).amount);
      }),
    );
  });
});

describe('the settlement', () => {
  const settle = (units: number | undefined, report = {}, priced = request()) =>
    reportedPrice(priced, terms(priced), units === undefined ? {} : { units }, report);

  test.each<[string, number | undefined, object, number, object]>([
    ['another resolution', 10, { resolution: '1080P' }, 2, { resolution: '1080P' }],
    ['the same resolution in capitals', 10, { resolution: '720P' }, 5, {}],
    ['another ratio', 10, { ratio: '9:16' }, 4, { ratio: '9:16' }],
    ['a shorter video', 4.6, {}, 3, { duration: 5 }],
    ['a video of the rounded length', 10.4, {}, 5, {}],
    ['a video without sound', 4, { audio: false }, 5, { duration: 4, audio: false }],
    ['nothing', undefined, {}, 5, {}],
    ['no length', 0, {}, 5, {}],
    ['a length that is a fault', 41, { resolution: '1080p' }, 2, { resolution: '1080p' }],
    ['a negative length', -3, {}, 5, {}],
  ])('for %s is by rule with the reported values', (_, units, report, number, reported) => {
    expect(settle(units, report)).toMatchObject({ terms: { rule: { number } } });
    expect(settle(units, report).reported).toEqual(reported);
  });

  test('bounds the tokens by the reported resolution and length, except with an input video', () => {
    expect(settle(10, { resolution: '480p' }).bounds.outputTokens).toBe(45_000);
    expect(settle(5).bounds.outputTokens).toBe(48_000);
    expect(settle(5, {}, request({ reference_video: true })).bounds.outputTokens).toBe(96_000);
    expect(settle(5).bounds.units).toBe(10);
  });

  test('ignores a report whose price is 2^53 or more', () => {
    const priced = request();
    const list: PriceRule[] = [
      { when: { resolution: '1080p' }, per: { seconds: 2 ** 52 } },
      { per: { seconds: 1 } },
    ];
    const settled = reportedPrice(priced, termsOf(list, priced), { units: 10 }, { resolution: '1080p' });
    expect(settled).toMatchObject({ terms: { rule: { number: 2 } }, reported: {} });
  });

  test('without rules keeps the price and has the reported fields for the cost at the provider', () => {
    const priced = request();
    const plain = { unitPrice: 3, rule: null, groupRatio: 1 };
    const { fields: settled, ...price } = reportedPrice(priced, plain, { units: 7 }, { resolution: '1080p' });
    expect(settled).toMatchObject({ resolution: '1080p', duration: 7 });
    expect(price).toMatchObject({ terms: { unitPrice: 3, rule: null }, reported: {} });
  });

  test('of a model without videos ignores reports', () => {
    const priced: PricedRequest = { model: { id: 'm', unit: 'tracks' }, expectedUnits: 2 };
    expect(reportedPrice(priced, terms(priced), { units: 1 }).reported).toEqual({});
  });
});

test('only rules that a report can choose are stored, with their positions', () => {
  expect(rulesForReports(rules, fields).map(({ number }) => number)).toEqual([2, 3, 4, 5]);
  expect(rulesForReports(rules, { ...fields, reference_video: true })).toEqual([{ number: 1, ...rules[0] }]);
  const stored = rulesForReports(rules, fields);
  expect(rulesForReports(stored, fields)).toEqual(stored);
});
