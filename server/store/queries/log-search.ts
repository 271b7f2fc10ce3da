import { type Expression, type Kysely, type RawBuilder, type Selectable, type SqlBool, sql } from 'kysely';
import { onDays, onDaysOrUndated } from '../log-days.ts';
import type { Database, RequestLogTable } from '../schema.ts';
import { isPostgres } from '../statement.ts';
import { familyOf } from './lineage.ts';
import type { Viewer } from './visibility.ts';

export interface LogSearch extends Viewer {
  /** Text to look for; empty: everything is found. */
  keyword: string;
  offset: number;
  limit: number;
}

const columns = [
  'id',
  'user_id',
  'request_id',
  'token_name',
  'model_name',
  'unit',
  'units',
  'prompt_tokens',
  'completion_tokens',
  'quota',
  'debt',
  'created_at',
] as const;

/** An entry of the log, as a search shows it. */
export type FoundEntry = Pick<Selectable<RequestLogTable>, (typeof columns)[number]>;

export interface LogPage {
  entries: FoundEntry[];
  /** On all pages. */
  total: number;
}

/** Numbers of entries that are counted together, as the migration has it. */
export const bucketSize = 2 ** 14;

/**
 * A page of a user's entries, the newest first. A keyword is found anywhere in the key's name and the model's id, in
 * upper and lower case alike, and at the beginning of a request id when it is 16 characters long. What is searched are
 * the few names, here in the program, so that every engine finds the same; counts tell where the page begins.
 */
export async function searchLog(db: Kysely<Database>, asked: LogSearch): Promise<LogPage> {
  const keyword = asked.keyword.toLowerCase();
  const keys = asked.family === undefined ? undefined : await keysIn(db, asked.family);
  const search = { ...asked, keys };
  if (keyword === '') return pageOf(db, search, undefined);
  const names = await namesLike(db, search, keyword);
  const ids = await idsLike(db, search, keyword);
  if (ids.length === 0) return pageOf(db, search, names);
  if (names !== undefined && isEmpty(names)) return pageOfIds(db, search, ids);
  return names === undefined ? pageOf(db, search, undefined) : pageOfBoth(db, search, names, ids);
}

/** A search among the entries of some keys; undefined: of all keys of the user. */
type KeySearch = LogSearch & { keys: readonly number[] | undefined };

async function keysIn(db: Kysely<Database>, family: number): Promise<number[]> {
  const rows = await db.selectFrom('tokens').select('id').where('id', 'in', familyOf(family)).execute();
  return rows.map(({ id }) => id);
}

/** Condition that an entry, or a count of entries, is of one of the keys. */
function isOfKeys(
  db: Kysely<Database>,
  table: string,
  { keys }: Pick<KeySearch, 'keys'>,
): RawBuilder<SqlBool> {
  return keys === undefined ? sql<SqlBool>`1 = 1` : oneOf(db, sql.ref(`${table}.token_id`), keys);
}

/** The keys and the models whose names have the keyword: an entry with one of either is found. */
interface Names {
  tokens: readonly number[];
  models: readonly string[];
}

const isEmpty = ({ tokens, models }: Names) => tokens.length + models.length === 0;

/** Undefined when all entries of the user are found by them. */
async function namesLike(
  db: Kysely<Database>,
  search: KeySearch,
  keyword: string,
): Promise<Names | undefined> {
  const pairs = await db
    .selectFrom('log_counts as c')
    .leftJoin('tokens as t', 't.id', 'c.token_id')
    .select(['c.token_id', 't.name', 'c.model_name'])
    .distinct()
    .where('c.user_id', '=', search.userId)
    .where(isOfKeys(db, 'c', search))
    .execute();
  const isLike = (text: string | null) => text?.toLowerCase().includes(keyword) === true;
  const found = pairs.filter(({ name, model_name: model }) => isLike(name) || isLike(model));
  if (found.length === pairs.length) return undefined;
  return {
    tokens: [...new Set(found.filter(({ name }) => isLike(name)).map(({ token_id: id }) => id))],
    models: [...new Set(found.map(({ model_name: model }) => model))].filter(isLike),
  };
}

/** At least the time within a request id, so that few have the same beginning. */
const beginningOfId = /^req_[0-9a-f]{12,32}(\.\d{0,9})?$/;

interface Found {
  id: number;
  /** 0 on SQLite. */
  day: number;
}

/** The entries whose request id begins with the keyword, the newest first. */
async function idsLike(db: Kysely<Database>, { userId, keys }: KeySearch, keyword: string): Promise<Found[]> {
  if (!beginningOfId.test(keyword)) return [];
  const [from, below] = isPostgres(db) ? [sql.raw('~>=~'), sql.raw('~<~')] : [sql.raw('>='), sql.raw('<')];
  const id = sql.ref('request_id');
  const rows = await db
    .selectFrom('request_log')
    .select(['id', 'user_id', 'token_id', (isPostgres(db) ? sql<number>`day` : sql<number>`0`).as('day')])
    // The tilde comes after every letter and digit. With more in the query, an engine may take a worse index.
    .where(sql<SqlBool>`${id} ${from} ${keyword} and ${id} ${below} ${`${keyword}~`}`)
    .execute();
  const isSeen = (row: { user_id: number; token_id: number }) =>
    row.user_id === userId && keys?.includes(row.token_id) !== false;
  return rows.filter(isSeen).sort((left, right) => right.id - left.id);
}

