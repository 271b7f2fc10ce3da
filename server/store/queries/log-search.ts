import { type RawBuilder, type Selectable, type SqlBool, sql } from 'kysely';
import { columnNames } from '../columns.ts';
import { onDays } from '../log-days.ts';
import { oneOf } from '../rows.ts';
import type { Db, RequestLogTable } from '../schema.ts';
import { countRows, isPostgres } from '../statement.ts';
import { refundsOf, taskIdPattern } from './charges.ts';
import { seenBy } from './lineage.ts';
import {
  bucketSize,
  countedBuckets,
  daysOf,
  hasName,
  isCounted,
  isOfFilter,
  isUnfiltered,
  type KeySearch,
  type LogSearch,
  type Names,
  windowAfter,
  windowOf,
  within,
} from './log-counts.ts';

export type { LogSearch } from './log-counts.ts';

const columns = columnNames(
  'id, user_id, request_id, token_name, model_name, unit, units, prompt_tokens, completion_tokens, quota, debt',
  'created_at, task_id, state, unit_price, price_rule, group_ratio, channel, duration_ms, token_id, operation',
  'status, error_code',
);

/** An entry of the log in the result of a search. */
export type FoundEntry = Pick<Selectable<RequestLogTable>, (typeof columns)[number]> & {
  /** Quota that a refund returned. */
  refunded: number;
};

/**
 * Returns a page of a user's entries, the newest first. A keyword matches a part of the key's name or the model's id (compared here, since
 * engines ignore case differently), a prefix of a request id of 16 or more characters, or a task id.
 */
export async function searchLog(
  db: Db,
  search: LogSearch,
): Promise<{ entries: FoundEntry[]; total: number }> {
  const { entries: found, total } = await findPage(db, search);
  const refunds = await refundsOf(db, found);
  const entries = found.map((entry) => ({ ...entry, refunded: refunds.get(entry.request_id) ?? 0 }));
  return { entries, total };
}

type Page = { entries: Omit<FoundEntry, 'refunded'>[]; total: number };

async function findPage(db: Db, request: LogSearch): Promise<Page> {
  const keyword = request.keyword.toLowerCase();
  const keys = await keysOf(db, request);
  const search = { ...request, keys };
  if (keyword === '') return pageOf(db, search, undefined);
  const names = await namesLike(db, search, keyword);
  const ids = await idsLike(db, search, keyword);
  if (ids.length === 0) return pageOf(db, search, names);
  if (names !== undefined && isEmpty(names)) return pageOfIds(db, search, ids);
  return names === undefined ? pageOf(db, search, undefined) : pageOfBoth(db, search, names, ids);
}

/** Returns the keys whose entries a search includes. Undefined: all keys of the user. */
async function keysOf(db: Db, { family, tokenId, memberId }: LogSearch): Promise<number[] | undefined> {
  if (family === undefined && memberId === undefined) return tokenId === undefined ? undefined : [tokenId];
  const rows = await db
    .selectFrom('tokens')
    .select('id')
    .$if(family !== undefined, (query) => query.where('id', 'in', seenBy(family ?? 0)))
    .$if(memberId !== undefined, (query) => query.where('member_id', '=', memberId ?? 0))
    .$if(tokenId !== undefined, (query) => query.where('id', '=', tokenId ?? 0))
    .execute();
  return rows.map(({ id }) => id);
}

const isEmpty = ({ tokens, models }: Names) => tokens.length + models.length === 0;

/** Finds the keys and models whose names contain the keyword. Undefined when this includes all entries of the user. */
async function namesLike(db: Db, search: KeySearch, keyword: string): Promise<Names | undefined> {
  const pairs = await db
    .selectFrom('log_counts as c')
    .leftJoin('tokens as t', 't.id', 'c.token_id')
    .select(['c.token_id', 't.name', 'c.model_name'])
    .distinct()
    .where('c.user_id', '=', search.userId)
    .where(isOfFilter(db, 'c', search))
    .execute();
  const isLike = (text: string | null) => text?.toLowerCase().includes(keyword) === true;
  const found = pairs.filter(({ name, model_name: model }) => isLike(name) || isLike(model));
  if (found.length === pairs.length) return undefined;
  return {
    tokens: [...new Set(found.filter(({ name }) => isLike(name)).map(({ token_id: id }) => id))],
    models: [...new Set(found.map(({ model_name: model }) => model))].filter(isLike),
  };
}

/** A prefix of a request id with at least its time, so that few ids have it. */
const requestIdPrefix = /^req_[0-9a-f]{12,32}(\.\d{0,9})?$/;

/** An entry. `day` is 0 on SQLite. */
type Found = { id: number; day: number };

