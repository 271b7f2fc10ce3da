import { sql } from 'kysely';
import { quotaSum } from '../quota-sum.ts';
import type { Db } from '../schema.ts';

/** An inconsistency of a key, wallet, request or lease. */
interface AuditProblem {
  subject: string;
  problem: string;
}

export interface Audit {
  keys: number;
  /** Open reservations, and finished calls and tasks that retention has not deleted. */
  open: number;
  closed: number;
  /** Quota granted to limited keys, and its parts: reserved, leased to gateways, spent, and remaining in balances. */
  granted: number;
  held: number;
  leased: number;
  spent: number;
  /** Quota that refunds of settled calls returned to limited keys. */
  refunded: number;
  left: number;
  /** Cost of finished work that no quota covered. Includes the debts of deleted keys. */
  debt: number;
  /** Keys with a debt, the largest debt first; at most 1,000 are listed. */
  debtors: { id: number; name: string; debt: number; deleted: boolean }[];
  wallets: WalletTotals;
  problems: AuditProblem[];
  /** Whether there are more problems of a kind than are listed. */
  more: boolean;
}

/** Sums of all wallets: the quota granted to them and taken over from keys, and its parts. */
type WalletTotals = Record<'wallets' | WalletSum | 'balance' | 'debt', number>;
type WalletSum = 'granted' | 'held' | 'leased' | 'spent' | 'refunded';

/** Largest number of listed problems of one kind. */
const maxListed = 1_000;

const keys = sql`
  select t.id, t.name, t.user_id, t.wallet, t.remain_quota, t.used_quota, t.leased_quota, t.debt, t.deleted_at,
    coalesce(g.granted, 0) as granted, coalesce(g.settled, 0) as settled,
    coalesce(b.debt, 0) + coalesce(s.debt, 0) - coalesce(b.wallet_debt, 0) - coalesce(s.wallet_debt, 0) as incurred, coalesce(l.held, 0) as held, coalesce(q.leased, 0) as leased,
    coalesce(q.leased + q.unposted, 0) as posted,
    coalesce(b.spent, 0) + coalesce(s.spent, 0) as spent, coalesce(b.charged, 0) + coalesce(s.charged, 0) as charged,
    coalesce(r.refunded, 0) as refunded, coalesce(r.corrected, 0) as corrected,
    coalesce(b.wallet_spent, 0) + coalesce(s.wallet_spent, 0) as wallet_spent,
    coalesce(b.wallet_debt, 0) + coalesce(s.wallet_debt, 0) as wallet_debt,
    coalesce(l.wallet_held, 0) as wallet_held, coalesce(q.wallet_leased, 0) as wallet_leased,
    coalesce(q.wallet_posted, 0) as wallet_posted, coalesce(r.wallet_refunded, 0) as wallet_refunded
  from tokens t
  left join (
    select token_id, sum(amount) as granted, sum(debt_settled) as settled from grants group by token_id
  ) g on g.token_id = t.id
  left join (
    select token_id, sum(case when unlimited = 0 then reserved else 0 end) as held, sum(reserved * wallet) as wallet_held
    from ledger where state = 'open' group by token_id
  ) l on l.token_id = t.id
  left join (
    select token_id, sum(case when unlimited = 0 then remaining else 0 end) as leased,
      sum(case when unlimited = 0 then unposted else 0 end) as unposted,
      sum(case when wallet_id is not null then remaining else 0 end) as wallet_leased,
      sum(case when wallet_id is not null then remaining + unposted else 0 end) as wallet_posted
    from quota_leases group by token_id
  ) q on q.token_id = t.id
  left join (
    select token_id, sum(case when unlimited = 0 then quota else 0 end) as spent, sum(quota) as charged,
      sum(debt) as debt, sum(quota * wallet) as wallet_spent, sum(debt * wallet) as wallet_debt
    from request_log group by token_id
  ) b on b.token_id = t.id
  left join swept_totals s on s.token_id = t.id
  left join (
    select token_id, sum(case when unlimited = 0 then amount else 0 end) as refunded, sum(amount) as corrected,
      sum(amount * wallet) as wallet_refunded
    from refunds group by token_id
  ) r on r.token_id = t.id`;

const total = (column: string) => quotaSum(sql.ref(column));

