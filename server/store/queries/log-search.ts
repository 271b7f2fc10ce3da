import { type Kysely, type RawBuilder, type Selectable, type SqlBool, sql } from 'kysely';
import { onDays } from '../log-days.ts';
import { oneOf } from '../rows.ts';
import type { Database, RequestLogTable } from '../schema.ts';
import { isPostgres } from '../statement.ts';
import { refundsOf, taskIdPattern } from './charges.ts';
import { familyOf } from './lineage.ts';
import {
  bucketSize,
  countedBuckets,
  daysOf,
  hasName,
  isCounted,
  isOfKeys,
  type KeySearch,
  type LogSearch,
  type Names,
  windowOf,
  within,
} from './log-counts.ts';

export type { LogSearch } from './log-counts.ts';

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
  'task_id',
  'state',
  'unit_price',
  'group_ratio',
] as const;

/** An entry of the log, as a search shows it. */
export type FoundEntry = Pick<Selectable<RequestLogTable>, (typeof columns)[number]> & {
  /** Quota that a refund gave back. */
  refunded: number;
};

export interface LogPage {
  entries: FoundEntry[];
  /** On all pages. */
  total: number;
}

/**
 * Returns a page of a user's entries, the newest first. A keyword matches anywhere in the key's name and the model's id,
 * case-insensitively, at the beginning of a request id when it has 16 characters or more, and a whole task id. Names are matched
 * here in the program, so that every engine finds the same; counts tell where the page begins.
 */
export async function searchLog(db: Kysely<Database>, search: LogSearch): Promise<LogPage> {
  const { entries: found, total } = await findPage(db, search);
  const refunds = await refundsOf(
    db,
    found.map(({ request_id: id }) => id),
  );
  const entries = found.map((entry) => ({ ...entry, refunded: refunds.get(entry.request_id) ?? 0 }));
  return { entries, total };
}

interface Page {
  entries: Omit<FoundEntry, 'refunded'>[];
  total: number;
}

async function findPage(db: Kysely<Database>, asked: LogSearch): Promise<Page> {
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

async function keysIn(db: Kysely<Database>, family: number): Promise<number[]> {
  const rows = await db.selectFrom('tokens').select('id').where('id', 'in', familyOf(family)).execute();
  return rows.map(({ id }) => id);
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

/** Finds the entries whose request id begins with the keyword, or whose task id it is, the newest first. */
async function idsLike(db: Kysely<Database>, search: KeySearch, keyword: string): Promise<Found[]> {
  const isTask = taskIdPattern.test(keyword);
  if (!isTask && !beginningOfId.test(keyword)) return [];
  const [from, below] = isPostgres(db) ? [sql.raw('~>=~'), sql.raw('~<~')] : [sql.raw('>='), sql.raw('<')];
  const id = sql.ref('request_id');
  const rows = await db
    .selectFrom('request_log')
    .select(['id', 'user_id', 'token_id', 'created_at'])
    .select((isPostgres(db) ? sql<number>`day` : sql<number>`0`).as('day'))
    // The tilde comes after every letter and digit. With more in the query, an engine may take a worse index.
    .where(
      isTask
        ? sql<SqlBool>`task_id = ${keyword}`
        : sql<SqlBool>`${id} ${from} ${keyword} and ${id} ${below} ${`${keyword}~`}`,
    )
    .execute();
  const { userId, keys, start = 0, end = Infinity } = search;
  const isSeen = (row: (typeof rows)[number]) =>
    row.user_id === userId &&
    keys?.includes(row.token_id) !== false &&
    row.created_at >= start &&
    row.created_at < end;
  return rows.filter(isSeen).sort((left, right) => right.id - left.id);
}

/** A page of what the names find; of everything without. */
async function pageOf(db: Kysely<Database>, search: KeySearch, names: Names | undefined): Promise<Page> {
  const { userId, keys, offset, limit } = search;
  if (names !== undefined && isEmpty(names)) return { entries: [], total: 0 };
  const buckets = await countedBuckets(db, search, names);
  const total = buckets.reduce((sum, { entries }) => sum + entries, 0);
  const window = windowOf(buckets, offset, limit);
  if (window === undefined) return { entries: [], total };
  const { first, last, skip } = window;
  const days = sql<SqlBool>`${daysOf(
    db,
    buckets.filter(({ bucket }) => bucket >= last && bucket <= first),
  )} and ${within(search)}`;
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

/** Meanwhile more may have come: a total is never less than what is shown. */
const told = (entries: Page['entries'], offset: number, total: number): Page => ({
  entries,
  total: Math.max(total, offset + entries.length),
});

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
    .where(isCounted)
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
): Promise<Page> {
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
  search: KeySearch,
  names: Names,
  begun: readonly Found[],
): Promise<Page> {
  const { userId, offset, limit } = search;
  const ids = begun.map(({ id }) => id);
  const found = db
    .selectFrom('request_log as c')
    .where('user_id', '=', userId)
    .where(isOfKeys(db, 'c', search))
    .where(sql<SqlBool>`(${hasName(db, 'c', names)} or ${oneOf(db, sql.ref('c.id'), ids)})`)
    .where(within(search));
  const { total } = await found.select(sql<number>`count(*)`.as('total')).executeTakeFirstOrThrow();
  if (offset >= total) return { entries: [], total };
  const page = found.select(columns).orderBy('id', 'desc').limit(limit).offset(offset);
  return told(await page.execute(), offset, total);
}

const entries = (db: Kysely<Database>) => db.selectFrom('request_log').select(columns);
