import { type Expression, type RawBuilder, type SqlBool, sql } from 'kysely';
import { dayOf, onDays, onDaysOf } from '../log-days.ts';
import { oneOf, rowsOf } from '../rows.ts';
import type { Db, FinalState } from '../schema.ts';
import { allOf, equalities } from '../statement.ts';
import type { Viewer } from './visibility.ts';

export interface LogSearch extends Viewer {
  /** Empty: all entries match. */
  keyword: string;
  /** Only entries from this time on, in Unix seconds. */
  start?: number | undefined;
  /** Only entries before this time, in Unix seconds. */
  end?: number | undefined;
  model?: string | undefined;
  state?: FinalState | undefined;
  tokenId?: number | undefined;
  /** Only keys of this member, including deleted ones. */
  memberId?: number | undefined;
  /** Id of the entry that the page follows. The total also counts the entries before it. */
  after?: number | undefined;
  offset: number;
  limit: number;
}

/** A search among the entries of some keys. Undefined: all keys of the user. */
export type KeySearch = LogSearch & { keys: readonly number[] | undefined };

/** Keys and models whose names contain the keyword. An entry matches if it is of one of these keys or models. */
export interface Names {
  tokens: readonly number[];
  models: readonly string[];
}

/** Ids in a bucket, as in the triggers. */
export const bucketSize = 2 ** 14;

interface CountedBucket extends BucketTimes {
  bucket: number;
  entries: number;
}

/** Counts the entries that a search finds in each bucket, newest first. `names` undefined: all names match. */
export async function countedBuckets(
  db: Db,
  search: KeySearch,
  names: Names | undefined,
): Promise<CountedBucket[]> {
  const counts = db
    .selectFrom('log_counts as c')
    .where('c.user_id', '=', search.userId)
    .where(isOfFilter(db, 'c', search))
    .$if(names !== undefined, (query) => query.where(hasName(db, 'c', names)));
  const { start, end } = search;
  if (start === undefined && end === undefined)
    return counts
      .select(['bucket', sql<number>`sum(entries)`.as('entries'), ...timesOfBucket])
      .groupBy('bucket')
      .orderBy('bucket', 'desc')
      .execute();
  // In most buckets all entries are within the time or none, so only those at its bounds are read.
  const [from, below] = [start ?? 0, end ?? Number.MAX_SAFE_INTEGER];
  const isInside = sql<SqlBool>`(c.first_at >= ${from} and c.last_at < ${below})`;
  const isOutside = sql<SqlBool>`(c.first_at >= ${below} or c.last_at < ${from})`;
  const buckets = await counts
    .select(['bucket', ...timesOfBucket])
    .select(sql<number>`sum(case when ${isInside} then entries else 0 end)`.as('entries'))
    .select(sql<number>`max(case when ${isInside} then 0 else 1 end)`.as('crosses'))
    .where(sql<SqlBool>`not ${isOutside}`)
    .groupBy('bucket')
    .orderBy('bucket', 'desc')
    .execute();
  const crossing = buckets.filter(({ crosses }) => crosses === 1).map(({ bucket }) => bucket);
  if (crossing.length === 0) return buckets;
  const days = onDays(db, dayOf(from * 1000), dayOf(below * 1000 - 1));
  const isWhole = names === undefined && isUnfiltered(search);
  const read = isWhole
    ? await countBuckets(db, search, crossing, days)
    : await counts
        .crossJoin('request_log as l')
        .select(['c.bucket', sql<number>`count(*)`.as('entries')])
        .where(oneOf(db, sql.ref('c.bucket'), crossing))
        .where(sql<SqlBool>`not ${isOutside} and not ${isInside}`)
        .where(isCounted)
        .where(days)
        .where(within(search))
        .groupBy('c.bucket')
        .execute();
  const found = new Map(read.map(({ bucket, entries }) => [bucket, entries]));
  return buckets
    .map((one) => {
      const entries = found.get(one.bucket) ?? 0;
      // Either whole buckets were read, or only entries of counts that cross a bound.
      const isRead = isWhole && one.crosses === 1;
      return { ...one, entries: isRead ? entries : one.entries + entries };
    })
    .filter(({ entries }) => entries > 0);
}

