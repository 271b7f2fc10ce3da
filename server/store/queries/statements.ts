import { type Selectable, sql } from 'kysely';
import { dayOf, onDays } from '../log-days.ts';
import { entryColumns, figureColumns } from '../log-figures.ts';
import { type Month, monthOf, nextMonth, startOfMonth } from '../months.ts';
import { quotaSum } from '../quota-sum.ts';
import { oneOf } from '../rows.ts';
import type { Db, WalletsTable } from '../schema.ts';
import { accountsOf } from './users.ts';

/** Quota of all keys of a user at one moment. Reserved quota counts as balance, because it is not charged yet. */
interface Standing {
  /** Balance of the wallet; without one, of the keys with a limit, except deleted ones. */
  balance: number;
  /** Cost of finished work that no quota covered. */
  debt: number;
}

/** The key of a line. Null: a grant to the wallet of the user, or the sum of all further lines. */
interface KeyOfLine {
  token_id: number | null;
  token_name: string | null;
}

interface StatementGrant extends KeyOfLine {
  /** Start of the day in UTC, in Unix seconds. Null with further lines. */
  day: number | null;
  reason: string | null;
  /** Below zero: taken back. */
  quota: number;
  /** Part that settled a debt. */
  debt_settled: number;
}

/** The member who has the key of a line. Null: the user itself. */
interface MemberOfLine {
  member_id: number | null;
  member_name: string | null;
}

interface StatementCharge extends KeyOfLine, MemberOfLine {
  model: string | null;
  unit: string | null;
  units: number | null;
  requests: number;
  quota: number;
  /** Part that was taken from balances. */
  spent: number;
  debt: number;
}

interface StatementRefund extends KeyOfLine, MemberOfLine {
  model: string | null;
  quota: number;
  /** Part that returned to balances. */
  credited: number;
}

/** Charges and refunds of a member. */
type StatementMember = MemberOfLine & Sums;

interface Sums {
  requests: number;
  quota: number;
  spent: number;
  debt: number;
  refunded: number;
  credited: number;
}

/** Charges and refunds of the user or of a sub-account. */
interface StatementAccount extends Sums {
  account_id: number;
  account_name: string;
}

/**
 * Changes of the quota of a user in a month, including its sub-accounts:
 * `opening.balance + corrections.balance + grants.quota - grants.debt_settled + refunds.credited - charges.spent
 * - forfeited = closing.balance`, and
 * `opening.debt + corrections.debt + charges.debt - grants.debt_settled = closing.debt`.
 */
export interface Statement {
  month: Month;
  /** Unix seconds. `until` is excluded. */
  since: number;
  until: number;
  user: { id: number; name: string };
  /** Whether the month is closed, so that the statement never changes. */
  final: boolean;
  opening: Standing;
  /** Entries of earlier months that were recorded after these were closed. */
  corrections: Standing;
  grants: { quota: number; debt_settled: number; items: StatementGrant[] };
  charges: { requests: number; quota: number; spent: number; debt: number; items: StatementCharge[] };
  refunds: { quota: number; credited: number; items: StatementRefund[] };
  /** Balance of deleted keys that no other key received. */
  forfeited: number;
  closing: Standing;
  /** Sums by user and sub-account. */
  accounts: StatementAccount[];
  /** Sums by member. */
  members: StatementMember[];
}

/** The months of a user that are stored, and the range of those that can be calculated. */
export interface StatementMonths {
  first: Month;
  /** The last closed month. Null: none is closed. */
  closed: Month | null;
}

/** Largest number of lines of a kind. A further line has the sum of the others. */
const maxLines = 10_000;

