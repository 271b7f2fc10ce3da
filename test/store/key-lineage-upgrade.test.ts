import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { usable } from '../../server/keys/key-ring.ts';
import { listChanges } from '../../server/store/queries/changes.ts';
import { findTokenByHash } from '../../server/store/queries/tokens.ts';
import type { Store } from '../../server/store/store.ts';
import { engines, TestStore } from './engines.ts';
import { insertRows, runStatement } from './raw-rows.ts';

const past = 1;
const fields = {
  key_hint: '',
  unlimited_quota: 1,
  remain_quota: 0,
  used_quota: 0,
  created_time: 1,
};

/** Keys as a version that let them work without their creators left them, and who is to be their creator. */
const keys = [
  { id: 1, name: 'living root' },
  { id: 2, name: 'deleted', maker: 1, deleted: true },
  { id: 3, name: 'its child', maker: 2, expectedMaker: 1 },
  { id: 4, name: 'deleted, too', maker: 2, deleted: true },
  { id: 5, name: 'child of two deleted keys', maker: 4, expectedMaker: 1 },
  { id: 6, name: 'deleted root', deleted: true },
  { id: 7, name: 'its working child', maker: 6, expectedMaker: null },
  { id: 8, name: 'its disabled child', maker: 6, status: 2, expectedMaker: null },
  { id: 9, name: 'child of a disabled key', maker: 8, expectedMaker: null },
  { id: 10, name: 'expired', maker: 1, expires: past },
  { id: 11, name: 'child of an expired key', maker: 10, expectedMaker: 1 },
  { id: 12, name: 'disabled child of a disabled key', maker: 8, status: 2, expectedMaker: 8 },
  { id: 13, name: 'grandchild that works', maker: 11, expectedMaker: 11 },
] as const;
type Key = {
  id: number;
  name: string;
  maker?: number;
  deleted?: boolean;
  status?: number;
  expires?: number;
  expectedMaker?: number | null;
};

describe.each(engines)('an upgrade to keys that work only with their creators on %s', (engine) => {
  let testStore: TestStore;
  let store: Store;
  beforeAll(async () => {
    testStore = await TestStore.make(engine);
    const before = await testStore.open();
    const { id: user_id } = await before.run('createUser', { name: 'someone', group: 'default', now: 1 });
    await before.close();
    await runStatement(testStore, 'drop index tokens_maker');
    for (const table of ['assets', 'voices', 'verification_sessions'])
      await runStatement(testStore, `alter table ${table} drop column token_id`);
    await runStatement(testStore, "delete from schema_migrations where name = '0036-key-lineage'");
    const rows = (keys as readonly Key[]).map(({ id, name, maker, deleted, status = 1, expires = -1 }) => ({
      ...fields,
      user_id,
      id,
      name,
      key_hash: `hash ${id}`,
      status,
      expired_time: expires,
      maker_id: maker ?? null,
      deleted_at: deleted === true ? past : null,
    }));
    await insertRows(testStore, 'tokens', rows);
    store = await testStore.open();
  });
  afterAll(() => testStore.remove());

  test('stops no key that works, and moves each to the nearest key above it that works', async () => {
    const rows = await store.read.selectFrom('tokens').select(['id', 'maker_id']).orderBy('id').execute();
    const makers = new Map(rows.map((row) => [row.id, row.maker_id]));
    for (const { id, expectedMaker, maker = null, status = 1, expires, deleted } of keys as readonly Key[]) {
      expect(makers.get(id), `key ${id}`).toBe(expectedMaker === undefined ? maker : expectedMaker);
      if (deleted === true || status === 2 || expires !== undefined) continue;
      const token = await findTokenByHash(store.read, `hash ${id}`);
      expect(token !== undefined && usable(token, Date.now()), `key ${id}`).toBe(true);
    }
  });

  test('records which keys it moved, and from where', async () => {
    const { changes } = await listChanges(store.read, { action: 'upgrade', limit: 100, offset: 0 });
    const moved = changes.map(({ subject, details }) => [subject, JSON.parse(details) as unknown]);
    const expected = (keys as readonly Key[]).flatMap(({ id, maker, expectedMaker }) =>
      expectedMaker === undefined || expectedMaker === maker
        ? []
        : [[`token ${id}`, { created_by: { from: maker, to: expectedMaker } }]],
    );
    expect(moved.toReversed()).toEqual(expected);
  });
});
