import { type Expression, type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely';
import { dayOf, onDaysOrUndated } from '../log-days.ts';
import { oneOf, rowsOf } from '../rows.ts';
import type { Database } from '../schema.ts';
import { isPostgres } from '../statement.ts';
import type { Viewer } from './visibility.ts';

export interface LogSearch extends Viewer {
  /** Text to look for; empty: everything is found. */
  keyword: string;
  /** Only entries from this time on, in Unix seconds. */
  start?: number | undefined;
  /** Only entries before this time, in Unix seconds. */
  end?: number | undefined;
  offset: number;
  limit: number;
}

/** A search among the entries of some keys; undefined: of all keys of the user. */
export type KeySearch = LogSearch & { keys: readonly number[] | undefined };

/** The keys and the models whose names have the keyword: an entry with one of either is found. */
export interface Names {
  tokens: readonly number[];
  models: readonly string[];
}

/** Numbers of entries that are counted together, as the migration has it. */
export const bucketSize = 2 ** 14;

interface CountedBucket extends BucketDays {
  bucket: number;
  entries: number;
}

/** Counts what the names find within the time of a search by bucket, the newest first; everything without names. */
export async function countedBuckets(
  db: Kysely<Database>,
  search: KeySearch,
  names: Names | undefined,
): Promise<CountedBucket[]> {
  const counts = db
    .selectFrom('log_counts as c')
    .where('c.user_id', '=', search.userId)
    .where(isOfKeys(db, 'c', search))
    .$if(names !== undefined, (query) => query.where(hasName(db, 'c', names)));
  const { start, end } = search;
  if (start === undefined && end === undefined)
    return counts
      .select(['bucket', sql<number>`sum(entries)`.as('entries'), ...daysOfBucket(db)])
      .groupBy('bucket')
      .orderBy('bucket', 'desc')
      .execute();
  // In most buckets all entries are within the time or none, so only those at its bounds are read.
  const [from, below] = [start ?? 0, end ?? Number.MAX_SAFE_INTEGER];
  const isInside = sql<SqlBool>`(c.first_at >= ${from} and c.last_at < ${below})`;
  const isOutside = sql<SqlBool>`(c.first_at is not null and (c.first_at >= ${below} or c.last_at < ${from}))`;
  const buckets = await counts
    .select(['bucket', ...daysOfBucket(db)])
    .select(sql<number>`sum(case when ${isInside} then entries else 0 end)`.as('entries'))
    .select(sql<number>`max(case when ${isInside} then 0 else 1 end)`.as('crosses'))
    .where(sql<SqlBool>`not ${isOutside}`)
    .groupBy('bucket')
    .orderBy('bucket', 'desc')
    .execute();
  const crossing = buckets.filter(({ crosses }) => crosses === 1).map(({ bucket }) => bucket);
  if (crossing.length === 0) return buckets;
  const days = onDaysOrUndated(db, dayOf(from * 1000), dayOf(below * 1000 - 1));
  const isWhole = names === undefined && search.keys === undefined;
  const read = isWhole
    ? await countBuckets(db, search, crossing, days)
    : await counts
        .crossJoin('request_log as l')
        .select(['c.bucket', sql<number>`count(*)`.as('entries')])
        .where(oneOf(db, sql.ref('c.bucket'), crossing))
        .where(sql<SqlBool>`not ${isOutside} and (c.first_at is null or not ${isInside})`)
        .where(isCounted)
        .where(days)
        .where(within(search))
        .groupBy('c.bucket')
        .execute();
  const found = new Map(read.map(({ bucket, entries }) => [bucket, entries]));
  return buckets
    .map((one) => {
      const entries = found.get(one.bucket) ?? 0;
      // Whole buckets were read, and of the others the rows that are not inside.
      const isRead = isWhole && one.crosses === 1;
      return { ...one, entries: isRead ? entries : one.entries + entries };
    })
    .filter(({ entries }) => entries > 0);
}

/** Counts all entries of a user in some buckets within the time of a search, in the order of their ids, which is the fastest. */
async function countBuckets(
  db: Kysely<Database>,
  search: LogSearch,
  buckets: readonly number[],
  days: RawBuilder<SqlBool>,
): Promise<{ bucket: number; entries: number }[]> {
  const given = buckets.map((bucket) => ({ bucket }));
  const { rows } = await sql<{ bucket: number; entries: number }>`
    select c.bucket, count(*) as entries from ${rowsOf(db, { bucket: 'bigint' }, given)} as c cross join request_log l
    where l.user_id = ${search.userId} and l.id >= c.bucket * ${sql.lit(bucketSize)}
      and l.id < (c.bucket + 1) * ${sql.lit(bucketSize)} and ${days} and ${within(search)}
    group by c.bucket`.execute(db);
  return rows;
}

/** That an entry `l` is one of those that a row `c` of the counts stands for. */
export const isCounted = sql<SqlBool>`(l.token_id = c.token_id and l.model_name = c.model_name
  and l.id >= c.bucket * ${sql.lit(bucketSize)} and l.id < (c.bucket + 1) * ${sql.lit(bucketSize)})`;

/** That an entry is within the time of a search. */
export function within({ start, end }: LogSearch): RawBuilder<SqlBool> {
  const from = start === undefined ? sql`` : sql`and created_at >= ${start}`;
  const below = end === undefined ? sql`` : sql`and created_at < ${end}`;
  return sql<SqlBool>`(true ${from} ${below})`;
}

interface BucketDays {
  first_day: number | null;
  last_day: number | null;
}

/** On PostgreSQL the counts know from which day to which one their entries are; null: of none. */
function daysOfBucket(db: Kysely<Database>) {
  const [first, last] = isPostgres(db)
    ? [sql<number | null>`min(first_day)`, sql<number | null>`max(last_day)`]
    : [sql<null>`null`, sql<null>`null`];
  return [first.as('first_day'), last.as('last_day')] as const;
}

/** That an entry is of one of the days that some buckets have. */
export function daysOf(db: Kysely<Database>, buckets: readonly BucketDays[]): RawBuilder<SqlBool> {
  const known = (days: readonly (number | null)[]) => days.filter((day) => day !== null);
  const first = known(buckets.map(({ first_day: day }) => day));
  const last = known(buckets.map(({ last_day: day }) => day));
  return onDaysOrUndated(db, Math.min(...first), Math.max(...last));
}

/** The buckets, from the newest, that a page lies in, and how many entries of the first one come before it. */
export function windowOf(
  buckets: readonly { bucket: number; entries: number }[],
  offset: number,
  limit: number,
): { first: number; last: number; skip: number } | undefined {
  let before = 0;
  let start: { first: number; skip: number } | undefined;
  for (const { bucket, entries: count } of buckets) {
    if (start === undefined && before + count > offset) start = { first: bucket, skip: offset - before };
    before += count;
    if (start !== undefined && before >= offset + limit) return { ...start, last: bucket };
  }
  return start && { ...start, last: buckets.at(-1)?.bucket ?? 0 };
}

/** Condition that an entry, or a count of entries, is of one of the keys. */
export function isOfKeys(
  db: Kysely<Database>,
  table: string,
  { keys }: Pick<KeySearch, 'keys'>,
): RawBuilder<SqlBool> {
  return keys === undefined ? sql<SqlBool>`1 = 1` : oneOf(db, sql.ref(`${table}.token_id`), keys);
}

export function hasName(db: Kysely<Database>, table: string, names: Names | undefined): Expression<SqlBool> {
  const { tokens, models } = names ?? { tokens: [], models: [] };
  const token = oneOf(db, sql.ref(`${table}.token_id`), tokens);
  const model = oneOf(db, sql.ref(`${table}.model_name`), models);
  return sql<SqlBool>`(${token} or ${model})`;
}
