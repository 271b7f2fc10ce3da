import { sql } from 'kysely';
import type { Db } from '../schema.ts';
import { isPostgres } from '../statement.ts';
import { type Account, auditAccounts } from './audit-accounts.ts';
import { type AuditProblem, checks, logChecks, repeatedEntries } from './audit-checks.ts';

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
type WalletTotals = Record<
  'wallets' | 'granted' | 'held' | 'leased' | 'spent' | 'refunded' | 'balance' | 'debt',
  number
>;

/** Largest number of listed problems of one kind. */
const maxListed = 1_000;

/** Checks that grants equal balance, leases, reservations and spent quota, and that ledger, log and tasks agree. Needs a snapshot. */
export async function auditLedger(db: Db): Promise<Audit> {
  const hasPartitions = isPostgres(db);
  if (hasPartitions) await speedUp(db);
  const { totals, unbalanced } = await auditAccounts(db, maxListed);
  const sumsOf = (kind: 'key' | 'wallet' | 'keyless') => totals.get(kind) ?? noAccounts;
  const [keys, wallets, keyless] = [sumsOf('key'), sumsOf('wallet'), sumsOf('keyless')];
  const { rows: reservations } = await sql<{ open: number; closed: number }>`
    select coalesce(sum(case when closed_at is null then 1 else 0 end), 0) as open,
      coalesce(sum(case when closed_at is null then 0 else 1 end), 0) as closed from ledger`.execute(db);
  const [{ open, closed } = { open: 0, closed: 0 }] = reservations;
  const problems = unbalanced.flatMap(balanceProblems);
  const countOf = (wanted: string) => unbalanced.filter(({ kind }) => kind === wanted).length;
  let more = countOf('key') === maxListed || countOf('wallet') === maxListed;
  const hasLogFaults = keys.faults + keyless.faults > 0;
  const needed = [...checks, ...(hasLogFaults ? logChecks : []), ...(hasPartitions ? [repeatedEntries] : [])];
  for (const check of needed) {
    const { rows } = await sql<AuditProblem>`
      select * from (${check}) as c order by 1, 2 limit ${maxListed}`.execute(db);
    problems.push(...rows.map(({ subject, problem }) => ({ subject, problem })));
    more ||= rows.length === maxListed;
  }
  const { rows: debtors } = await sql<{ id: number; name: string; debt: number; deleted_at: number | null }>`
    select id, name, debt, deleted_at from tokens where debt <> 0
    order by debt desc, id limit ${maxListed}`.execute(db);
  const { granted, held, leased, spent, refunded, debt } = keys;
  return {
    keys: keys.id,
    open,
    closed: closed + keys.entries + keyless.entries,
    granted,
    held,
    leased,
    spent,
    refunded,
    left: keys.balance,
    debt,
    debtors: debtors.map(({ deleted_at: deletedAt, ...key }) => ({ ...key, deleted: deletedAt !== null })),
    wallets: walletTotals(wallets),
    problems,
    more,
  };
}

/** Sets the planner up for queries that read the whole log once, until the end of the transaction. */
async function speedUp(db: Db): Promise<void> {
  await sql`set local work_mem = '64MB'`.execute(db);
  // Compiling an expression for each partition takes longer than its use.
  await sql`set local jit = off`.execute(db);
}

const noAccounts = {
  id: 0,
  balance: 0,
  granted: 0,
  held: 0,
  leased: 0,
  spent: 0,
  refunded: 0,
  debt: 0,
  entries: 0,
  faults: 0,
};

function walletTotals({
  id: count,
  balance,
  granted,
  held,
  leased,
  spent,
  refunded,
  debt,
}: typeof noAccounts): WalletTotals {
  return { wallets: count, granted, held, leased, spent, refunded, balance, debt };
}

function balanceProblems(account: Account): AuditProblem[] {
  const { kind, id, balance, used, debt, leased_quota: leasedQuota } = account;
  const { granted, settled, held, leased, spent, refunded, posted } = account;
  const expected = granted - settled - held - leased - spent + refunded;
  const expectedUse = account.charged + settled - account.corrected;
  const expectedDebt = account.incurred - settled;
  const optional = (label: string, amount: number) => (amount === 0 ? '' : `, ${label} ${amount}`);
  const sums =
    `granted ${granted}${optional('debts settled', settled)}, held ${held}${optional('leased', leased)}` +
    `, spent ${spent}${optional('refunded', refunded)}`;
  const problems = [
    balance !== expected && `has ${balance} left, which should be ${expected} (${sums})`,
    used !== expectedUse && `has used ${used}, which should be ${expectedUse}`,
    debt !== expectedDebt && `has a debt of ${debt}, which should be ${expectedDebt}`,
    leasedQuota !== posted && `has leased ${leasedQuota}, and its leases have ${posted}`,
    balance < 0 && account.wallet === 0 && `has a balance below zero: ${balance}`,
    debt < 0 && `has a debt below zero: ${debt}`,
  ];
  const subject = kind === 'key' ? `key ${id}` : `wallet of user ${id}`;
  return problems.flatMap((problem) => (problem === false ? [] : { subject, problem }));
}
