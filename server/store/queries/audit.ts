import { type Kysely, sql } from 'kysely';
import type { Database } from '../schema.ts';

/** What does not add up, and where. */
export interface AuditProblem {
  /** The key or the request that it is about. */
  subject: string;
  problem: string;
}

/** A key with a debt. */
export interface Debtor {
  id: number;
  name: string;
  debt: number;
  deleted: boolean;
}

export interface Audit {
  keys: number;
  /** Reservations that are open, and calls and tasks that are over and not swept yet. */
  open: number;
  closed: number;
  /** Quota that limited keys were given, what of it is held, is leased to gateways, was spent and is left in the balances. */
  granted: number;
  held: number;
  leased: number;
  spent: number;
  /** Quota that refunds of settled calls gave back to limited keys. */
  refunded: number;
  left: number;
  /** Cost of finished work that no quota covered: what keys owe, those that were deleted included. */
  debt: number;
  /** Keys with a debt, the largest debt first; at most 1,000 are listed. */
  debtors: Debtor[];
  problems: AuditProblem[];
  /** Whether there are more problems of a kind than are told. */
  more: boolean;
}

/** Problems of one kind that are told. */
const most = 1_000;

const keys = sql`
  select t.id, t.name, t.remain_quota, t.used_quota, t.leased_quota, t.debt, t.deleted_at,
    coalesce(g.granted, 0) as granted, coalesce(g.settled, 0) as settled,
    coalesce(b.debt, 0) + coalesce(s.debt, 0) as incurred, coalesce(l.held, 0) as held, coalesce(q.leased, 0) as leased,
    coalesce(q.leased + q.unposted, 0) as posted,
    coalesce(l.spent, 0) + coalesce(b.spent, 0) + coalesce(s.spent, 0) as spent,
    coalesce(l.charged, 0) + coalesce(b.charged, 0) + coalesce(s.charged, 0) as charged,
    coalesce(r.refunded, 0) as refunded, coalesce(r.corrected, 0) as corrected
  from tokens t
  left join (
    select token_id, sum(amount) as granted, sum(debt_settled) as settled from grants group by token_id
  ) g on g.token_id = t.id
  left join (
    select token_id,
      sum(case when state = 'open' and unlimited = 0 then reserved else 0 end) as held,
      sum(case when state = 'settled' and unlimited = 0 then charged else 0 end) as spent,
      sum(case when state = 'settled' then charged else 0 end) as charged
    from ledger group by token_id
  ) l on l.token_id = t.id
  left join (
    select token_id, sum(remaining) as leased, sum(unposted) as unposted from quota_leases group by token_id
  ) q on q.token_id = t.id
  left join (
    select token_id, sum(case when unlimited = 0 then quota else 0 end) as spent, sum(quota) as charged,
      sum(debt) as debt
    from request_log where held is not null group by token_id
  ) b on b.token_id = t.id
  left join swept_totals s on s.token_id = t.id
  left join (
    select token_id, sum(case when unlimited = 0 then amount else 0 end) as refunded, sum(amount) as corrected
    from refunds group by token_id
  ) r on r.token_id = t.id`;

/** As a fraction: of many keys it may be more than an integer tells exactly in the program, which is no problem of a key. */
const total = (column: string) => sql`coalesce(sum(cast(${sql.ref(column)} as double precision)), 0)`;

interface KeyRow {
  id: number;
  name: string;
  remain_quota: number;
  used_quota: number;
  leased_quota: number;
  granted: number;
  held: number;
  leased: number;
  /** What `leased_quota` should be. */
  posted: number;
  spent: number;
  charged: number;
  debt: number;
  /** What `debt` should be: debts of finished work less those that grants settled. */
  incurred: number;
  settled: number;
  /** What refunds gave back to its balance, and by what they lowered its used quota. */
  refunded: number;
  corrected: number;
}