/** A key with the sums of its rows. Expected are `posted` as its leased quota, and `incurred` minus `settled` as its debt. */
type KeyRow = { name: string } & Record<
  'id' | 'wallet' | 'remain_quota' | 'used_quota' | 'leased_quota' | 'debt' | Sum,
  number
>;
type Sum =
  | 'granted'
  | 'held'
  | 'leased'
  | 'posted'
  | 'spent'
  | 'charged'
  | 'incurred'
  | 'settled'
  | 'refunded'
  | 'corrected';

/** Queries for inconsistent rows. Each returns a subject and its problem. */
const checks = [
  sql<AuditProblem>`
    select 'request ' || request_id as subject, 'a reservation that is ' || state || ' with reserved ' || reserved as problem
    from ledger where reserved < 0`,
  sql<AuditProblem>`
    select 'request ' || l.request_id as subject, 'a reservation of key ' || l.token_id || ', which does not exist' as problem
    from ledger l left join tokens t on t.id = l.token_id where t.id is null`,
  sql<AuditProblem>`
    select 'request ' || r.request_id as subject, 'a log entry with reserved ' || r.reserved || ', quota ' || r.quota
      || ', debt ' || r.debt || case when l.request_id is null then '' else ', and an open reservation' end as problem
    from request_log r left join ledger l on l.request_id = r.request_id
    where l.request_id is not null or r.quota < 0 or r.debt < 0 or (r.debt > 0 and r.unlimited = 1 and r.wallet = 0)`,
  sql<AuditProblem>`
    select 'request ' || r.request_id as subject, 'charged to key ' || r.token_id || ', which does not exist' as problem
    from request_log r left join tokens t on t.id = r.token_id where t.id is null`,
  sql<AuditProblem>`
    select 'request ' || f.request_id as subject, 'refunded ' || f.amount || ' of ' || f.charged || ', and the log has '
      || r.quota || ' of key ' || r.token_id as problem
    from refunds f join request_log r on r.request_id = f.request_id
    where f.amount > r.quota or f.charged <> r.quota or f.token_id <> r.token_id or f.unlimited <> r.unlimited`,
  sql<AuditProblem>`
    select 'request ' || f.request_id as subject, 'refunded to key ' || f.token_id || ', which does not exist' as problem
    from refunds f left join tokens t on t.id = f.token_id where t.id is null`,
  sql<AuditProblem>`
    select 'lease ' || q.id as subject, 'of key ' || q.token_id || case when t.id is null then ', which does not exist' else '' end
      || ', with ' || q.remaining || ' of ' || q.granted as problem
    from quota_leases q left join tokens t on t.id = q.token_id
    where t.id is null or q.remaining < 0 or q.unposted < 0 or q.remaining + q.unposted > q.granted`,
  sql<AuditProblem>`
    select 'key ' || t.id as subject, case when t.wallet = 1 then 'is of a user without a wallet'
      else 'does not draw from the wallet of its user' end as problem
    from tokens t left join wallets w on w.user_id = t.user_id
    where (t.wallet = 1 and w.user_id is null) or (t.wallet = 0 and w.user_id is not null)`,
  sql<AuditProblem>`
    select 'lease ' || q.id as subject, 'is not of the wallet of its user' as problem
    from quota_leases q join tokens t on t.id = q.token_id left join wallets w on w.user_id = t.user_id
    where coalesce(q.wallet_id, 0) <> coalesce(w.user_id, 0) or (q.unlimited = 1 and q.wallet_id is null)`,
  sql<AuditProblem>`
    select 'request ' || request_id as subject, 'the log has ' || count(*) || ' entries of it' as problem
    from request_log group by request_id having count(*) > 1`,
  sql<AuditProblem>`
    select 'request ' || l.request_id as subject, 'quota is reserved for a finished task' as problem
    from ledger l left join tasks k on k.request_id = l.request_id and k.completed_at is null
    where l.state = 'open' and l.kind = 'task' and k.id is null`,
  sql<AuditProblem>`
    select 'request ' || k.request_id as subject, 'no quota is reserved for a task in progress' as problem
    from tasks k left join ledger l on l.request_id = k.request_id and l.state = 'open'
    where k.completed_at is null and l.request_id is null`,
  sql<AuditProblem>`
    select 'key ' || token_id as subject, 'its moves from or to key ' || coalesce(cast(other_id as text), '?')
      || ' do not match those of that key' as problem
    from grants g where kind = 'moved'
    group by token_id, other_id
    having sum(amount) <> -coalesce((select sum(amount) from grants o
      where o.kind = 'moved' and o.token_id = g.other_id and o.other_id = g.token_id), 0)`,
  sql<AuditProblem>`
    select 'key ' || coalesce(c.token_id, l.token_id) as subject, 'the log has ' || coalesce(l.entries, 0)
      || ' entries of it and counts ' || coalesce(c.entries, 0) as problem
    from (select token_id, count(*) as entries from request_log group by token_id) l
    full join (select token_id, sum(entries) as entries from log_counts group by token_id) c
      on c.token_id = l.token_id
    where coalesce(c.entries, 0) <> coalesce(l.entries, 0)`,
];

