import { type RawBuilder, sql } from 'kysely';
import { quotaSum } from '../quota-sum.ts';
import type { Db } from '../schema.ts';
import { isFaulty } from './audit-checks.ts';

/** Sums of the log by key. `faults`: entries that a query of `logChecks` lists. */
const log = sql`
  select r.token_id, count(*) as entries, sum(case when ${isFaulty} then 1 else 0 end) as faults,
    sum(case when r.unlimited = 0 then r.quota else 0 end) as spent, sum(r.quota) as charged, sum(r.debt) as debt,
    sum(r.quota * r.wallet) as wallet_spent, sum(r.debt * r.wallet) as wallet_debt
  from request_log r
  left join ledger l on l.request_id = r.request_id
  left join refunds f on f.request_id = r.request_id
  group by r.token_id`;

/** Keys with the sums of their rows. */
const keys = sql`
  select t.id, t.wallet_id, t.remain_quota, t.used_quota, t.leased_quota, t.debt,
    coalesce(g.granted, 0) as granted, coalesce(g.settled, 0) as settled,
    coalesce(b.debt, 0) + coalesce(s.debt, 0) - coalesce(b.wallet_debt, 0) - coalesce(s.wallet_debt, 0) as incurred,
    coalesce(l.held, 0) as held, coalesce(q.leased, 0) as leased, coalesce(q.leased + q.unposted, 0) as posted,
    coalesce(b.spent, 0) + coalesce(s.spent, 0) as spent, coalesce(b.charged, 0) + coalesce(s.charged, 0) as charged,
    coalesce(r.refunded, 0) as refunded, coalesce(r.corrected, 0) as corrected,
    coalesce(b.wallet_spent, 0) + coalesce(s.wallet_spent, 0) as wallet_spent,
    coalesce(b.wallet_debt, 0) + coalesce(s.wallet_debt, 0) as wallet_debt,
    coalesce(l.wallet_held, 0) as wallet_held, coalesce(q.wallet_leased, 0) as wallet_leased,
    coalesce(q.wallet_posted, 0) as wallet_posted, coalesce(r.wallet_refunded, 0) as wallet_refunded,
    coalesce(b.entries, 0) as entries,
    coalesce(b.faults, 0) + case when coalesce(b.entries, 0) <> coalesce(c.entries, 0) then 1 else 0 end as faults
  from tokens t
  left join log b on b.token_id = t.id
  left join (select token_id, sum(entries) as entries from log_counts group by token_id) c on c.token_id = t.id
  left join (
    select token_id, sum(amount) as granted, sum(debt_settled) as settled from grants group by token_id
  ) g on g.token_id = t.id
  left join (
    select token_id, sum(case when unlimited = 0 then reserved else 0 end) as held, 
      sum(case when wallet_id is not null then reserved else 0 end) as wallet_held
    from ledger where state = 'open' group by token_id
  ) l on l.token_id = t.id
  left join (
    select token_id, sum(case when unlimited = 0 then remaining else 0 end) as leased,
      sum(case when unlimited = 0 then unposted else 0 end) as unposted,
      sum(case when wallet_id is not null then remaining else 0 end) as wallet_leased,
      sum(case when wallet_id is not null then remaining + unposted else 0 end) as wallet_posted
    from quota_leases group by token_id
  ) q on q.token_id = t.id
  left join swept_totals s on s.token_id = t.id
  left join (
    select token_id, sum(case when unlimited = 0 then amount else 0 end) as refunded, sum(amount) as corrected,
      sum(amount * wallet) as wallet_refunded
    from refunds group by token_id
  ) r on r.token_id = t.id`;

