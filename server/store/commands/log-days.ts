import { type RawBuilder, sql } from 'kysely';
import { isLockTimeout, StoreUnavailable } from '../availability.ts';
import { dayMs, dayOf, otherDays, partitionOf, readLogDays } from '../log-days.ts';
import { addToFigures } from '../log-figures.ts';
import { bucketSize } from '../queries/log-counts.ts';
import type { Db } from '../schema.ts';
import { isPostgres } from '../statement.ts';

/** The caller can retry later. `elsewhere`: another gateway does it now; `busy`: a long query reads the log. */
type Postponed = 'elsewhere' | 'busy';

/** How long a change of the partitions can block writers, in milliseconds. */
const lockTimeoutMs = 500;
/** Largest number of entries that are moved into a new partition, which blocks all writers. */
const maxMoved = 10_000;

/** Adds the missing partitions of a range of days, both ends included. Returns how many it added. SQLite has no partitions. */
export async function addLogDays(
  trx: Db,
  { first, last }: { first: number; last: number },
): Promise<number | Postponed> {
  if (!isPostgres(trx)) return 0;
  if (!(await lockPartitions(trx))) return 'elsewhere';
  const existing = new Set(await readLogDays(trx));
  const missing = Array.from({ length: last - first + 1 }, (_, index) => first + index).filter(
    (day) => !existing.has(day),
  );
  if (missing.length === 0) return 0;
  if (!(await acquired(trx, sql`lock table only request_log in share update exclusive mode`))) return 'busy';
  if (!(await acquired(trx, sql`lock table ${sql.table(otherDays)} in access exclusive mode`))) return 'busy';
  let added = 0;
  for (const day of missing) if (await addDay(trx, day)) added += 1;
  return added;
}

/** Adds the partition of a day. False when too many entries of the day are in the default partition, where they remain. */
async function addDay(trx: Db, day: number): Promise<boolean> {
  const [other, partition] = [sql.table(otherDays), sql.table(partitionOf(day))];
  const { rows } = await sql<{ entries: number }>`
    select count(*) as entries
    from (select 1 from ${other} where day = ${day} limit ${maxMoved + 1}) as e`.execute(trx);
  const { entries = 0 } = rows[0] ?? {};
  if (entries > maxMoved) return false;
  const begin = (day * dayMs) / 1000;
  await sql`
    create table ${partition} (like ${other} including defaults including indexes including storage,
      check (created_at >= ${sql.lit(begin)}
        and created_at < ${sql.lit(begin + dayMs / 1000)}))`.execute(trx);
  if (entries > 0) {
    await sql`
      create temporary table moved on commit drop as
      select * from ${other} where day = ${day}`.execute(trx);
    await sql`delete from ${other} where day = ${day}`.execute(trx);
  }
  const bounds = sql`from (${sql.lit(day)}) to (${sql.lit(day + 1)})`;
  await sql`alter table request_log attach partition ${partition} for values ${bounds}`.execute(trx);
  if (entries > 0) {
    await sql`insert into request_log select * from moved order by id`.execute(trx);
    await sql`drop table moved`.execute(trx);
  }
  return true;
}

/** Attempts to lock the whole log, and the pause between two, in seconds. */
const lockAttempts = 10;
const pauseSeconds = 0.2;