/** Counts all entries of a user in some buckets within the time of a search, in the order of ids, which is fastest. */
async function countBuckets(
  db: Db,
  search: LogSearch,
  buckets: readonly number[],
  days: RawBuilder<SqlBool>,
): Promise<{ bucket: number; entries: number }[]> {
  const records = buckets.map((bucket) => ({ bucket }));
  const { rows } = await sql<{ bucket: number; entries: number }>`
    select c.bucket, count(*) as entries from ${rowsOf(db, records)} as c cross join request_log l
    where l.user_id = ${search.userId} and l.id >= c.bucket * ${sql.lit(bucketSize)}
      and l.id < (c.bucket + 1) * ${sql.lit(bucketSize)} and ${days} and ${within(search)}
    group by c.bucket`.execute(db);
  return rows;
}

/** Condition that a row `c` of the counts includes an entry `l`. */
export const isCounted = sql<SqlBool>`(l.token_id = c.token_id and l.model_name = c.model_name and l.state = c.state
  and l.id >= c.bucket * ${sql.lit(bucketSize)} and l.id < (c.bucket + 1) * ${sql.lit(bucketSize)})`;

/** Condition that an entry is within the time of a search. */
export function within({ start, end }: LogSearch): RawBuilder<SqlBool> {
  const from = start === undefined ? sql`` : sql`and created_at >= ${start}`;
  const below = end === undefined ? sql`` : sql`and created_at < ${end}`;
  return sql<SqlBool>`(true ${from} ${below})`;
}

interface BucketTimes {
  /** A range that has the times of its entries, in Unix seconds. */
  first_at: number;
  last_at: number;
}

const timesOfBucket = [
  sql<number>`min(first_at)`.as('first_at'),
  sql<number>`max(last_at)`.as('last_at'),
] as const;

/** Condition that an entry is of a day of these buckets, so that PostgreSQL reads only the partitions of these days. */
export function daysOf(db: Db, buckets: readonly BucketTimes[]): RawBuilder<SqlBool> {
  return onDaysOf(
    db,
    buckets.flatMap(({ first_at: first, last_at: last }) => [first * 1000, last * 1000]),
  );
}

/** Finds the buckets of a page, the newest first, and the number of entries of the first bucket that precede the page. */
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

/** Finds the buckets of the first `count` entries after an entry, which is in the first of them. */
export function windowAfter(
  buckets: readonly { bucket: number; entries: number }[],
  after: number,
  count: number,
): { first: number; last: number } | undefined {
  const first = Math.floor(after / bucketSize);
  const older = buckets.filter(({ bucket }) => bucket <= first);
  let found = 0;
  const end = older.find(({ bucket, entries }) => {
    // How many entries of its own bucket follow the entry is not counted.
    if (bucket < first) found += entries;
    return found >= count;
  });
  const last = (end ?? older.at(-1))?.bucket;
  return last === undefined ? undefined : { first, last };
}

type Filter = Pick<KeySearch, 'keys' | 'model' | 'state'>;

/** Whether a search includes the entries of all keys, models and states. */
export const isUnfiltered = ({ keys, model, state }: Filter): boolean =>
  keys === undefined && model === undefined && state === undefined;

/** Condition that an entry, or a count of entries, is of the keys, the model and the state of a search. */
export function isOfFilter(db: Db, table: string, { keys, model, state }: Filter): RawBuilder<SqlBool> {
  const conditions = equalities({ [`${table}.model_name`]: model, [`${table}.state`]: state });
  if (keys !== undefined) conditions.push(oneOf(db, sql.ref(`${table}.token_id`), keys));
  return allOf(conditions);
}

export function hasName(db: Db, table: string, names: Names | undefined): Expression<SqlBool> {
  const { tokens, models } = names ?? { tokens: [], models: [] };
  const token = oneOf(db, sql.ref(`${table}.token_id`), tokens);
  const model = oneOf(db, sql.ref(`${table}.model_name`), models);
  return sql<SqlBool>`(${token} or ${model})`;
}
