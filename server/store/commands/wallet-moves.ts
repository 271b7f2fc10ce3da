import { sql } from 'kysely';
import { lockedRowsOf } from '../rows.ts';
import type { Db } from '../schema.ts';
import { execute, statement } from '../statement.ts';

// Every command locks users and leases before rows of the ledger, these before keys, and keys before wallets. It locks several rows of
// a table in the order of ids, so that no two commands deadlock.

/** Changes of a wallet. Absent: 0. */
export type WalletMove = Partial<Record<'balance' | 'leased' | 'used' | 'debt', number>>;

/** Adds up changes of wallets, to apply them last in a transaction. */
export class WalletMoves {
  readonly #sums = new Map<number, Required<WalletMove>>();

  /** `userId` null: no wallet is involved. */
  add(userId: number | null, { balance = 0, leased = 0, used = 0, debt = 0 }: WalletMove): void {
    if (userId === null) return;
    const sum = this.#sums.getOrInsertComputed(userId, () => ({ balance: 0, leased: 0, used: 0, debt: 0 }));
    sum.balance += balance;
    sum.leased += leased;
    sum.used += used;
    sum.debt += debt;
  }

  /** Applies the changes. Sends no statement without any. */
  async apply(trx: Db): Promise<void> {
    if (this.#sums.size === 0) return;
    const rows = [...this.#sums].map(([userId, { balance: remain, ...sums }]) => ({
      userId,
      remain,
      ...sums,
    }));
    const update = sql`
      update wallets set balance = wallets.balance + s.remain, leased = wallets.leased + s.leased,
        used = wallets.used + s.used, debt = wallets.debt + s.debt
      from ${lockedRowsOf(trx, 'wallets', rows)} as s where wallets.user_id = s.user_id`;
    await execute(trx, update, { prepared: true, pipelined: true });
  }
}

/** Changes one wallet. `userId` null: no wallet is involved. */
export async function moveInWallet(trx: Db, userId: number | null, move: WalletMove): Promise<void> {
  const moves = new WalletMoves();
  moves.add(userId, move);
  await moves.apply(trx);
}

const take = statement<{ userId: number; amount: number }>()`
  update wallets set balance = balance - ${'amount'} where user_id = ${'userId'} and balance >= ${'amount'}`;

/** Takes an amount from the balance of a wallet. False: it has less, and nothing is changed. */
export async function takeFromWallet(trx: Db, userId: number, amount: number): Promise<boolean> {
  const { numAffectedRows } = await take(trx, { userId, amount });
  return numAffectedRows === 1n;
}

/** Locks wallets in the order of ids. Returns their balances by user id. */
export async function lockWallets(trx: Db, userIds: Iterable<number>): Promise<Map<number, number>> {
  const ids = [...new Set(userIds)].map((userId) => ({ userId }));
  if (ids.length === 0) return new Map();
  const lock = sql<{ user_id: number; balance: number }>`
    update wallets set used = wallets.used from ${lockedRowsOf(trx, 'wallets', ids)} as s
    where wallets.user_id = s.user_id returning wallets.user_id, wallets.balance`;
  const { rows } = await execute(trx, lock, { prepared: true });
  return new Map(rows.map(({ user_id: id, balance }) => [id, balance]));
}
