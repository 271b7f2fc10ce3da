import { type Engine, idColumn } from '../migration.ts';

/** Callback endpoints, and the events that they receive. */
export const events = (engine: Engine): string[] => [
  `create table callback_endpoints (
    id ${idColumn(engine)},
    user_id bigint not null,
    url text not null,
    description text not null,
    events text not null,
    quota_threshold bigint,
    secret text not null,
    old_secret text,
    old_secret_until bigint,
    disabled_at bigint,
    created_at bigint not null,
    constraint callback_endpoints_old_secret check ((old_secret is null) = (old_secret_until is null))
  )`,
  'create index callback_endpoints_user on callback_endpoints (user_id, id)',
  `create table events (
    id text primary key,
    kind text not null,
    user_id bigint not null,
    token_id bigint,
    subject text not null,
    threshold bigint not null,
    period text not null,
    data text not null,
    created_at bigint not null,
    ended_at bigint,
    -- Several gateways that detect an event at once record it once.
    constraint events_once unique (subject, kind, threshold, period)
  )`,
  // An event does not occur again while its condition continues.
  'create unique index events_open on events (subject, kind, threshold) where ended_at is null',
  'create index events_ended on events (ended_at) where ended_at is not null',
  `create table channel_outages (
    channel text not null,
    gateway text not null,
    since bigint not null,
    reason text not null,
    primary key (channel, gateway)
  )`,
  `create table event_scans (
    id integer primary key,
    scanned_at bigint not null
  )`,
];
