import { sql } from 'kysely';

/** An inconsistency of a key, wallet, request or lease. */
export interface AuditProblem {
  subject: string;
  problem: string;
}

/** Queries for inconsistent rows. Each returns a subject and its problem. */
export const checks = [
  sql<AuditProblem>`
    select 'request ' || request_id as subject, 'a reservation that is ' || state || ' with reserved ' || reserved as problem
    from ledger where reserved < 0`,
  sql<AuditProblem>`
    select 'request ' || l.request_id as subject, 'a reservation of key ' || l.token_id || ', which does not exist' as problem
    from ledger l left join tokens t on t.id = l.token_id where t.id is null`,
  sql<AuditProblem>`
    select 'request ' || f.request_id as subject, 'refunded to key ' || f.token_id || ', which does not exist' as problem
    from refunds f left join tokens t on t.id = f.token_id where t.id is null`,
  sql<AuditProblem>`
    select 'lease ' || q.id as subject, 'of key ' || q.token_id || case when t.id is null then ', which does not exist' else '' end
      || ', with ' || q.remaining || ' of ' || q.granted as problem
    from quota_leases q left join tokens t on t.id = q.token_id
    where t.id is null or q.remaining < 0 or q.unposted < 0 or q.remaining + q.unposted > q.granted`,
  sql<AuditProblem>`
    select 'key ' || t.id as subject, case when w.user_id is null then 'is of a user without a wallet'
      else 'does not draw from the wallet of its user' end as problem
    from tokens t join users u on u.id = t.user_id left join wallets w on w.user_id = coalesce(u.parent_id, u.id)
    where coalesce(t.wallet_id, 0) <> coalesce(w.user_id, 0)`,
  sql<AuditProblem>`
    select 'lease ' || q.id as subject, 'is not of the wallet of its user' as problem
    from quota_leases q join tokens t on t.id = q.token_id
    where coalesce(q.wallet_id, 0) <> coalesce(t.wallet_id, 0) or (q.unlimited = 1 and q.wallet_id is null)`,
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
];

/** Condition that a log entry `r` with the reservation `l` and the refund `f` of its request is inconsistent. */
export const isFaulty = sql`(l.request_id is not null or r.quota < 0 or r.debt < 0
  or (r.debt > 0 and r.unlimited = 1 and r.wallet = 0)
  or f.amount > r.quota or f.charged <> r.quota or f.token_id <> r.token_id or f.unlimited <> r.unlimited)`;

/** Queries that read the whole log. Needed only if its sums by key have found a fault. */
export const logChecks = [
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
    select 'key ' || coalesce(c.token_id, l.token_id) as subject, 'the log has ' || coalesce(l.entries, 0)
      || ' entries of it and counts ' || coalesce(c.entries, 0) as problem
    from (select token_id, count(*) as entries from request_log group by token_id) l
    full join (select token_id, sum(entries) as entries from log_counts group by token_id) c
      on c.token_id = l.token_id
    where coalesce(c.entries, 0) <> coalesce(l.entries, 0)`,
];

/**
 * Finds requests with several entries in the log of PostgreSQL, where a unique index covers the entries of one day. The indexes of all days
 * are merged in their order, so that equal ids meet, without memory for the ids. On SQLite a unique index covers the log.
 */
export const repeatedEntries = sql<AuditProblem>`
  select 'request ' || request_id as subject, 'the log has ' || count(*) + 1 || ' entries of it' as problem
  from (
    select request_id, lag(request_id) over (order by request_id using ~<~) as previous from request_log
  ) as entries
  where request_id = previous group by request_id`;