/** Returns the months with statements. Undefined: there is no such user. */
export async function statementMonths(
  db: Db,
  { userId }: { userId: number },
): Promise<StatementMonths | undefined> {
  const { rows } = await sql<{ created: number; first: number | null; closed: Month | null }>`
    select u.created_at as created, (
      select min(at) from (
        select min(hour) * 1000 as at from log_figures where user_id = ${userId}
        union all select min(first_at) * 1000 from log_counts where user_id = ${userId}
        union all select min(created_at) from wallet_grants where user_id = ${userId}
        union all select min(g.created_at) from tokens t join grants g on g.token_id = t.id where t.user_id = ${userId}
      ) as activity
    ) as first, (select max(month) from statements where user_id = ${userId}) as closed
    from users u where u.id = ${userId}`.execute(db);
  const [row] = rows;
  if (row === undefined) return undefined;
  const { created, first, closed } = row;
  return { first: monthOf(first ?? created), closed };
}

/** Reads the statement of a closed month. */
export async function closedStatement(
  db: Db,
  { userId, month }: { userId: number; month: Month },
): Promise<Statement | undefined> {
  const row = await db
    .selectFrom('statements')
    .select('content')
    .where('user_id', '=', userId)
    .where('month', '=', month)
    .executeTakeFirst();
  return row && (JSON.parse(row.content) as Statement);
}

interface StatementQuery {
  userId: number;
  month: Month;
  /** Whether the month is over and all its calls are recorded. */
  final: boolean;
}

/** Calculates a statement. It starts with the closing balance of the month before, if that is closed. Needs a snapshot. */
export async function calculateStatement(db: Db, query: StatementQuery): Promise<Statement> {
  const { userId, month, final } = query;
  const { parent_id: parentId, ...user } = await db
    .selectFrom('users')
    .select(['id', 'name', 'parent_id'])
    .where('id', '=', userId)
    .executeTakeFirstOrThrow();
  const range = {
    userId,
    users: await accountsOf(db, userId),
    hasBalance: parentId === null,
    since: startOfMonth(month),
    until: startOfMonth(nextMonth(month)),
  };
  const before = monthOf((range.since - 1) * 1_000);
  const earlier = await closedStatement(db, { userId, month: before });
  const ledgerBefore = await standingAt(db, range, range.since);
  const opening = earlier?.closing ?? ledgerBefore;
  const closing = await standingAt(db, range, range.until);
  const names = await namesOfLines(db, range);
  const namesOf = (id: number | null) =>
    id === null ? noNames : (names.get(id) ?? { ...noNames, token_name: '' });
  const keyOf = (id: number | null) => ({ token_name: namesOf(id).token_name });
  const grants = sumOf(await grantsIn(db, range), ['quota', 'debt_settled'], keyOf);
  const charges = sumOf(await chargesIn(db, range), ['requests', 'quota', 'spent', 'debt'], namesOf);
  const refunds = sumOf(await refundsIn(db, range), ['quota', 'credited'], namesOf);
  const corrections = {
    balance: ledgerBefore.balance - opening.balance,
    debt: ledgerBefore.debt - opening.debt,
  };
  const forfeited =
    ledgerBefore.balance +
    grants.quota -
    grants.debt_settled +
    refunds.credited -
    charges.spent -
    closing.balance;
  return {
    month,
    since: range.since,
    until: range.until,
    user,
    final,
    opening,
    corrections,
    grants,
    charges,
    refunds,
    forfeited,
    closing,
    accounts: await accountsIn(db, range),
    members: await membersIn(db, range),
  };
}

/** The users of a statement. */
interface Owners {
  userId: number;
  /** The user and its sub-accounts. */
  users: readonly number[];
  /** False: it is a sub-account, which has no balance. */
  hasBalance: boolean;
}

interface Range extends Owners {
  /** Unix seconds, each the start of an hour. */
  since: number;
  until: number;
}

/** The figures of a user, including entries that are not rolled up yet. */
const figuresOf = (db: Db, { users, since, until }: Pick<Range, 'users' | 'since' | 'until'>) => sql`(
  select ${figureColumns} from log_figures where ${oneOf(db, sql.ref('user_id'), users)} and hour >= ${since} and hour < ${until}
  union all
  select ${entryColumns} from request_log
  where ${oneOf(db, sql.ref('user_id'), users)} and id > (select rolled_to from log_figures_mark)
    and created_at >= ${since} and created_at < ${until}
    and ${onDays(db, dayOf(since * 1_000), dayOf(until * 1_000 - 1))})`;