/** Wallets with the sums of the rows of all keys, including deleted ones. */
const wallets = sql`
  select w.user_id, w.balance, w.used, w.leased as leased_quota, w.debt, coalesce(g.granted, 0) as granted,
    coalesce(g.settled, 0) as settled, w.debt_taken_over + coalesce(k.incurred, 0) as incurred,
    coalesce(k.held, 0) as held, coalesce(k.leased, 0) as leased, coalesce(k.posted, 0) as posted,
    coalesce(k.spent, 0) as spent, coalesce(k.refunded, 0) as refunded
  from wallets w
  left join (
    select user_id, sum(amount) as granted, sum(debt_settled) as settled from wallet_grants group by user_id
  ) g on g.user_id = w.user_id
  left join (
    select wallet_id, sum(wallet_debt) as incurred, sum(wallet_held) as held, sum(wallet_leased) as leased,
      sum(wallet_posted) as posted, sum(wallet_spent) as spent, sum(wallet_refunded) as refunded
    from keys where wallet_id is not null group by wallet_id
  ) k on k.wallet_id = w.user_id`;

/** The rows of the log without a key. */
const keyless = sql`
  select coalesce(sum(entries), 0) as entries, count(*) as faults from (
    select entries, token_id from log union all select 0, token_id from log_counts
  ) as rows_of_log
  where not exists (select 1 from tokens t where t.id = rows_of_log.token_id)`;

/** The balance of a key or wallet, and the sums that it should follow from. */
const amounts = [
  'balance',
  'used',
  'leased_quota',
  'debt',
  'granted',
  'settled',
  'incurred',
  'held',
  'leased',
  'posted',
  'spent',
  'charged',
  'refunded',
  'corrected',
  'entries',
  'faults',
] as const;

type Amounts = Record<(typeof amounts)[number], number>;

/** `keyless`: entries of the log without a key. */
type AccountKind = 'key' | 'wallet' | 'keyless';

/** A key or wallet that does not balance. Expected are `posted` as its leased quota, and `incurred` minus `settled` as its debt. */
export interface Account extends Amounts {
  kind: AccountKind;
  id: number;
  /** 1: a key that draws from a wallet, so that its balance is only a limit. */
  wallet: 0 | 1;
}

export interface AuditedAccounts {
  /** The sums of each kind, with the number of its accounts as `id`. A kind without accounts is absent. */
  totals: ReadonlyMap<AccountKind, Account>;
  unbalanced: Account[];
}

const columns = sql.join(amounts.map((name) => sql.ref(name)));
const totals = sql.join(amounts.map((name) => sql`${quotaSum(sql.ref(name))} as ${sql.ref(name)}`));

const unbalanced = (kind: AccountKind, limit: number): RawBuilder<unknown> => sql`
  select * from (
    select 'account' as level, kind, id, wallet, ${columns} from accounts
    where kind = ${sql.lit(kind)} and (balance <> granted - settled - held - leased - spent + refunded
      or used <> charged + settled - corrected or leased_quota <> posted or debt <> incurred - settled
      or (balance < 0 and wallet = 0) or debt < 0)
    order by id limit ${limit}
  ) as unbalanced`;

/** Reads the sums of all keys and wallets, and up to `limit` of each that do not balance. Reads the log once. */
export async function auditAccounts(db: Db, limit: number): Promise<AuditedAccounts> {
  const { rows } = await sql<Account & { level: 'total' | 'account' }>`
    with log as materialized (${log}), keys as materialized (${keys}), wallet_sums as (${wallets}),
    accounts as materialized (
      select 'key' as kind, id, case when wallet_id is null then 0 else 1 end as wallet, remain_quota as balance, used_quota as used, leased_quota, debt, granted, settled,
        incurred, held, leased, posted, spent, charged, refunded, corrected, entries, faults from keys
      union all
      select 'wallet', user_id, 0, balance, used, leased_quota, debt, granted, settled,
        incurred, held, leased, posted, spent, spent, refunded, refunded, 0, 0 from wallet_sums
      union all
      select 'keyless', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, entries, faults from (${keyless}) as k
    )
    select 'total' as level, kind, count(*) as id, 0 as wallet, ${totals} from accounts group by kind
    union all ${unbalanced('key', limit)}
    union all ${unbalanced('wallet', limit)}`.execute(db);
  const isTotal = ({ level }: { level: string }) => level === 'total';
  return {
    totals: new Map(rows.filter(isTotal).map((row) => [row.kind, row])),
    unbalanced: rows.filter((row) => !isTotal(row)),
  };
}
