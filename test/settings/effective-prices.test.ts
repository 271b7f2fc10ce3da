import { expect, test } from 'vitest';
import { effectivePrices, type PriceSettings } from '../../server/settings/effective-prices.ts';
import { catalogueModels, sandboxModels } from '../../server/settings/served-models.ts';

const channel = (...ids: string[]): PriceSettings['channels'][number] => ({
  protocol: 'native',
  models: ids.map((id) => ({ id })),
});

test('without the sandbox, only the configured prices exist', () => {
  const prices = { voxa: 3 };
  expect(effectivePrices({ sandbox: false, prices, channels: [] })).toEqual(prices);
});

test('the sandbox adds a price of 1 for each of its models without a price', () => {
  const prices = effectivePrices({ sandbox: true, prices: { 'voxa-*': 3 }, channels: [] });
  expect(prices).toMatchObject({ 'voxa-*': 3, 'iota-chat-1': 1, vendorx_verification: 1 });
  expect(Object.keys(prices).filter((id) => id.startsWith('voxa'))).toEqual(['voxa-*']);
  expect(Object.keys(effectivePrices({ sandbox: true, prices: {}, channels: [] }))).toEqual(sandboxModels());
});

test('with a configured "*", the sandbox adds no price', () => {
  expect(effectivePrices({ sandbox: true, prices: { '*': 5 }, channels: [] })).toEqual({ '*': 5 });
});

test('the sandbox adds no price for a model that a configured channel serves', () => {
  const prices = effectivePrices({ sandbox: true, prices: {}, channels: [channel('voxa-v2')] });
  expect(prices).not.toHaveProperty('voxa-v2');
  expect(prices).toHaveProperty('voxa-v1', 1);
  const others = effectivePrices({ sandbox: true, prices: {}, channels: [channel('*')] });
  const native = new Set(catalogueModels('native', '*'));
  expect(Object.keys(others)).toEqual(sandboxModels().filter((id) => !native.has(id)));
});
