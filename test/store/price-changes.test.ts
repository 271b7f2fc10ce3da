import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { LoadedPrices } from '../../server/store/commands/price-changes.ts';
import { listChanges } from '../../server/store/queries/changes.ts';
import type { Store } from '../../server/store/store.ts';
import { engines, TestStore } from './engines.ts';
import { makeToken } from './ledger.ts';

describe.each(engines)('price changes on %s', (engine) => {
  let testStore: TestStore;
  let store: Store;
  let now = 1_000;
  beforeEach(async () => {
    testStore = await TestStore.make(engine);
    store = await testStore.open();
    now = 1_000;
  });
  afterEach(() => testStore.remove());

  const load = (prices: LoadedPrices['prices'], change: Partial<LoadedPrices> = {}, to = store) => {
    now += 1;
    const revision = `r${Object.values(prices)
      .map((price) => JSON.stringify(price))
      .join('')}`;
    return to.run('recordPrices', {
      revision,
      prices,
      ratios: { default: 1 },
      cause: 'start',
      now,
      ...change,
    });
  };
  const recorded = async () =>
    (await listChanges(store.read, { limit: 100, offset: 0 })).changes
      .map(({ details, ...change }) => ({ ...change, details: JSON.parse(details) as unknown }))
      .reverse();

  test('the first prices of a database are no change', async () => {
    await load({ '*': 1 });
    await load({ '*': 1 });
    expect(await recorded()).toEqual([]);
  });

  test('a change is one entry with the former and the new value of each name, by no user', async () => {
    await load({ '*': 1, gone: 5, same: 7 }, { ratios: { default: 1, old: 3 } });
    await load({ '*': 2, new: 4, same: 7 }, { ratios: { default: 1.5, trial: 2.5 }, cause: 'signal' });
    expect(await recorded()).toEqual([
      {
        id: expect.any(Number),
        user_id: null,
        user_name: '',
        token_id: null,
        cause: 'signal',
        action: 'changePrices',
        subject: 'prices',
        created_at: 1_002,
        details: {
          prices: { '*': { from: 1, to: 2 }, gone: { from: 5, to: null }, new: { from: null, to: 4 } },
          ratios: {
            default: { from: 1, to: 1.5 },
            old: { from: 3, to: null },
            trial: { from: null, to: 2.5 },
          },
          revision: { from: 'r157', to: 'r247' },
        },
      },
    ]);
  });

  test('a change of a group ratio alone is an entry', async () => {
    await load({ '*': 1 });
    await load({ '*': 1 }, { ratios: { default: 2 } });
    expect((await recorded()).map(({ details }) => details)).toMatchObject([
      { prices: {}, ratios: { default: { from: 1, to: 2 } } },
    ]);
  });

  test('the order of prices and another revision are no change', async () => {
    await load({ a: 1, b: 2 });
    await load({ b: 2, a: 1 }, { revision: 'other' });
    expect(await recorded()).toEqual([]);
  });

  test('a change that an admin requested has the admin and the request', async () => {
    const { userId, id: tokenId } = await makeToken(store);
    const request = {
      userId,
      tokenId,
      action: 'reloadConfiguration',
      subject: 'configuration',
      details: {},
      now,
    };
    await load({ '*': 1 });
    await load({ '*': 1 }, { cause: 'api', request });
    await load({ '*': 2 }, { cause: 'api', request });
    const by = { user_id: userId, token_id: tokenId, user_name: 'someone', cause: 'api' };
    expect(await recorded()).toMatchObject([
      { ...by, action: 'reloadConfiguration' },
      { ...by, action: 'reloadConfiguration' },
      { ...by, action: 'changePrices', details: { prices: { '*': { from: 1, to: 2 } } } },
    ]);
  });

  test('gateways with two files record each start that differs from the one before', async () => {
    for (const price of [1, 2, 2, 1, 1, 2]) await load({ '*': price });
    expect((await recorded()).map(({ details }) => details)).toMatchObject([
      { prices: { '*': { from: 1, to: 2 } } },
      { prices: { '*': { from: 2, to: 1 } } },
      { prices: { '*': { from: 1, to: 2 } } },
    ]);
  });
});

const shared = engines.filter((engine) => engine === 'postgres');

test.each(shared)(
  'gateways that load the same file at the same moment record one change on %s',
  async (engine) => {
    const testStore = await TestStore.make(engine);
    try {
      const stores = await Promise.all(Array.from({ length: 4 }, () => testStore.open()));
      const load = (price: number) =>
        Promise.all(
          stores.flatMap((store) =>
            [1, 2].map(() =>
              store.run('recordPrices', {
                revision: `r${price}`,
                prices: { '*': price },
                ratios: {},
                cause: 'start',
                now: 1,
              }),
            ),
          ),
        );
      for (let price = 1; price <= 6; price += 1) await load(price);
      const [store] = stores;
      const { total, changes } = await listChanges((store as Store).read, { limit: 10, offset: 0 });
      expect(total).toBe(5);
      expect(changes.map(({ details }) => JSON.parse(details) as unknown)).toMatchObject(
        [6, 5, 4, 3, 2].map((to) => ({ prices: { '*': { from: to - 1, to } } })),
      );
    } finally {
      await testStore.remove();
    }
  },
);
