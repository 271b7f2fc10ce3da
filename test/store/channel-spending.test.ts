import { describe, expect, test } from 'vitest';
import type { Ledger } from '../../server/quota/ledger.ts';
import { sumChannelSpending } from '../../server/store/queries/channel-spending.ts';
import { readLogEnd } from '../../server/store/queries/figures.ts';
import type { TokenRecord } from '../../server/store/queries/tokens.ts';
import type { Store } from '../../server/store/store.ts';
import { eachTestOnEmptyLedger } from './empty-ledger.ts';
import { engines } from './engines.ts';
import { logEntry, makeToken } from './ledger.ts';

const today = Date.parse('2026-11-26T00:00:00Z');

describe.each(engines)('the spending of channels on %s', (engine) => {
  let store: Store;
  let ledger: Ledger;
  let now: number;
  let token: TokenRecord;
  let calls: number;
  eachTestOnEmptyLedger(
    engine,
    () => now,
    async (made) => {
      [now, calls] = [today, 0];
      ({ store, ledger } = made);
      token = await makeToken(store, { remainQuota: 10_000 });
    },
  );

  async function call(channel: string, charged: number, cost?: number): Promise<void> {
    const requestId = `call ${(calls += 1)}`;
    await ledger.reserve({ requestId, token, model: 'm', unit: 'characters', amount: charged });
    await ledger.settle({
      requestId,
      charged,
      log: { ...logEntry, channel, ...(cost !== undefined && { cost }) },
    });
  }
  const spent = async () => {
    const query = { channels: ['first', 'second'], since: today / 1_000 };
    const rows = await sumChannelSpending(store.read, query);
    return Object.fromEntries(rows.map(({ channel, quota }) => [channel, quota]));
  };

  test('is the cost of their calls, or the charge where no cost is known, before and after a roll-up', async () => {
    now = today - 1;
    await call('first', 1_000, 500);
    now = today;
    await call('first', 100, 30);
    await call('first', 100, 0);
    await call('first', 7);
    await call('second', 50);
    await call('third', 50);
    const sums = { first: 37, second: 50 };
    expect(await spent()).toEqual(sums);
    await expect
      .poll(async () => store.run('rollUpLog', { end: await readLogEnd(store.read), limit: 100 }))
      .toBeTypeOf('number');
    expect(await spent()).toEqual(sums);
    await call('second', 5, 60);
    expect(await spent()).toEqual({ first: 37, second: 110 });
  });
});
