import { expect, test } from 'vitest';
import { effectivePrices, type PriceSettings } from '../../server/settings/effective-prices.ts';
import { catalogueModels, sandboxModels } from '../../server/settings/served-models.ts';

const channel = (...ids: string[]): PriceSettings['channels'][number] => ({
  protocol: 'native',
  models: ids.map((id) => ({ id })),
});

test('without the sandbox the configured prices are all there are', () => {
  const prices = { voxa: 3 };
  expect(effectivePrices({ sandbox: false, prices, channels: [] })).toEqual(prices);
});

test('the sandbox adds a price of 1 for each of its models that has none', () => {
  const filledIn = effectivePrices({ sandbox: true, prices: { 'voxa-*': 3 }, channels: [] });
  expect(filledIn).toMatchObject({ 'voxa-*': 3, 'iota-chat-1': 1, vendorx_verification: 1 });
  expect(Object.keys(filledIn).filter((id) => id.startsWith('voxa'))).toEqual(['voxa-*']);
  expect(Object.keys(effectivePrices({ sandbox: true, prices: {}, channels: [] }))).toEqual(sandboxModels());
});

test('a written "*" leaves nothing to add', () => {
  expect(effectivePrices({ sandbox: true, prices: { '*': 5 }, channels: [] })).toEqual({ '*': 5 });
});

test('the sandbox adds no price for a model that a configured channel serves', () => {
  const filledIn = effectivePrices({ sandbox: true, prices: {}, channels: [channel('voxa-v2')] });
  expect(filledIn).not.toHaveProperty('voxa-v2');
  expect(filledIn).toHaveProperty('voxa-v1', 1);
  const others = effectivePrices({ sandbox: true, prices: {}, channels: [channel('*')] });
  const native = new Set(catalogueModels('native', '*'));
  expect(Object.keys(others)).toEqual(sandboxModels().filter((id) => !native.has(id)));
});
