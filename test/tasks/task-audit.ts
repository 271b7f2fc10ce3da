import { expect } from 'vitest';
import type { TokenRecord } from '../../server/store/queries/tokens.ts';
import { walletOf } from '../../server/store/queries/wallets.ts';
import type { Store } from '../../server/store/store.ts';
import { expectBalanced, logRows, reservationRows } from '../store/ledger.ts';
import { rate } from './node.ts';
import { type TaskUpstream, taskSeconds } from './task-upstream.ts';

export function taskRows(store: Store) {
  return store.read.selectFrom('tasks').selectAll().orderBy('request_id').execute();
}

/**
 * Checks that all tasks are final, none was submitted twice, and all quota is accounted for. `canDrop`: tasks that no
 * provider received may have been dropped and refunded.
 */
export async function expectConsistent(
  store: Store,
  upstream: TaskUpstream,
  token: { id: number; userId: number },
  quota: number,
  { canDrop = false }: { canDrop?: boolean } = {},
): Promise<void> {
  const keys = [...upstream.tasks.values()].map(({ key }) => key);
  expect(new Set(keys).size).toBe(keys.length);
  const tasks = await taskRows(store);
  expect(tasks.map(({ id }) => id)).toEqual(expect.arrayContaining(keys));
  const ids = tasks.map((task) => task.request_id);
  const log = await logRows(store);
  const dropped = log.filter(({ request_id: id }) => !ids.includes(id));
  for (const row of canDrop ? dropped : [])
    expect(row).toMatchObject({ status: 503, error_code: 'submission_interrupted' });
  const refunded = canDrop ? dropped.map(({ request_id: id }) => [id, 'refunded', null] as const) : [];
  const ended = tasks.map(({ request_id, state }) =>
    state === 'completed'
      ? ([request_id, 'settled', taskSeconds * rate] as const)
      : ([request_id, 'refunded', null] as const),
  );
  const expected = [...ended, ...refunded].toSorted(([left], [right]) => (left < right ? -1 : 1));
  const closed = await reservationRows(store);
  expect(closed.map(({ request_id, state, charged }) => [request_id, state, charged])).toEqual(expected);
  expect(log.map((row) => row.request_id).toSorted()).toEqual(expected.map(([id]) => id));
  await expectBalanced(store, { ...token, unlimitedQuota: false, remainQuota: quota } as TokenRecord);
  expect((await store.report('auditLedger', null)).problems).toEqual([]);
}

/** Checks that exactly the charges of final tasks were taken from a wallet of `quota`, the user's or its customer's, and count in all budgets. */
export async function expectExactWallet(store: Store, userId: number, quota: number): Promise<void> {
  const charged = (await logRows(store)).reduce((sum, row) => sum + row.quota, 0);
  const balances = { balance: quota - charged, reserved: 0, used: charged, debt: 0 };
  const users = store.read.selectFrom('users').select('parent_id').where('id', '=', userId);
  const { parent_id: parentId } = await users.executeTakeFirstOrThrow();
  expect(await walletOf(store.read, parentId ?? userId)).toMatchObject(balances);
  const budgets = await store.read.selectFrom('budgets').select(['spent', 'reserved']).execute();
  // Those of the key, of its user and of the customer of a sub-account.
  const count = parentId === null ? 2 : 3;
  expect(budgets).toEqual(Array.from({ length: count }, () => ({ spent: charged, reserved: 0 })));
}