/** Checks that grants equal balance, leases, reservations and spent quota, and that ledger, log and tasks agree. Needs a snapshot. */
export async function auditLedger(db: Db): Promise<Audit> {
  const { rows: totals } = await sql<
    Pick<Audit, 'keys' | 'granted' | 'held' | 'leased' | 'spent' | 'refunded' | 'left' | 'debt'>
  >`
    select count(*) as keys, ${total('granted')} as granted, ${total('held')} as held,
      ${total('leased')} as leased, ${total('spent')} as spent, ${total('refunded')} as refunded,
      ${total('remain_quota')} as "left", ${total('debt')} as debt
    from (${keys}) as k`.execute(db);
  const { rows: ledger } = await sql<Pick<Audit, 'open' | 'closed'>>`
    select coalesce(sum(case when closed_at is null then 1 else 0 end), 0) as open,
      coalesce(sum(case when closed_at is null then 0 else 1 end), 0)
        + (select count(*) from request_log) as closed from ledger`.execute(db);
  const { rows: unbalanced } = await sql<KeyRow>`
    select * from (${keys}) as k
    where remain_quota <> granted - settled - held - leased - spent + refunded
      or used_quota <> charged + settled - corrected
      or leased_quota <> posted or debt <> incurred - settled or (remain_quota < 0 and wallet = 0) or debt < 0
    order by id limit ${maxListed}`.execute(db);
  const wallets = await auditWallets(db);
  const problems = [...unbalanced.flatMap(balanceProblems), ...wallets.problems];
  let more = unbalanced.length === maxListed || wallets.problems.length === maxListed;
  for (const check of checks) {
    const { rows } = await sql<AuditProblem>`
      select * from (${check}) as c order by 1, 2 limit ${maxListed}`.execute(db);
    problems.push(...rows.map(({ subject, problem }) => ({ subject, problem })));
    more ||= rows.length === maxListed;
  }
  const [sums] = totals;
  const [counts] = ledger;
  const { rows: debtors } = await sql<{ id: number; name: string; debt: number; deleted_at: number | null }>`
    select id, name, debt, deleted_at from tokens where debt <> 0
    order by debt desc, id limit ${maxListed}`.execute(db);
  if (sums === undefined || counts === undefined) throw new Error('the audit returned no sums');
  return {
    ...sums,
    ...counts,
    wallets: wallets.totals,
    debtors: debtors.map(({ deleted_at: deletedAt, ...key }) => ({ ...key, deleted: deletedAt !== null })),
    problems,
    more,
  };
}

function balanceProblems(row: KeyRow): AuditProblem[] {
  const { remain_quota: balance, used_quota: usedQuota, leased_quota: leasedQuota } = row;
  const { granted, settled, held, leased, spent, refunded } = row;
  const expected = granted - settled - held - leased - spent + refunded;
  const used = row.charged + settled - row.corrected;
  const debt = row.incurred - settled;
  const optional = (label: string, amount: number) => (amount === 0 ? '' : `, ${label} ${amount}`);
  const sums =
    `granted ${granted}${optional('debts settled', settled)}, held ${held}${optional('leased', leased)}` +
    `, spent ${spent}${optional('refunded', refunded)}`;
  const problems = [
    balance !== expected && `has ${balance} left, which should be ${expected} (${sums})`,
    usedQuota !== used && `has used ${usedQuota}, which should be ${used}`,
    row.debt !== debt && `has a debt of ${row.debt}, which should be ${debt}`,
    leasedQuota !== row.posted && `has leased ${leasedQuota}, and its leases have ${row.posted}`,
    balance < 0 && row.wallet === 0 && `has a balance below zero: ${balance}`,
    row.debt < 0 && `has a debt below zero: ${row.debt}`,
  ];
  return problems.flatMap((problem) => (problem === false ? [] : { subject: `key ${row.id}`, problem }));
}