/** Drops the partition of a day and adds its entries to the sums by key and by hour. Returns the number of entries. */
export async function dropLogDay(
  trx: Db,
  { day, closedBefore }: { day: number; closedBefore: number },
): Promise<number | Postponed> {
  if (!isPostgres(trx)) return 0;
  if (day >= dayOf(closedBefore)) throw new RangeError(`day ${day} is within the retention time`);
  if (!(await lockPartitions(trx))) return 'elsewhere';
  if (!(await readLogDays(trx)).includes(day)) return 0;
  const name = partitionOf(day);
  const partition = sql.table(name);
  // Blocks writers of this partition only.
  if (!(await acquired(trx, sql`lock table ${partition} in share row exclusive mode`))) return 'busy';
  const { rows } = await sql<{ calls: number }>`select count(*) as calls from ${partition}`.execute(trx);
  await sql`
    insert into swept_totals (token_id, charged, spent, debt, wallet_spent, wallet_debt)
    select token_id, sum(quota), sum(case when unlimited = 1 then 0 else quota end), sum(debt),
      sum(quota * wallet), sum(debt * wallet) from ${partition}
    group by token_id having sum(quota) > 0 or sum(debt) > 0 order by token_id
    on conflict (token_id) do update
    set charged = swept_totals.charged + excluded.charged, spent = swept_totals.spent + excluded.spent,
      debt = swept_totals.debt + excluded.debt,
      wallet_spent = swept_totals.wallet_spent + excluded.wallet_spent,
      wallet_debt = swept_totals.wallet_debt + excluded.wallet_debt`.execute(trx);
  // The counts of the newest buckets follow under the lock of the log, since writers change the same rows.
  const { rows: newest } = await sql<{ bucket: number }>`
    select coalesce(max(id), 0) / ${sql.lit(bucketSize)} as bucket from request_log`.execute(trx);
  const live = ((newest[0]?.bucket ?? 0) - 1) * bucketSize;
  await lowerCounts(trx, name, 0, live);
  // Late, since this lock blocks the roll-up.
  const { rolled_to: mark } = await trx
    .selectFrom('log_figures_mark')
    .select('rolled_to')
    .forShare()
    .executeTakeFirstOrThrow();
  await addToFigures(trx, sql`id > ${mark}`, name);
  await lockLog(trx);
  await lowerCounts(trx, name, live, 2 ** 53);
  await sql`alter table request_log detach partition ${partition}`.execute(trx);
  await sql`drop table ${partition}`.execute(trx);
  return rows[0]?.calls ?? 0;
}

/** Subtracts the entries of a partition in a range of ids from the counts. */
async function lowerCounts(trx: Db, name: string, from: number, below: number): Promise<void> {
  await sql`
    update log_counts c set entries = c.entries - p.entries
    from (
      select user_id, id / ${sql.lit(bucketSize)} as bucket, token_id, model_name, state, count(*) as entries
      from ${sql.table(name)} where id >= ${from} and id < ${below} group by 1, 2, 3, 4, 5
    ) p
    where c.user_id = p.user_id and c.bucket = p.bucket and c.token_id = p.token_id
      and c.model_name = p.model_name and c.state = p.state`.execute(trx);
  await sql`
    delete from log_counts
    where entries = 0 and bucket >= ${from / bucketSize} and bucket < ${below / bucketSize}`.execute(trx);
}

/** Locks the log against all use. @throws StoreUnavailable when it remains in use */
async function lockLog(trx: Db): Promise<void> {
  for (let attempt = 1; attempt <= lockAttempts; attempt += 1) {
    if (await acquired(trx, sql`lock table only request_log in access exclusive mode`)) return;
    await sql`select pg_sleep(${pauseSeconds})`.execute(trx);
  }
  throw new StoreUnavailable(new Error('the log remained in use'));
}

/** Acquires a lock. False when that takes too long. */
async function acquired(trx: Db, lock: RawBuilder<unknown>): Promise<boolean> {
  await sql`savepoint unlocked`.execute(trx);
  try {
    await lock.execute(trx);
    return true;
  } catch (error) {
    if (!isLockTimeout(error)) throw error;
    await sql`rollback to savepoint unlocked`.execute(trx);
    return false;
  }
}

/** Locks the set of partitions until the end of the transaction. False when another gateway has the lock. */
async function lockPartitions(trx: Db): Promise<boolean> {
  const { rows } = await sql<{ locked: boolean }>`
    select pg_try_advisory_xact_lock(hashtext('request_log days'),
      hashtext(current_schema())) as locked`.execute(trx);
  if (rows[0]?.locked !== true) return false;
  await sql.raw(`set local lock_timeout = ${lockTimeoutMs}`).execute(trx);
  return true;
}
