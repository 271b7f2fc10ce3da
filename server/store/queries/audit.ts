import { type Kysely, sql } from 'kysely';
import type { Database } from '../schema.ts';

/** An inconsistency that an audit found. */
export interface AuditProblem {
  /** The key, request or lease that has it. */
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
  /** Open reservations, and finished calls and tasks that retention has not deleted. */
  open: number;
  closed: number;
  /** Quota granted to limited keys, and its parts: reserved, leased to gateways, spent, and left in balances. */
  granted: number;
  held: number;
  leased: number;
  spent: number;
  /** Quota that refunds of settled calls gave back to limited keys. */
  refunded: number;
  left: number;
  /** Cost of finished work that no quota covered, with the debts of deleted keys. */
  debt: number;
  /** Keys with a debt, the largest debt first; at most 1,000 are listed. */
  debtors: Debtor[];
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

interface KeyRow {
  id: number;
  name: string;
  remain_quota: number;
  used_quota: number;
  leased_quota: number;
  granted: number;
  held: number;
  leased: number;
  /** Expected `leased_quota`. */
  posted: number;
  spent: number;
  charged: number;
  debt: number;
  /** Expected `debt` is `incurred` minus `settled`: debts of finished work minus those that grants settled. */
  incurred: number;
  settled: number;
  /** Quota that refunds returned to its balance, and by which they lowered its used quota. */
  refunded: number;
  corrected: number;
}

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

/**
 * Audits the ledger. For each key, the grants must equal the balance plus what is leased, reserved and spent, and ledger, log and
 * tasks must agree. `db` must see one snapshot.
 */
export async function auditLedger(db: Kysely<Database>): Promise<Audit> {
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
    const { rows } =
      await sql<AuditProblem>`select * from (${check}) as c order by 1, 2 limit ${maxListed}`.execute(db);
    problems.push(...rows.map(({ subject, problem }) => ({ subject, problem })));
    more ||= rows.length === maxListed;
  }
  const [sums] = totals;
  const [counts] = ledger;
  const { rows: debtors } = await sql<{ id: number; name: string; debt: number; deleted_at: number | null }>`
    select id, name, debt, deleted_at from tokens where debt <> 0 order by debt desc, id limit ${maxListed}`.execute(
    db,
  );
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
  const subject = `key ${row.id}`;
  const left = row.granted - row.settled - row.held - row.leased - row.spent + row.refunded;
  const used = row.charged + row.settled - row.corrected;
  const debt = row.incurred - row.settled;
  const leased = row.leased === 0 ? '' : `, leased ${row.leased}`;
  const settled = row.settled === 0 ? '' : `, debts settled ${row.settled}`;
  const refunded = row.refunded === 0 ? '' : `, refunded ${row.refunded}`;
  const sums = `granted ${row.granted}${settled}, held ${row.held}${leased}, spent ${row.spent}${refunded}`;
  const problems: AuditProblem[] = [];
  if (row.remain_quota !== left)
    problems.push({ subject, problem: `has ${row.remain_quota} left, which should be ${left} (${sums})` });
  if (row.used_quota !== used)
    problems.push({ subject, problem: `has used ${row.used_quota}, which should be ${used}` });
  if (row.debt !== debt)
    problems.push({ subject, problem: `has a debt of ${row.debt}, which should be ${debt}` });
  if (row.leased_quota !== row.posted)
    problems.push({ subject, problem: `has leased ${row.leased_quota}, and its leases have ${row.posted}` });
  if (row.remain_quota < 0)
    problems.push({ subject, problem: `has a balance below zero: ${row.remain_quota}` });
  if (row.debt < 0) problems.push({ subject, problem: `has a debt below zero: ${row.debt}` });
  return problems;
}