/** Finds the entries whose request id begins with the keyword, or whose task id it is, the newest first. */
async function idsLike(db: Db, search: KeySearch, keyword: string): Promise<Found[]> {
  const isTask = taskIdPattern.test(keyword);
  if (!isTask && !requestIdPrefix.test(keyword)) return [];
  const [from, below] = isPostgres(db) ? [sql.raw('~>=~'), sql.raw('~<~')] : [sql.raw('>='), sql.raw('<')];
  const id = sql.ref('request_id');
  const rows = await db
    .selectFrom('request_log')
    .select(['id', 'user_id', 'token_id', 'model_name', 'state', 'created_at'])
    .select((isPostgres(db) ? sql<number>`day` : sql<number>`0`).as('day'))
    // The tilde sorts after all letters and digits. With more conditions, an engine can choose a worse index.
    .where(
      isTask
        ? sql<SqlBool>`task_id = ${keyword}`
        : sql<SqlBool>`${id} ${from} ${keyword} and ${id} ${below} ${`${keyword}~`}`,
    )
    .execute();
  const { userId, keys, model, state, start = 0, end = Infinity } = search;
  const isMatch = (row: (typeof rows)[number]) =>
    row.user_id === userId &&
    keys?.includes(row.token_id) !== false &&
    (model === undefined || row.model_name === model) &&
    (state === undefined || row.state === state) &&
    row.created_at >= start &&
    row.created_at < end;
  return rows.filter(isMatch).sort((left, right) => right.id - left.id);
}

/** Returns a page of the entries with these names, or of all entries. */
async function pageOf(db: Db, search: KeySearch, names: Names | undefined): Promise<Page> {
  const { userId, after, offset, limit } = search;
  if (names !== undefined && isEmpty(names)) return { entries: [], total: 0 };
  const buckets = await countedBuckets(db, search, names);
  const total = buckets.reduce((sum, { entries }) => sum + entries, 0);
  const window = windowIn(buckets, search);
  if (window === undefined) return { entries: [], total };
  const { first, last, skip } = window;
  const isOnDays = daysOf(
    db,
    buckets.filter(({ bucket }) => bucket >= last && bucket <= first),
  );
  const isInRange = sql<SqlBool>`${isOnDays} and ${within(search)} and ${isAfter(sql.ref('id'), after)}`;
  // The second query reads the entries by key and model. SQLite keeps the order of a cross join.
  const page =
    names === undefined && isUnfiltered(search)
      ? entries(db)
          .where('user_id', '=', userId)
          .where('id', '>=', last * bucketSize)
          .where('id', '<', (first + 1) * bucketSize)
          .where(isInRange)
          .orderBy('id', 'desc')
          .limit(limit)
          .offset(skip)
      : entries(db)
          .where('id', 'in', (query) =>
            query
              .selectFrom('log_counts as c')
              .crossJoin('request_log as l')
              .select('l.id')
              .where('c.user_id', '=', userId)
              .where('c.bucket', '>=', last)
              .where('c.bucket', '<=', first)
              .where(isOfFilter(db, 'c', search))
              .$if(names !== undefined, (counts) => counts.where(hasName(db, 'c', names)))
              .where(isCounted)
              .where(isInRange)
              .orderBy('l.id', 'desc')
              .limit(limit)
              .offset(skip),
          )
          .where(isInRange)
          .orderBy('id', 'desc');
  return pageWith(await page.execute(), offset, total);
}

/** Returns a page. Entries can have been added since they were counted, so the total is at least the number of returned ones. */
const pageWith = (entries: Page['entries'], offset: number, total: number): Page => ({
  entries,
  total: Math.max(total, offset + entries.length),
});

/** Returns a page of the entries that were found by their ids. */
async function pageOfIds(
  db: Db,
  { after = Infinity, offset, limit }: LogSearch,
  found: readonly Found[],
): Promise<Page> {
  const shown = found.filter(({ id }) => id < after).slice(offset, offset + limit);
  if (shown.length === 0) return { entries: [], total: found.length };
  const ids = shown.map(({ id }) => id);
  const days = shown.map(({ day }) => day);
  const page = entries(db)
    .where(oneOf(db, sql.ref('id'), ids))
    .where(onDays(db, Math.min(...days), Math.max(...days)))
    .orderBy('id', 'desc');
  return { entries: await page.execute(), total: found.length };
}

/** Returns a page of the entries with these names, and of those found by their ids. It is rare that a keyword matches both. */
async function pageOfBoth(db: Db, search: KeySearch, names: Names, others: readonly Found[]): Promise<Page> {
  const { userId, after, offset, limit } = search;
  const ids = others.map(({ id }) => id);
  const found = db
    .selectFrom('request_log as c')
    .where('user_id', '=', userId)
    .where(isOfFilter(db, 'c', search))
    .where(sql<SqlBool>`(${hasName(db, 'c', names)} or ${oneOf(db, sql.ref('c.id'), ids)})`)
    .where(within(search));
  const total = await countRows(found);
  if (offset >= total) return { entries: [], total };
  const page = found
    .where(isAfter(sql.ref('c.id'), after))
    .select(columns)
    .orderBy('id', 'desc')
    .limit(limit)
    .offset(offset);
  return pageWith(await page.execute(), offset, total);
}

/** Finds the buckets of a page, and the number of entries in the first bucket that precede it and are not read. */
function windowIn(buckets: Awaited<ReturnType<typeof countedBuckets>>, { after, offset, limit }: LogSearch) {
  if (after === undefined) return windowOf(buckets, offset, limit);
  const window = windowAfter(buckets, after, offset + limit);
  return window && { ...window, skip: offset };
}

/** Condition that an entry follows another one in a list, the newest first. */
const isAfter = (id: RawBuilder<unknown>, after: number | undefined): RawBuilder<SqlBool> =>
  after === undefined ? sql<SqlBool>`true` : sql<SqlBool>`${id} < ${after}`;

const entries = (db: Db) => db.selectFrom('request_log').select(columns);
