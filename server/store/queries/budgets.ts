import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { BudgetPeriod } from '../../lib/budget-period.ts';
import type { Db } from '../schema.ts';
import { allOf, countRows } from '../statement.ts';
import { seenBy } from './lineage.ts';
import { payersOfUser } from './users.ts';

export interface BudgetRecord {
  id: number;
  userId: number;
  /** null: all keys of the user. */
  tokenId: number | null;
  amount: number;
  period: BudgetPeriod;
  timeZone: string;
  hard: boolean;
  /** Percentages at which `budget.reached` is sent. */
  thresholds: readonly number[];
  periodStart: number;
  periodEnd: number;
  spent: number;
  reserved: number;
  createdAt: number;
}

/** Ids of a key and of the keys that it was created with, directly or indirectly. */
export const ancestorsOf = (tokenId: number): RawBuilder<number> => sql`(
  with recursive line (id, maker_id) as (
    select t.id, t.maker_id from tokens t where t.id = ${tokenId}
    union
    select t.id, t.maker_id from tokens t join line on t.id = line.maker_id
  )
  select id from line)`;

const select = (db: Db) =>
  db
    .selectFrom('budgets')
    .select([
      'id',
      'user_id as userId',
      'token_id as tokenId',
      'amount',
      'period',
      'time_zone as timeZone',
      'hard',
      'thresholds',
      'period_start as periodStart',
      'period_end as periodEnd',
      'spent',
      'reserved',
      'created_at as createdAt',
    ]);

type Row = Awaited<ReturnType<ReturnType<typeof select>['execute']>>[number];

const recordOf = ({ hard, thresholds, ...row }: Row): BudgetRecord => ({
  ...row,
  hard: hard === 1,
  thresholds: JSON.parse(thresholds) as number[],
});

/** Finds a budget. */
export async function findBudget(db: Db, id: number): Promise<BudgetRecord | undefined> {
  const row = await select(db).where('id', '=', id).executeTakeFirst();
  return row && recordOf(row);
}

interface BudgetSearch {
  userId?: number | undefined;
  tokenId?: number | undefined;
  offset: number;
  limit: number;
}

/** Returns a page of budgets, the newest first, and the number of budgets on all pages. */
export async function searchBudgets(
  db: Db,
  { userId, tokenId, offset, limit }: BudgetSearch,
): Promise<{ budgets: BudgetRecord[]; total: number }> {
  const conditions: RawBuilder<SqlBool>[] = [];
  if (userId !== undefined) conditions.push(sql<SqlBool>`user_id = ${userId}`);
  if (tokenId !== undefined) conditions.push(sql<SqlBool>`token_id = ${tokenId}`);
  const total = await countRows(db.selectFrom('budgets').where(allOf(conditions)));
  const rows = await select(db)
    .where(allOf(conditions))
    .orderBy('id', 'desc')
    .offset(offset)
    .limit(limit)
    .execute();
  return {
    budgets: rows.map(recordOf),
    total: Math.max(total, rows.length === 0 ? 0 : offset + rows.length),
  };
}

/** Lists the budgets that a viewer sees, the oldest first. A key with limits sees those of itself and of keys created with it. */
export async function listBudgetsOf(
  db: Db,
  { userId, family }: { userId: number; family?: number | undefined },
): Promise<BudgetRecord[]> {
  const isSeen = family === undefined ? sql<SqlBool>`1 = 1` : sql<SqlBool>`token_id in ${seenBy(family)}`;
  const rows = await select(db).where('user_id', '=', userId).where(isSeen).orderBy('id').execute();
  return rows.map(recordOf);
}

/** Lists the hard budgets that apply to a key. */
export async function hardBudgetsOf(db: Db, tokenId: number): Promise<BudgetRecord[]> {
  const rows = await select(db)
    .where('hard', '=', 1)
    .where(
      sql<SqlBool>`user_id in ${payersOfUser(sql`(select t.user_id from tokens t where t.id = ${tokenId})`)}`,
    )
    .where(({ or, eb }) => or([eb('token_id', 'is', null), eb('token_id', 'in', ancestorsOf(tokenId))]))
    .orderBy('id')
    .execute();
  return rows.map(recordOf);
}

/** Lists the budgets with charges in a period that has not ended. */
export async function spentBudgets(db: Db, now: number): Promise<BudgetRecord[]> {
  const rows = await select(db).where('spent', '>', 0).where('period_end', '>', now).orderBy('id').execute();
  return rows.map(recordOf);
}