/** Calculates balance and debt of a user at a time from all that happened before it. */
async function standingAt(db: Db, { userId, users, hasBalance }: Owners, until: number): Promise<Standing> {
  if (!hasBalance) return { balance: 0, debt: 0 };
  const wallet = await openedWallet(db, userId);
  const isOpen = wallet !== undefined && wallet.opened_at < until * 1_000;
  return isOpen ? standingOfWallet(db, wallet, users, until) : standingOfKeys(db, userId, until);
}

type OpenedWallet = Pick<Selectable<WalletsTable>, 'user_id' | 'opened_at' | 'debt_taken_over'>;

function openedWallet(db: Db, userId: number): Promise<OpenedWallet | undefined> {
  return db
    .selectFrom('wallets')
    .select(['user_id', 'opened_at', 'debt_taken_over'])
    .where('user_id', '=', userId)
    .executeTakeFirst();
}

async function standingOfWallet(
  db: Db,
  { user_id: userId, debt_taken_over: debtTakenOver }: OpenedWallet,
  users: readonly number[],
  until: number,
): Promise<Standing> {
  const { rows } = await sql<Standing>`
    select ${quotaSum(sql`balance`)} as balance, ${quotaSum(sql`debt`)} as debt from (
      select 0 - ${quotaSum(sql`wallet_spent`)} as balance, ${quotaSum(sql`wallet_debt`)} as debt from ${figuresOf(db, { users, since: 0, until })} as f
      union all
      select ${quotaSum(sql`amount - debt_settled`)}, 0 - ${quotaSum(sql`debt_settled`)} from wallet_grants
      where user_id = ${userId} and created_at < ${until * 1_000}
      union all
      select ${quotaSum(sql`amount`)}, 0 from refunds where ${oneOf(db, sql.ref('user_id'), users)} and wallet = 1 and created_at < ${until * 1_000}
    ) as s`.execute(db);
  return { balance: rows[0]?.balance ?? 0, debt: debtTakenOver + (rows[0]?.debt ?? 0) };
}

async function standingOfKeys(db: Db, userId: number, until: number): Promise<Standing> {
  const ofLiveKeys = sql`case when t.deleted_at is null or t.deleted_at >= ${until * 1_000} then s.balance else 0 end`;
  const { rows } = await sql<Standing>`
    select ${quotaSum(ofLiveKeys)} as balance, ${quotaSum(sql`s.debt`)} as debt
    from (
      select token_id, 0 - ${quotaSum(sql`spent`)} as balance, ${quotaSum(sql`debt`)} as debt from ${figuresOf(db, { users: [userId], since: 0, until })} as f
      group by token_id
      union all
      select g.token_id, ${quotaSum(sql`g.amount - g.debt_settled`)}, 0 - ${quotaSum(sql`g.debt_settled`)}
      from tokens o join grants g on g.token_id = o.id
      where o.user_id = ${userId} and g.created_at < ${until * 1_000} group by g.token_id
      union all
      select token_id, ${quotaSum(sql`amount`)}, 0 from refunds
      where user_id = ${userId} and unlimited = 0 and created_at < ${until * 1_000} group by token_id
    ) as s join tokens t on t.id = s.token_id`.execute(db);
  return { balance: rows[0]?.balance ?? 0, debt: rows[0]?.debt ?? 0 };
}

/** Lines without the names and members of their keys. */
type Unnamed<Line extends KeyOfLine> = Omit<Line, keyof LineNames>;

/** The first lines of a kind, and their sum, which includes all others. */
interface Lines<Line extends KeyOfLine> {
  items: Unnamed<Line>[];
  /** A line with the sum of all lines. */
  sum: Unnamed<Line>;
}