/** What is wrong with single rows: each query gives the request, or the key, and what is wrong with it. */
const checks = [
  sql<AuditProblem>`
    select 'request ' || request_id as subject, 'a reservation that is ' || state || ' with reserved '
      || reserved || ', charged ' || coalesce(cast(charged as text), 'nothing') as problem
    from ledger
    where reserved < 0 or (closed_at is null) <> (state = 'open') or (charged is not null) <> (state = 'settled')
      or charged < 0 or charged > reserved`,
  sql<AuditProblem>`
    select 'request ' || l.request_id as subject, 'a reservation of key ' || l.token_id || ', which there is not' as problem
    from ledger l left join tokens t on t.id = l.token_id where t.id is null`,
  sql<AuditProblem>`
    select 'request ' || l.request_id as subject, 'charged ' || l.charged || ', and the log has '
      || coalesce(cast(r.quota as text), 'no entry') as problem
    from ledger l left join request_log r on r.request_id = l.request_id
    where l.state = 'settled' and (r.id is null or r.quota <> l.charged or r.token_id <> l.token_id)`,
  sql<AuditProblem>`
    select 'request ' || r.request_id as subject, 'the log says ' || r.quota || ', and it was not charged' as problem
    from request_log r left join ledger l on l.request_id = r.request_id
    where r.held is null and (l.request_id is null or (l.state <> 'settled' and r.quota <> 0))`,
  sql<AuditProblem>`
    select 'request ' || r.request_id as subject, 'an entry of the log that is booked by itself with held ' || r.held
      || ', quota ' || r.quota || ', debt ' || r.debt || case when l.request_id is null then '' else ', and a reservation beside it' end as problem
    from request_log r left join ledger l on l.request_id = r.request_id
    where r.held is not null
      and (l.request_id is not null or r.quota < 0 or r.debt < 0 or r.unlimited is null
        or (r.debt > 0 and r.unlimited = 1))`,
  sql<AuditProblem>`
    select 'request ' || r.request_id as subject, 'booked for key ' || r.token_id || ', which there is not' as problem
    from request_log r left join tokens t on t.id = r.token_id where r.held is not null and t.id is null`,
  sql<AuditProblem>`
    select 'request ' || f.request_id as subject, 'refunded ' || f.amount || ' of ' || f.charged || ', and the log has '
      || r.quota || ' of key ' || r.token_id as problem
    from refunds f join request_log r on r.request_id = f.request_id
    where f.amount > r.quota or f.charged <> r.quota or f.token_id <> r.token_id
      or f.unlimited <> coalesce(r.unlimited, f.unlimited)`,
  sql<AuditProblem>`
    select 'request ' || f.request_id as subject, 'refunded to key ' || f.token_id || ', which there is not' as problem
    from refunds f left join tokens t on t.id = f.token_id where t.id is null`,
  sql<AuditProblem>`
    select 'lease ' || q.id as subject, 'of key ' || q.token_id || ', with ' || q.remaining || ' of ' || q.granted
      || case when t.id is null then ', and there is no such key' else '' end as problem
    from quota_leases q left join tokens t on t.id = q.token_id
    where t.id is null or q.remaining < 0 or q.unposted < 0 or q.remaining + q.unposted > q.granted`,
  sql<AuditProblem>`
    select 'request ' || request_id as subject, 'the log has it ' || count(*) || ' times' as problem
    from request_log group by request_id having count(*) > 1`,
  sql<AuditProblem>`
    select 'request ' || l.request_id as subject, 'quota is held for a task that is over' as problem
    from ledger l left join tasks k on k.request_id = l.request_id and k.completed_at is null
    where l.state = 'open' and l.kind = 'task' and k.id is null`,
  sql<AuditProblem>`
    select 'request ' || k.request_id as subject, 'a task runs for which no quota is held' as problem
    from tasks k left join ledger l on l.request_id = k.request_id and l.state = 'open'
    where k.completed_at is null and l.request_id is null`,
  sql<AuditProblem>`
    select 'key ' || token_id as subject, 'what it moved from or to key ' || coalesce(cast(other_id as text), '?')
      || ' is not what that one says' as problem
    from grants g where kind = 'moved'
    group by token_id, other_id
    having sum(amount) <> -coalesce((select sum(amount) from grants o
      where o.kind = 'moved' and o.token_id = g.other_id and o.other_id = g.token_id), 0)`,
  sql<AuditProblem>`
    select 'key ' || coalesce(c.token_id, l.token_id) as subject, 'the log has ' || coalesce(l.entries, 0)
      || ' entries of it and ' || coalesce(c.entries, 0) || ' are counted' as problem
    from (select token_id, count(*) as entries from request_log group by token_id) l
    full join (select token_id, sum(entries) as entries from log_counts group by token_id) c
      on c.token_id = l.token_id
    where coalesce(c.entries, 0) <> coalesce(l.entries, 0)`,
];

