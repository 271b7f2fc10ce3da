import { sql } from 'kysely';
import type { Db } from '../schema.ts';

/** An inconsistency of a key, request or lease. */
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
  problems: AuditProblem[];
  /** Whether there are more problems of a kind than are listed. */
  more: boolean;
}

/** Largest number of listed problems of one kind. */
const maxListed = 1_000;

const keys = sql`
  select t.id, t.name, t.remain_quota, t.used_quota, t.leased_quota, t.debt, t.deleted_at,
    coalesce(g.granted, 0) as granted, coalesce(g.settled, 0) as settled,
    coalesce(b.debt, 0) + coalesce(s.debt, 0) as incurred, coalesce(l.held, 0) as held, coalesce(q.leased, 0) as leased,
    coalesce(q.leased + q.unposted, 0) as posted,
    coalesce(b.spent, 0) + coalesce(s.spent, 0) as spent, coalesce(b.charged, 0) + coalesce(s.charged, 0) as charged,
    coalesce(r.refunded, 0) as refunded, coalesce(r.corrected, 0) as corrected
  from tokens t
  left join (
    select token_id, sum(amount) as granted, sum(debt_settled) as settled from grants group by token_id
  ) g on g.token_id = t.id
  left join (
    select token_id, sum(reserved) as held from ledger where state = 'open' and unlimited = 0 group by token_id
  ) l on l.token_id = t.id
  left join (
    select token_id, sum(remaining) as leased, sum(unposted) as unposted from quota_leases group by token_id
  ) q on q.token_id = t.id
  left join (
    select token_id, sum(case when unlimited = 0 then quota else 0 end) as spent, sum(quota) as charged,
      sum(debt) as debt
    from request_log group by token_id
  ) b on b.token_id = t.id
  left join swept_totals s on s.token_id = t.id
  left join (
    select token_id, sum(case when unlimited = 0 then amount else 0 end) as refunded, sum(amount) as corrected
    from refunds group by token_id
  ) r on r.token_id = t.id`;

/** As a floating-point number, since the sum over many keys can exceed the safe integers. */
const total = (column: string) => sql`coalesce(sum(cast(${sql.ref(column)} as double precision)), 0)`;

/** A key with the sums of its rows. Expected are `posted` as its leased quota, and `incurred` minus `settled` as its debt. */
type KeyRow = { name: string } & Record<
  'id' | 'remain_quota' | 'used_quota' | 'leased_quota' | 'debt' | Sum,
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
    where l.request_id is not null or r.quota < 0 or r.debt < 0 or (r.debt > 0 and r.unlimited = 1)`,
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
      or leased_quota <> posted or debt <> incurred - settled or remain_quota < 0 or debt < 0
    order by id limit ${maxListed}`.execute(db);
  const problems = unbalanced.flatMap(balanceProblems);
  let more = unbalanced.length === maxListed;
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
    balance < 0 && `has a balance below zero: ${balance}`,
    row.debt < 0 && `has a debt below zero: ${row.debt}`,
  ];
  return problems.flatMap((problem) => (problem === false ? [] : { subject: `key ${row.id}`, problem }));
}
