import { sql } from 'kysely';
import { type BudgetPeriod, periodAround } from '../../lib/budget-period.ts';
import { type BudgetRecord, findBudget } from '../queries/budgets.ts';
import { familyOf } from '../queries/lineage.ts';
import { idsOfAccounts } from '../queries/users.ts';
import type { Db } from '../schema.ts';
import { isPostgres } from '../statement.ts';
import { lockedKeys } from './balances.ts';
import { type Creation, differences, type Intent, type NewChange, recordChange } from './changes.ts';
import { lockUser } from './user-lock.ts';

interface NewBudget {
  /** The user, or the key, which must be one of the user if both are given. */
  owner: { userId: number } | { tokenId: number; userId?: number | undefined };
  amount: number;
  period: BudgetPeriod;
  timeZone: string;
  hard: boolean;
  thresholds: readonly number[];
  change: Creation;
}

/** Creates a budget, which includes the calls that begin from now on. `exists`: there is one of this period. */
export async function createBudget(
  trx: Db,
  { owner, amount, period, timeZone, hard, thresholds, change }: NewBudget,
): Promise<BudgetRecord | 'not_found' | 'exists'> {
  const tokenId = 'tokenId' in owner ? owner.tokenId : null;
  const userId = 'tokenId' in owner ? await ownerOf(trx, owner.tokenId) : await userExists(trx, owner.userId);
  if (userId === undefined || (owner.userId ?? userId) !== userId) return 'not_found';
  await lockUser(trx, userId, 'exclusive');
  const { now } = change;
  const { start, end } = periodAround(period, timeZone, now);
  const inserted = await trx
    .insertInto('budgets')
    .values({
      user_id: userId,
      token_id: tokenId,
      amount,
      period,
      time_zone: timeZone,
      hard: hard ? 1 : 0,
      thresholds: JSON.stringify(thresholds),
      period_start: start,
      period_end: end,
      spent: 0,
      reserved: 0,
      created_at: now,
    })
    .onConflict((conflict) => conflict.doNothing())
    .returning('id')
    .executeTakeFirst();
  if (inserted === undefined) return 'exists';
  const { id } = inserted;
  // Leases go back, because leased quota is not counted.
  await sql`
    update tokens set budgeted = ${id}, lease_epoch = lease_epoch + 1
    where id in ${lockedKeysOf(trx, userId, tokenId)}`.execute(trx);
  await recordChange(trx, { ...change, subject: `budget ${id}` });
  return existing(await findBudget(trx, id));
}

/** Ids of the keys that a budget covers, which are locked. */
const lockedKeysOf = (trx: Db, userId: number, tokenId: number | null) =>
  lockedKeys(
    trx,
    tokenId === null ? sql`user_id in ${idsOfAccounts(userId)}` : sql`id in ${familyOf(tokenId)}`,
  );

async function userExists(trx: Db, id: number): Promise<number | undefined> {
  return (await trx.selectFrom('users').select('id').where('id', '=', id).executeTakeFirst())?.id;
}

async function ownerOf(trx: Db, tokenId: number): Promise<number | undefined> {
  const token = trx
    .selectFrom('tokens')
    .select('user_id')
    .where('id', '=', tokenId)
    .where('deleted_at', 'is', null);
  return (await token.executeTakeFirst())?.user_id;
}

interface BudgetFields {
  amount?: number | undefined;
  hard?: boolean | undefined;
  thresholds?: readonly number[] | undefined;
}

/** Changes a budget. Its spending remains. */
export async function updateBudget(
  trx: Db,
  { id, set, change }: { id: number; set: BudgetFields; change: Intent },
): Promise<BudgetRecord | 'not_found'> {
  const before = await lockBudget(trx, id);
  if (before === undefined) return 'not_found';
  const fields = ({ amount, hard, thresholds }: BudgetRecord) => ({ amount, hard, thresholds });
  const from = fields(before);
  const to = {
    amount: set.amount ?? from.amount,
    hard: set.hard ?? from.hard,
    thresholds: set.thresholds ?? from.thresholds,
  };
  const details = differences(from, to);
  if (details === undefined) return before;
  await trx
    .updateTable('budgets')
    .set({ amount: to.amount, hard: to.hard ? 1 : 0, thresholds: JSON.stringify(to.thresholds) })
    .where('id', '=', id)
    .execute();
  await recordChange(trx, { ...change, subject: `budget ${id}`, details });
  return existing(await findBudget(trx, id));
}

/** Deletes a budget. False when it does not exist. */
export async function deleteBudget(
  trx: Db,
  { id, change }: { id: number; change: NewChange },
): Promise<boolean> {
  const found = await findBudget(trx, id);
  if (found === undefined) return false;
  const { userId, tokenId } = found;
  await lockUser(trx, userId, 'exclusive');
  if ((await findBudget(trx, id)) === undefined) return false;
  // Calls lock keys before budgets.
  await sql`
    update tokens set budgeted = coalesce((
      select max(b.id) from budgets b where b.id <> ${id}
        and b.user_id in (tokens.user_id, (select u.parent_id from users u where u.id = tokens.user_id))
        and (b.token_id is null or b.token_id in (
          with recursive line (id, maker_id) as (
            select k.id, k.maker_id from tokens k where k.id = tokens.id
            union
            select k.id, k.maker_id from tokens k join line on k.id = line.maker_id
          )
          select id from line))), 0)
    where id in ${lockedKeysOf(trx, userId, tokenId)}`.execute(trx);
  await trx.deleteFrom('budgets').where('id', '=', id).execute();
  await recordChange(trx, change);
  return true;
}

async function lockBudget(trx: Db, id: number): Promise<BudgetRecord | undefined> {
  if (isPostgres(trx))
    await trx.selectFrom('budgets').select('id').where('id', '=', id).forUpdate().execute();
  return findBudget(trx, id);
}

function existing(budget: BudgetRecord | undefined): BudgetRecord {
  if (budget === undefined) throw new Error('the written budget does not exist');
  return budget;
}
