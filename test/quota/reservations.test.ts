import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { Ledger } from '../../server/quota/ledger.ts';
import { StoreUnavailable } from '../../server/store/availability.ts';
import type { TokenRecord } from '../../server/store/queries/tokens.ts';
import type { Store } from '../../server/store/store.ts';
import { TestStore } from '../store/engines.ts';
import { ledgerRows, logEntry, makeToken } from '../store/ledger.ts';

describe('a reservation in the ledger', () => {
  let testStore: TestStore;
  let store: Store;
  let token: TokenRecord;
  let ledger: Ledger;
  beforeEach(async () => {
    testStore = await TestStore.make('sqlite');
    store = await testStore.open();
    await store.run('recordHeartbeat', { id: 'one', heartbeat: 0 });
    ledger = new Ledger(store, 'one');
    token = await makeToken(store, { remainQuota: 100 });
  });
  afterEach(() => testStore.remove());

  const reserve = (requestId: string, amount: number, kind?: 'request' | 'task') =>
    ledger.reserve({
      requestId,
      token,
      model: 'voxa-v2',
      unit: 'characters',
      amount,
      ...(kind === undefined ? {} : { kind }),
    });

  test('belongs to its gateway for a call, and to none for a task', async () => {
    await reserve('a call', 1);
    await reserve('a call by name', 1, 'request');
    await reserve('a task', 1, 'task');
    const rows = (await ledgerRows(store)).map(({ request_id, gateway }) => [request_id, gateway]);
    expect(Object.fromEntries(rows)).toEqual({ 'a call': 'one', 'a call by name': 'one', 'a task': null });
  });

  test.each([-1, 0.5, Number.NaN, 2 ** 53])(
    'of %s is refused with the name of the argument',
    async (wrong) => {
      const words = (name: string) => `${name} must be a whole number from 0 below 2^53, not ${wrong}`;
      await expect(reserve('r', wrong)).rejects.toThrow(words('amount'));
      await reserve('r', 5);
      const extend = (from: number, to: number) => ledger.extend({ requestId: 'r', from, to });
      await expect(extend(wrong, 6)).rejects.toThrow(words('from'));
      await expect(extend(5, wrong)).rejects.toThrow(words('to'));
      const settled = ledger.settle({ requestId: 'r', charged: wrong, log: logEntry });
      await expect(settled).rejects.toThrow(words('charged'));
    },
  );

  test('is refunded without delay while the store is unavailable, and written afterwards', async () => {
    await reserve('r', 5);
    const failures = [1, 2].map(() => new StoreUnavailable(new Error('unavailable')));
    const flaky: Store = {
      ...store,
      run: (name, args) => {
        const failure = failures.shift();
        return failure === undefined ? store.run(name, args) : Promise.reject(failure);
      },
    };
    expect(await new Ledger(flaky, 'one').refund({ requestId: 'r' })).toBe(true);
    await vi.waitFor(async () => expect(await ledgerRows(store)).toEqual([]), { timeout: 10_000 });
    expect(failures).toEqual([]);
  });

  test('stays open when its refund fails', async () => {
    const broken: Store = { ...store, run: () => Promise.reject(new Error('broken')) };
    await expect(new Ledger(broken, 'one').refund({ requestId: 'r' })).rejects.toThrow('broken');
  });

  test('cannot be lowered', async () => {
    await reserve('r', 5);
    const lowered = ledger.extend({ requestId: 'r', from: 5, to: 4 });
    await expect(lowered).rejects.toThrow('a reservation cannot be lowered from 5 to 4');
  });
});