/** Grants to keys until the user has a wallet, and then to the wallet. Later grants to keys only raise their limits. */
async function grantsIn(db: Db, { userId, hasBalance, since, until }: Range): Promise<Lines<StatementGrant>> {
  const wallet = await openedWallet(db, userId);
  const from = since * 1_000;
  const below = until * 1_000;
  const belowOfKeys = Math.min(below, wallet?.opened_at ?? below);
  // A debt that the quota taken over from the keys settled is a line without quota.
  const all = sql`(
    select g.created_at, g.token_id, g.reason, g.amount, g.debt_settled
    from tokens t join grants g on g.token_id = t.id
    where ${hasBalance ? sql`true` : sql`false`} and t.user_id = ${userId} and g.kind = 'given' and g.created_at >= ${from} and g.created_at < ${belowOfKeys}
    union all
    select created_at, null, reason, case when kind = 'given' then amount else 0 end, debt_settled from wallet_grants
    where user_id = ${userId} and (kind = 'given' or debt_settled > 0) and created_at >= ${from} and created_at < ${below}
  )`;
  const day = sql`g.created_at / 86400000 * 86400`;
  const { rows: items } = await sql<Unnamed<StatementGrant>>`
    select ${day} as day, g.token_id, g.reason, ${quotaSum(sql`g.amount`)} as quota,
      ${quotaSum(sql`g.debt_settled`)} as debt_settled
    from ${all} as g group by ${day}, g.token_id, g.reason order by 1, 2, 3 limit ${maxLines + 1}`.execute(
    db,
  );
  const { rows: sums } = await sql<Unnamed<StatementGrant>>`
    select null as day, null as token_id, null as reason, ${quotaSum(sql`g.amount`)} as quota,
      ${quotaSum(sql`g.debt_settled`)} as debt_settled from ${all} as g`.execute(db);
  return linesOf(items, sums);
}

async function chargesIn(db: Db, range: Range): Promise<Lines<StatementCharge>> {
  const figures = figuresOf(db, range);
  const { quota, spent, debt } = chargedOf(range);
  const amounts = sql`${quotaSum(quota)} as quota, ${quotaSum(spent)} as spent, ${quotaSum(debt)} as debt`;
  const { rows: items } = await sql<Unnamed<StatementCharge>>`
    select token_id, model_name as model, unit, sum(units) as units, sum(requests) as requests, ${amounts}
    from ${figures} as f group by token_id, model_name, unit order by 1, 2, 3 limit ${maxLines + 1}`.execute(
    db,
  );
  const { rows: sums } = await sql<Unnamed<StatementCharge>>`
    select null as token_id, null as model, null as unit, null as units, coalesce(sum(requests), 0) as requests,
      ${amounts}
    from ${figures} as f`.execute(db);
  // Sums of fractional seconds have rounding errors.
  const rounded = items.map((item) => ({ ...item, units: Math.round((item.units ?? 0) * 1e3) / 1e3 }));
  return linesOf(rounded, sums);
}

async function refundsIn(db: Db, range: Range): Promise<Lines<StatementRefund>> {
  const { users, since, until } = range;
  const matching = sql`
    from refunds where ${oneOf(db, sql.ref('user_id'), users)} and created_at >= ${since * 1_000} and created_at < ${until * 1_000}`;
  const quota = quotaSum(sql`amount`);
  const credited = quotaSum(creditedOf(range));
  const { rows: items } = await sql<Unnamed<StatementRefund>>`
    select token_id, model_name as model, ${quota} as quota, ${credited} as credited ${matching}
    group by token_id, model_name order by 1, 2 limit ${maxLines + 1}`.execute(db);
  const { rows: sums } = await sql<Unnamed<StatementRefund>>`
    select null as token_id, null as model, ${quota} as quota, ${credited} as credited
    ${matching}`.execute(db);
  return linesOf(items, sums);
}

function linesOf<Line extends KeyOfLine>(
  items: Unnamed<Line>[],
  [sum]: readonly Unnamed<Line>[],
): Lines<Line> {
  if (sum === undefined) throw new Error('the query returned no sum');
  return { items, sum };
}

/** Adds up charges and refunds by member. The user itself is first. */
async function membersIn(db: Db, range: Range): Promise<StatementMember[]> {
  const { rows } = await sql<StatementMember>`
    select t.member_id, m.name as member_name, ${sums} from ${sumsIn(db, range)} as s join tokens t on t.id = s.token_id left join members m on m.id = t.member_id
    group by t.member_id, m.name order by coalesce(t.member_id, 0)`.execute(db);
  return rows;
}