/**
 * For each key: what its balance has, its leases have left, its open reservations hold and closed work cost is what it was granted.
 * Proves that what keys were given, what is held, and what was charged come to their balances, and that books, log and
 * tasks agree. `db` is to see one state of everything.
 */
export async function auditBooks(db: Kysely<Database>): Promise<Audit> {
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
        + (select count(*) from request_log where held is not null) as closed from ledger`.execute(db);
  const { rows: unbalanced } = await sql<KeyRow>`
    select * from (${keys}) as k
    where remain_quota <> granted - settled - held - leased - spent + refunded
      or used_quota <> charged + settled - corrected
      or leased_quota <> posted or debt <> incurred - settled or remain_quota < 0 or debt < 0
    order by id limit ${most}`.execute(db);
  const problems = unbalanced.flatMap(balanceProblems);
  let more = unbalanced.length === most;
  for (const check of checks) {
    const { rows } =
      await sql<AuditProblem>`select * from (${check}) as c order by 1, 2 limit ${most}`.execute(db);
    problems.push(...rows.map(({ subject, problem }) => ({ subject, problem })));
    more ||= rows.length === most;
  }
  const [sums] = totals;
  const [counts] = ledger;
  const { rows: debtors } = await sql<{ id: number; name: string; debt: number; deleted_at: number | null }>`
    select id, name, debt, deleted_at from tokens where debt <> 0 order by debt desc, id limit ${most}`.execute(
    db,
  );
  if (sums === undefined || counts === undefined) throw new Error('the books gave no sums');
  return {
    ...sums,
    ...counts,
    debtors: debtors.map(({ deleted_at: deletedAt, ...key }) => ({ ...key, deleted: deletedAt !== null })),
    problems,
    more,
  };
}

function balanceProblems(row: KeyRow): AuditProblem[] {
  const subject = `key ${row.id}`;
  const left = row.granted - row.settled - row.held - row.leased - row.spent + row.refunded;
  const used = row.charged + row.settled - row.corrected;
  const debt = row.incurred - row.settled;
  const leased = row.leased === 0 ? '' : `, leased ${row.leased}`;
  const settled = row.settled === 0 ? '' : `, debts settled ${row.settled}`;
  const refunded = row.refunded === 0 ? '' : `, refunded ${row.refunded}`;
  const told = `granted ${row.granted}${settled}, held ${row.held}${leased}, spent ${row.spent}${refunded}`;
  const problems: AuditProblem[] = [];
  if (row.remain_quota !== left)
    problems.push({ subject, problem: `has ${row.remain_quota} left, which should be ${left} (${told})` });
  if (row.used_quota !== used)
    problems.push({ subject, problem: `has used ${row.used_quota}, which should be ${used}` });
  if (row.debt !== debt)
    problems.push({ subject, problem: `has a debt of ${row.debt}, which should be ${debt}` });
  if (row.leased_quota !== row.posted)
    problems.push({ subject, problem: `has leased ${row.leased_quota}, and its leases have ${row.posted}` });
  if (row.remain_quota < 0)
    problems.push({ subject, problem: `has less than nothing left: ${row.remain_quota}` });
  if (row.debt < 0) problems.push({ subject, problem: `has a debt below zero: ${row.debt}` });
  return problems;
}