/** A page of what the names find; of everything without. */
async function pageOf(db: Kysely<Database>, search: KeySearch, names: Names | undefined): Promise<LogPage> {
  const { userId, keys, offset, limit } = search;
  if (names !== undefined && isEmpty(names)) return { entries: [], total: 0 };
  const buckets = await db
    .selectFrom('log_counts as c')
    .select(['bucket', sql<number>`sum(entries)`.as('entries'), ...daysOfBucket(db)])
    .where('user_id', '=', userId)
    .where(isOfKeys(db, 'c', search))
    .$if(names !== undefined, (query) => query.where(hasName(db, 'c', names)))
    .groupBy('bucket')
    .orderBy('bucket', 'desc')
    .execute();
  const total = buckets.reduce((sum, { entries }) => sum + entries, 0);
  const window = windowOf(buckets, offset, limit);
  if (window === undefined) return { entries: [], total };
  const { first, last, skip } = window;
  const days = daysOf(
    db,
    buckets.filter(({ bucket }) => bucket >= last && bucket <= first),
  );
  const page =
    names === undefined && keys === undefined
      ? entries(db)
          .where('user_id', '=', userId)
          .where('id', '>=', last * bucketSize)
          .where('id', '<', (first + 1) * bucketSize)
          .where(days)
          .orderBy('id', 'desc')
          .limit(limit)
          .offset(skip)
      : entries(db)
          .where('id', 'in', idsInBuckets(db, { userId, keys, names, first, last, skip, limit, days }))
          .where(days)
          .orderBy('id', 'desc');
  return told(await page.execute(), offset, total);
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
function daysOf(db: Kysely<Database>, buckets: readonly BucketDays[]): RawBuilder<SqlBool> {
  const known = (days: readonly (number | null)[]) => days.filter((day) => day !== null);
  const first = known(buckets.map(({ first_day: day }) => day));
  const last = known(buckets.map(({ last_day: day }) => day));
  return onDaysOrUndated(db, Math.min(...first), Math.max(...last));
}

/** Meanwhile more may have come: a total is never less than what is shown. */
const told = (entries: FoundEntry[], offset: number, total: number): LogPage => ({
  entries,
  total: Math.max(total, offset + entries.length),
});

/** The buckets, from the newest, that a page lies in, and how many entries of the first one come before it. */
function windowOf(
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

/** The numbers of a page of what the names find in some buckets, looked up by key and model. */
function idsInBuckets(
  db: Kysely<Database>,
  {
    userId,
    keys,
    names,
    first,
    last,
    skip,
    limit,
    days,
  }: {
    userId: number;
    keys: readonly number[] | undefined;
    names: Names | undefined;
    first: number;
    last: number;
    skip: number;
    limit: number;
    days: RawBuilder<SqlBool>;
  },
) {
  // SQLite keeps to the order of a cross join.
  return db
    .selectFrom('log_counts as c')
    .crossJoin('request_log as l')
    .select('l.id')
    .where('c.user_id', '=', userId)
    .where('c.bucket', '>=', last)
    .where('c.bucket', '<=', first)
    .where(isOfKeys(db, 'c', { keys }))
    .$if(names !== undefined, (query) => query.where(hasName(db, 'c', names)))
    .whereRef('l.token_id', '=', 'c.token_id')
    .whereRef('l.model_name', '=', 'c.model_name')
    .where(sql<SqlBool>`l.id >= c.bucket * ${sql.lit(bucketSize)}`)
    .where(sql<SqlBool>`l.id < (c.bucket + 1) * ${sql.lit(bucketSize)}`)
    .where(days)
    .orderBy('l.id', 'desc')
    .limit(limit)
    .offset(skip);
}

/** A page of some entries, of the user's own, the newest first. */
async function pageOfIds(
  db: Kysely<Database>,
  { offset, limit }: LogSearch,
  found: readonly Found[],
): Promise<LogPage> {
  const shown = found.slice(offset, offset + limit);
  const ids = shown.map(({ id }) => id);
  const days = shown.map(({ day }) => day);
  const page = entries(db)
    .where(oneOf(db, sql.ref('id'), ids))
    .where(onDays(db, Math.min(...days), Math.max(...days)))
    .orderBy('id', 'desc');
  return { entries: await page.execute(), total: found.length };
}

/** A page of what the names find and of some entries beside, which are few: hardly ever are there both. */
async function pageOfBoth(
  db: Kysely<Database>,
  { userId, keys, offset, limit }: KeySearch,
  names: Names,
  begun: readonly Found[],
): Promise<LogPage> {
  const ids = begun.map(({ id }) => id);
  const found = db
    .selectFrom('request_log as c')
    .where('user_id', '=', userId)
    .where(isOfKeys(db, 'c', { keys }))
    .where(sql<SqlBool>`(${hasName(db, 'c', names)} or ${oneOf(db, sql.ref('c.id'), ids)})`);
  const { total } = await found.select(sql<number>`count(*)`.as('total')).executeTakeFirstOrThrow();
  if (offset >= total) return { entries: [], total };
  const page = found.select(columns).orderBy('id', 'desc').limit(limit).offset(offset);
  return told(await page.execute(), offset, total);
}

const entries = (db: Kysely<Database>) => db.selectFrom('request_log').select(columns);

function hasName(db: Kysely<Database>, table: string, names: Names | undefined): Expression<SqlBool> {
  const { tokens, models } = names ?? { tokens: [], models: [] };
  const token = oneOf(db, sql.ref(`${table}.token_id`), tokens);
  const model = oneOf(db, sql.ref(`${table}.model_name`), models);
  return sql<SqlBool>`(${token} or ${model})`;
}

/** As one value, since there may be thousands. */
function oneOf(
  db: Kysely<Database>,
  column: RawBuilder<unknown>,
  values: readonly (number | string)[],
): RawBuilder<SqlBool> {
  if (isPostgres(db)) return sql<SqlBool>`${column} = any(${values})`;
  return sql<SqlBool>`${column} in (select value from json_each(${JSON.stringify(values)}))`;
}