/** Adds up charges and refunds by account. The user itself is first, and sub-accounts without any are omitted. */
async function accountsIn(db: Db, range: Range): Promise<StatementAccount[]> {
  const { userId } = range;
  const { rows } = await sql<StatementAccount>`
    select u.id as account_id, u.name as account_name, ${sums}
    from users u left join ${sumsIn(db, range)} as s on s.user_id = u.id
    where u.id = ${userId} or (u.parent_id = ${userId} and s.user_id is not null)
    group by u.id, u.name order by case when u.id = ${userId} then 0 else u.id end`.execute(db);
  return rows;
}

const sums = sql.join(
  ['requests', 'quota', 'spent', 'debt', 'refunded', 'credited'].map(
    (name) => sql`${quotaSum(sql.ref(`s.${name}`))} as ${sql.ref(name)}`,
  ),
);

/** Charges and refunds by user and key. */
const sumsIn = (db: Db, range: Range) => {
  const { users, since, until } = range;
  const { quota, spent, debt } = chargedOf(range);
  return sql`(
    select user_id, token_id, requests, ${quota} as quota, ${spent} as spent, ${debt} as debt, 0 as refunded, 0 as credited
    from ${figuresOf(db, range)} as f
    union all
    select user_id, token_id, 0, 0, 0, 0, amount, ${creditedOf(range)} from refunds
    where ${oneOf(db, sql.ref('user_id'), users)} and created_at >= ${since * 1_000} and created_at < ${until * 1_000})`;
};

/** SQL of a charge, its part from a balance, and its debt. The wallet of its user pays for a sub-account. */
const chargedOf = ({ hasBalance }: Owners) =>
  hasBalance
    ? { quota: sql`quota`, spent: sql`spent`, debt: sql`debt` }
    : { quota: sql`quota`, spent: sql`0`, debt: sql`0` };

/** SQL of the part of a refund that was added to a balance. */
const creditedOf = ({ hasBalance }: Owners) =>
  hasBalance ? sql`case when unlimited = 0 or wallet = 1 then amount else 0 end` : sql`0`;

type LineNames = Pick<KeyOfLine, 'token_name'> & MemberOfLine;

const noNames: LineNames = { token_name: null, member_id: null, member_name: null };

/** Reads the names and members of the keys of a statement. */
async function namesOfLines(db: Db, { users }: Owners): Promise<ReadonlyMap<number, LineNames>> {
  const rows = await db
    .selectFrom('tokens as t')
    .leftJoin('members as m', 'm.id', 't.member_id')
    .select(['t.id', 't.name as token_name', 't.member_id', 'm.name as member_name'])
    .where(oneOf(db, sql.ref('t.user_id'), users))
    .execute();
  return new Map(rows.map(({ id, ...names }) => [id, names]));
}

/** Adds the names of keys to lines, a line for those beyond the maximum, and the sums of some fields. */
function sumOf<Line extends KeyOfLine, Field extends keyof Line & string>(
  { items, sum }: Lines<Line>,
  fields: readonly Field[],
  namesOf: (tokenId: number | null) => Partial<LineNames>,
): Record<Field, number> & { items: Line[] } {
  const shown = items.length > maxLines ? items.slice(0, maxLines) : items;
  const amount = (line: object, field: Field) => Number((line as Record<Field, unknown>)[field]);
  const sums = Object.fromEntries(fields.map((field) => [field, amount(sum, field)]));
  const rest = Object.fromEntries(
    fields.map((field) => [
      field,
      shown.reduce((left, line) => left - amount(line, field), amount(sum, field)),
    ]),
  );
  const all = shown.length < items.length ? [...shown, { ...sum, ...rest }] : shown;
  const named = all.map((line) => ({ ...line, ...namesOf((line as Pick<KeyOfLine, 'token_id'>).token_id) }));
  return { ...(sums as Record<Field, number>), items: named as unknown as Line[] };
}
