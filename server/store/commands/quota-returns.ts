import { type Selectable, sql } from 'kysely';
import type { Db, TokensTable } from '../schema.ts';
import { execute } from '../statement.ts';
import { type BudgetedKey, chargeBudgets, lockBudgetsOf } from './budget-moves.ts';
import { lockWithFunders, returnLeftover } from './revocation.ts';
import { WalletMoves } from './wallet-moves.ts';

/** Where the quota of a lease or reservation came from. */
export interface QuotaOrigin {
  tokenId: number;
  /** 1: the key has no limit, so that the wallet alone gave it. */
  unlimited: 0 | 1;
  /** null: no wallet gave it. */
  walletId: number | null;
}

interface Returned {
  /** The part that returns. */
  returned: number;
  /** The part that was leased until now, including quota that tasks took out of the lease. */
  leased: number;
}

/** Adds up quota that returns to keys and wallets, and returns it in the order in which all commands lock these. */
export class QuotaReturns {
  readonly #keys = new Map<number, Returned>();
  readonly #wallets = new WalletMoves();
  /** By key and the last budget that included it. */
  readonly #budgets = new Map<string, { key: BudgetedKey; reserved: number }>();

  add({ tokenId, unlimited, walletId }: QuotaOrigin, { returned, leased }: Returned): void {
    this.#wallets.add(walletId, { balance: returned, leased: -leased });
    if (unlimited === 1) return;
    const sum = this.#keys.getOrInsertComputed(tokenId, () => ({ returned: 0, leased: 0 }));
    sum.returned += returned;
    sum.leased += leased;
  }

  /** Adds quota that was reserved in the budgets of a key. */
  addToBudgets(key: BudgetedKey, reserved: number): void {
    if (key.budgeted === 0) return;
    const { tokenId, userId, budgeted } = key;
    const sum = this.#budgets.getOrInsertComputed(`${tokenId} ${userId} ${budgeted}`, () => ({
      key,
      reserved: 0,
    }));
    sum.reserved += reserved;
  }

  async apply(trx: Db, now: number): Promise<void> {
    await lockWithFunders(trx, [...this.#keys.keys()], { deletedOnly: true });
    for (const [id, sum] of [...this.#keys].sort(([left], [right]) => left - right))
      await returnToKey(trx, id, sum, now);
    await this.#wallets.apply(trx);
    const budgets = [...this.#budgets.values()];
    await lockBudgetsOf(
      trx,
      budgets.map(({ key }) => key),
    );
    for (const { key, reserved } of budgets) await chargeBudgets(trx, key, { reserved, charged: 0 }, now);
  }
}

/** Returns quota to a key, and from a deleted key to its funder. */
async function returnToKey(trx: Db, tokenId: number, { returned, leased }: Returned, now: number) {
  const move = sql<Pick<Selectable<TokensTable>, 'deleted_at' | 'funder_id'>>`
    update tokens set remain_quota = remain_quota + ${returned}, leased_quota = leased_quota - ${leased}
    where id = ${tokenId} returning deleted_at, funder_id`;
  const { rows } = await execute(trx, move, { prepared: true });
  const [token] = rows;
  if (token !== undefined && token.deleted_at !== null && token.funder_id !== null)
    await returnLeftover(trx, tokenId, now);
}
