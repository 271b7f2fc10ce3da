import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { Ledger } from '../../server/quota/ledger.ts';
import { StoreUnavailable } from '../../server/store/availability.ts';
import type { TokenRecord } from '../../server/store/queries/tokens.ts';
import type { Store } from '../../server/store/store.ts';
import { ledgerRows, logEntry, makeToken } from '../store/books.ts';
import { TestStore } from '../store/engines.ts';

describe('a hold', () => {
  let testStore: TestStore;
  let store: Store;
  let token: TokenRecord;
  let ledger: Ledger;
  beforeEach(async () => {
    testStore = await TestStore.make('sqlite');
    store = await testStore.open();
    await store.run('beat', { id: 'one', beat: 0 });
    ledger = new Ledger(store, 'one');
    token = await makeToken(store, { remainQuota: 100 });
  });
  afterEach(() => testStore.remove());

  const hold = (requestId: string, amount: number, kind?: 'request' | 'task') =>
    ledger.reserve({
      requestId,
      token,
      model: 'voxa-v2',
      unit: 'characters',
      amount,
      ...(kind === undefined ? {} : { kind }),
    });

  test('is its gateway’s while a call lasts, and nobody’s when it is for a task, which outlives it', async () => {
    await hold('a call', 1);
    await hold('a call by name', 1, 'request');
    await hold('a task', 1, 'task');
    const rows = (await ledgerRows(store)).map(({ request_id, gateway }) => [request_id, gateway]);
    expect(Object.fromEntries(rows)).toEqual({ 'a call': 'one', 'a call by name': 'one', 'a task': null });
  });

  test.each([-1, 0.5, Number.NaN, 2 ** 53])('of %s is refused by name, as are its parts', async (wrong) => {
    const words = (name: string) => `${name} must be a whole number from 0 below 2^53, not ${wrong}`;
    await expect(hold('r', wrong)).rejects.toThrow(words('amount'));
    await hold('r', 5);
    const extend = (from: number, to: number) => ledger.extend({ requestId: 'r', from, to });
    await expect(extend(wrong, 6)).rejects.toThrow(words('from'));
    await expect(extend(5, wrong)).rejects.toThrow(words('to'));
    const settled = ledger.settle({ requestId: 'r', charged: wrong, log: logEntry });
    await expect(settled).rejects.toThrow(words('charged'));
  });

  test('is given back at once to whoever asks while the store is away, and in the books when it is there again', async () => {
    await hold('r', 5);
    const away = [new StoreUnavailable(new Error('away')), new StoreUnavailable(new Error('away'))];
    const flaky: Store = {
      ...store,
      run: (name, args) => {
        const failure = away.shift();
        return failure === undefined ? store.run(name, args) : Promise.reject(failure);
      },
    };
    expect(await new Ledger(flaky, 'one').refund({ requestId: 'r' })).toBe(true);
    await vi.waitFor(async () => expect(await ledgerRows(store)).toEqual([]), { timeout: 10_000 });
    expect(away).toEqual([]);
  });

  test('stays when the store refuses to give it back', async () => {
    const broken: Store = { ...store, run: () => Promise.reject(new Error('broken')) };
    await expect(new Ledger(broken, 'one').refund({ requestId: 'r' })).rejects.toThrow('broken');
  });

  test('cannot be lowered', async () => {
    await hold('r', 5);
    const lowered = ledger.extend({ requestId: 'r', from: 5, to: 4 });
    await expect(lowered).rejects.toThrow('a reservation cannot be lowered from 5 to 4');
  });
});
