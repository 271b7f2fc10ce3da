import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { standardLimits } from '../../server/settings/database.ts';
import type { TokenRecord } from '../../server/store/queries/tokens.ts';
import type { Store } from '../../server/store/store.ts';
import { engines, onServer, TestStore } from './engines.ts';
import { logEntry, logRows, makeToken } from './ledger.ts';

describe.runIf(engines.includes('postgres'))('prepared statements on PostgreSQL', () => {
  let testStore: TestStore;
  let store: Store;
  let token: TokenRecord;
  let calls = 0;

  /** Opens the store with one connection, so that the tests see what commands prepare on it. */
  const open = () => testStore.open({ postgres: { ...standardLimits, connections: 1 } });

  beforeEach(async () => {
    testStore = await TestStore.make('postgres');
    store = await open();
    calls = 0;
    token = await makeToken(store, { remainQuota: 10_000 });
    await store.run('recordHeartbeat', { id: 'here', heartbeat: 0 });
    await grow(false);
  });
  afterEach(() => testStore.remove());

  const grow = (more = true) =>
    store.run('grantLease', {
      id: 'here.1',
      grow: more,
      tokenId: token.id,
      gateway: 'here',
      need: 1,
      want: 100,
      now: 1,
    });
  const book = (count: number) =>
    store.run('settleCalls', {
      calls: Array.from({ length: count }, () => ({
        requestId: `r${(calls += 1)}`,
        tokenId: token.id,
        userId: token.userId,
        model: 'm',
        unit: 'characters',
        lease: 'here.1',
        held: 2,
        charged: 1,
        returned: 0,
        endedAt: 1_000,
        log: logEntry,
      })),
    });
  const prepared = async () => {
    const { rows } = await sql<{ name: string; statement: string }>`
      select name, statement from pg_prepared_statements order by prepare_time, name`.execute(store.read);
    return rows;
  };
  const expectBooked = async (leased: number) => {
    expect(await logRows(store)).toHaveLength(calls);
    const key = store.read.selectFrom('tokens').select(['remain_quota', 'leased_quota', 'used_quota']);
    expect(await key.where('id', '=', token.id).executeTakeFirst()).toEqual({
      remain_quota: 10_000 - leased,
      leased_quota: leased - calls,
      used_quota: calls,
    });
  };

  test('are prepared once for each connection, however many rows they have', async () => {
    await book(1);
    const first = await prepared();
    expect(first.length).toBeGreaterThan(0);
    for (const { name } of first) expect(name).toMatch(/^unigate_/);
    for (const count of [1, 2, 30]) await book(count);
    expect(await prepared()).toEqual(first);
    await expectBooked(100);
  });

  test('are not used where a pooler lends another connection for each transaction', async () => {
    await book(3);
    expect(await prepared()).not.toEqual([]);
    // Like a pooler that does not support prepared statements.
    await sql`deallocate all`.execute(store.read);
    await book(3);
    expect(await prepared()).toEqual([]);
    await book(3);
    expect(await prepared()).toEqual([]);
    await expectBooked(100);
  });

  test('are not used where another gateway prepared them on a lent connection', async () => {
    await book(3);
    const others = await prepared();
    store = await open();
    for (const { name, statement } of others)
      await sql.raw(`prepare "${name}" as ${statement} -- theirs`).execute(store.read);
    const theirs = await prepared();
    await book(3);
    await book(3);
    expect(await prepared()).toEqual(theirs);
    await expectBooked(100);
  });

  test('are prepared again when a table changed the type of their results', async () => {
    expect(await grow()).toEqual({ outcome: 'granted', amount: 100 });
    const before = await prepared();
    await onServer((client) =>
      client.query(
        `alter table ${testStore.options.schema}.quota_leases alter column remaining type numeric,
          alter column unposted type numeric`,
      ),
    );
    expect(await grow()).toEqual({ outcome: 'granted', amount: 100 });
    expect(await grow()).toEqual({ outcome: 'granted', amount: 100 });
    await book(3);
    const after = await prepared();
    expect(after.length).toBeGreaterThan(before.length);
    const settled = after.length;
    await book(3);
    await grow();
    expect((await prepared()).length).toBe(settled);
    await expectBooked(500);
  });
});
