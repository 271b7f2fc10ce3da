import { type Engine, idColumn } from '../migration.ts';

/** Gateways, their shared secrets, and the records of what operators change. */
export const operation = (engine: Engine): string[] => [
  `create table gateways (
    id text primary key,
    heartbeat bigint not null
  )`,
  `create table secrets (
    name text primary key,
    value text not null
  )`,
  `create table channel_states (
    channel text primary key,
    user_id bigint not null,
    reason text not null,
    disabled_at bigint not null
  )`,
  `create table changes (
    id ${idColumn(engine)},
    user_id bigint not null,
    token_id bigint not null,
    cause text not null,
    action text not null,
    subject text not null,
    details text not null,
    created_at bigint not null
  )`,
  'create index changes_subject on changes (subject, id)',
  'create index changes_created on changes (created_at, id)',
  `create table loaded_prices (
    id integer primary key,
    revision text not null,
    prices text not null,
    ratios text not null,
    loaded_at bigint not null
  )`,
  ...(engine === 'postgres' ? [commits] : []),
];

// SQLite acknowledges every commit. The times are the server's, whose clock all gateways share.
const commits = `
  create table commits (
    store text not null,
    slot integer not null,
    number bigint not null,
    made_at timestamptz not null default now(),
    constraint commits_slot primary key (store, slot)
  )`;
