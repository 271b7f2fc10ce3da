import { type Engine, idColumn } from '../migration.ts';

/** Quota: grants, wallets, leases, reservations, refunds and the sums of swept entries. No foreign keys: these rows outlive their keys. */
export const ledger = (engine: Engine): string[] => [
  `create table grants (
    id ${idColumn(engine)},
    token_id bigint not null,
    amount bigint not null,
    kind text not null,
    other_id bigint,
    given_by bigint,
    idempotency_key text,
    reason text,
    debt_settled bigint not null default 0,
    created_at bigint not null,
    constraint grants_kind check (kind in ('given', 'moved', 'debt_moved'))
  )`,
  'create index grants_token on grants (token_id)',
  // Finds a repeated grant by its idempotency key, however old it is.
  `create unique index grants_once on grants (given_by, idempotency_key)
    where idempotency_key is not null`,
  `create table wallets (
    user_id bigint primary key,
    balance bigint not null,
    leased bigint not null default 0,
    debt bigint not null default 0,
    used bigint not null default 0,
    debt_taken_over bigint not null default 0,
    exact_until bigint,
    opened_at bigint not null,
    constraint wallets_balance check (balance >= 0 and leased >= 0 and debt >= 0)
  )`,
  `create table wallet_grants (
    id ${idColumn(engine)},
    user_id bigint not null,
    amount bigint not null,
    kind text not null,
    given_by bigint,
    reference text,
    reason text,
    debt_settled bigint not null,
    balance_after bigint not null,
    debt_after bigint not null,
    created_at bigint not null,
    constraint wallet_grants_kind check (kind in ('given', 'taken_over'))
  )`,
  'create index wallet_grants_user on wallet_grants (user_id, id)',
  'create unique index wallet_grants_once on wallet_grants (user_id, reference) where reference is not null',
  `create table quota_leases (
    id text primary key,
    token_id bigint not null,
    gateway text not null,
    granted bigint not null,
    remaining bigint not null,
    unposted bigint not null default 0,
    epoch bigint not null,
    draining integer not null default 0,
    unlimited integer not null default 0,
    wallet_id bigint,
    granted_at bigint not null,
    constraint quota_leases_remaining check (remaining >= 0 and remaining <= granted),
    constraint quota_leases_unposted check (unposted >= 0)
  )`,
  'create index quota_leases_token on quota_leases (token_id)',
  'create index quota_leases_gateway on quota_leases (gateway)',
  'create index quota_leases_wallet on quota_leases (wallet_id) where wallet_id is not null',
  `create table ledger (
    request_id text primary key,
    token_id bigint not null,
    user_id bigint not null,
    model text not null,
    unit text not null,
    reserved bigint not null,
    unlimited integer not null,
    wallet integer not null default 0,
    state text not null,
    kind text not null,
    gateway text,
    opened_at bigint not null,
    closed_at bigint,
    constraint ledger_state check (state in ('open', 'refunded')),
    constraint ledger_closed check ((state = 'open') = (closed_at is null)),
    constraint ledger_kind check (kind in ('request', 'task'))
  )`,
  "create index ledger_open on ledger (gateway) where state = 'open' and kind = 'request'",
  "create index ledger_wallet on ledger (user_id) where wallet = 1 and state = 'open'",
  'create index ledger_closed on ledger (closed_at) where closed_at is not null',
  `create table refunds (
    request_id text primary key,
    token_id bigint not null,
    user_id bigint not null,
    model_name text not null,
    operation text not null,
    channel text not null,
    unit text not null,
    charged bigint not null,
    amount bigint not null,
    unlimited integer not null,
    wallet integer not null default 0,
    reason text not null,
    given_by bigint not null,
    idempotency_key text,
    created_at bigint not null,
    constraint refunds_amount check (amount > 0 and amount <= charged)
  )`,
  `create unique index refunds_once on refunds (given_by, idempotency_key)
    where idempotency_key is not null`,
  'create index refunds_created on refunds (created_at)',
  'create index refunds_user on refunds (user_id, created_at)',
  // Closed months, which never change. They outlive their users' keys.
  `create table statements (
    user_id bigint not null,
    month text not null,
    content text not null,
    closed_at bigint not null,
    constraint statements_month primary key (user_id, month)
  )`,
  `create table swept_totals (
    token_id bigint primary key,
    charged bigint not null,
    spent bigint not null,
    debt bigint not null,
    wallet_spent bigint not null default 0,
    wallet_debt bigint not null default 0
  )`,
];
