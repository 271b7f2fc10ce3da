import { type Selectable, type SqlBool, sql } from 'kysely';
import { periodAround } from '../../lib/budget-period.ts';
import { ancestorsOf } from '../queries/budgets.ts';
import { payersOfUser } from '../queries/users.ts';
import type { BudgetsTable, Db } from '../schema.ts';
import { isPostgres } from '../statement.ts';

// Every command locks budgets last, after the wallets, in the order of ids, also those of several keys.

/** The key of a reservation, and the budgets that include it: up to this id. */
export interface BudgetedKey {
  tokenId: number;
  userId: number;
  budgeted: number;
}

/** Adds an amount to the reserved part of the budgets of a key. False: a hard budget does not cover it, and nothing is changed. */
export async function takeFromBudgets(
  trx: Db,
  key: BudgetedKey,
  amount: number,
  now: number,
): Promise<boolean> {
  if (key.budgeted === 0) return true;
  const budgets = (await lockBudgets(trx, key)).map((budget) => inPeriodOf(budget, now));
  if (budgets.some((budget) => budget.hard === 1 && leftOfBudget(budget) < amount)) return false;
  for (const budget of budgets) await write(trx, { ...budget, reserved: budget.reserved + amount });
  return true;
}

/** Closes a reservation in the budgets of a key, and adds its charge to what they have spent. */
export async function chargeBudgets(
  trx: Db,
  key: BudgetedKey,
  { reserved, charged }: { reserved: number; charged: number },
  now: number,
): Promise<void> {
  if (key.budgeted === 0) return;
  for (const locked of await lockBudgets(trx, key)) {
    const budget = inPeriodOf(locked, now);
    await write(trx, {
      ...budget,
      reserved: Math.max(0, budget.reserved - reserved),
      spent: budget.spent + charged,
    });
  }
}

/**
 * Locks the budgets of several keys in the order of ids. A transaction that changes budgets of more than one key does this
 * first, since a later key can have budgets with lower ids.
 */
export async function lockBudgetsOf(trx: Db, keys: readonly BudgetedKey[]): Promise<void> {
  if (!isPostgres(trx) || keys.length < 2) return;
  const ids = new Set<number>();
  for (const key of keys) for (const { id } of await budgetsOf(trx, key).select('id').execute()) ids.add(id);
  await sql`select 1 from budgets where id = any(${[...ids]}) order by id for update`.execute(trx);
}

type Budget = Selectable<BudgetsTable>;

/** Returns what a budget has left in its period, at least 0. */
const leftOfBudget = ({ amount, spent, reserved }: Pick<Budget, 'amount' | 'spent' | 'reserved'>) =>
  Math.max(0, amount - spent - reserved);

/** Returns a budget in the period of a time. A time before its period, as of a clock that was set back, changes nothing. */
function inPeriodOf<
  Row extends Pick<Budget, 'period' | 'time_zone' | 'period_start' | 'period_end' | 'spent'>,
>(budget: Row, now: number): Row {
  if (now < budget.period_end) return budget;
  const { start, end } = periodAround(budget.period, budget.time_zone, now);
  return { ...budget, period_start: start, period_end: end, spent: 0 };
}

function lockBudgets(trx: Db, key: BudgetedKey): Promise<Budget[]> {
  return budgetsOf(trx, key)
    .selectAll()
    .orderBy('id')
    .$if(isPostgres(trx), (query) => query.forUpdate())
    .execute();
}

function budgetsOf(trx: Db, { tokenId, userId, budgeted }: BudgetedKey) {
  return trx
    .selectFrom('budgets')
    .where(sql<SqlBool>`user_id in ${payersOfUser(userId)}`)
    .where('id', '<=', budgeted)
    .where(({ or, eb }) => or([eb('token_id', 'is', null), eb('token_id', 'in', ancestorsOf(tokenId))]));
}

async function write(trx: Db, budget: Budget): Promise<void> {
  const { id, period_start: start, period_end: end, spent, reserved } = budget;
  await sql`update budgets set period_start = ${start}, period_end = ${end}, spent = ${spent}, reserved = ${reserved}
    where id = ${id}`.execute(trx);
}