/** A wallet with the sums of its rows. */
type WalletRow = Record<
  'user_id' | 'balance' | 'leased_quota' | 'debt' | 'used' | 'granted' | 'settled' | 'owed' | 'posted',
  number
> &
  Record<WalletSum, number>;

const noWallets: WalletTotals = {
  wallets: 0,
  granted: 0,
  held: 0,
  leased: 0,
  spent: 0,
  refunded: 0,
  balance: 0,
  debt: 0,
};

/** Checks that the grants to wallets equal balance, leases, reservations and spent quota of all keys, including deleted ones. */
async function auditWallets(db: Db): Promise<{ totals: WalletTotals; problems: AuditProblem[] }> {
  const { rows: some } = await sql`select 1 from wallets limit 1`.execute(db);
  if (some.length === 0) return { totals: noWallets, problems: [] };
  const wallets = sql`
    select w.user_id, w.balance, w.leased as leased_quota, w.debt, w.used, coalesce(g.granted, 0) as granted,
      coalesce(g.settled, 0) as settled, w.debt_taken_over + coalesce(k.incurred, 0) as owed,
      coalesce(k.held, 0) as held, coalesce(k.leased, 0) as leased, coalesce(k.posted, 0) as posted,
      coalesce(k.spent, 0) as spent, coalesce(k.refunded, 0) as refunded
    from wallets w
    left join (
      select user_id, sum(amount) as granted, sum(debt_settled) as settled from wallet_grants group by user_id
    ) g on g.user_id = w.user_id
    left join (
      select user_id, sum(wallet_debt) as incurred, sum(wallet_held) as held, sum(wallet_leased) as leased,
        sum(wallet_posted) as posted, sum(wallet_spent) as spent, sum(wallet_refunded) as refunded
      from (${keys}) as keys group by user_id
    ) k on k.user_id = w.user_id`;
  const { rows: totals } = await sql<WalletTotals>`
    select count(*) as wallets, ${total('granted')} as granted, ${total('held')} as held,
      ${total('leased')} as leased, ${total('spent')} as spent, ${total('refunded')} as refunded,
      ${total('balance')} as balance, ${total('debt')} as debt
    from (${wallets}) as w`.execute(db);
  const { rows: unbalanced } = await sql<WalletRow>`
    select * from (${wallets}) as w
    where balance <> granted - settled - held - leased - spent + refunded
      or used <> spent + settled - refunded or leased_quota <> posted or debt <> owed - settled
    order by user_id limit ${maxListed}`.execute(db);
  return { totals: totals[0] ?? noWallets, problems: unbalanced.flatMap(walletProblems) };
}

function walletProblems(row: WalletRow): AuditProblem[] {
  const { balance, used, debt, leased_quota: leasedQuota } = row;
  const { granted, settled, held, leased, spent, refunded, posted } = row;
  const expected = granted - settled - held - leased - spent + refunded;
  const sums = `granted ${granted}, debts settled ${settled}, held ${held}, leased ${leased}, spent ${spent}, refunded ${refunded}`;
  const expectedUse = spent + settled - refunded;
  const expectedDebt = row.owed - settled;
  const problems = [
    balance !== expected && `has ${balance} left, which should be ${expected} (${sums})`,
    used !== expectedUse && `has used ${used}, which should be ${expectedUse}`,
    debt !== expectedDebt && `has a debt of ${debt}, which should be ${expectedDebt}`,
    leasedQuota !== posted && `has leased ${leasedQuota}, and its leases have ${posted}`,
  ];
  return problems.flatMap((problem) =>
    problem === false ? [] : { subject: `wallet of user ${row.user_id}`, problem },
  );
}
