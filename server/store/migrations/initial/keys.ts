import { type Engine, idColumn } from '../migration.ts';

/** Users, keys, and the limits that gateways share. */
export const keys = (engine: Engine): string[] => [
  `create table users (
    id ${idColumn(engine)},
    name text not null,
    group_name text not null,
    parent_id bigint,
    role text not null default 'user',
    disabled_at bigint,
    disabled_by_customer integer not null default 0,
    created_at bigint not null
  )`,
  `create table members (
    id ${idColumn(engine)},
    user_id bigint not null references users (id),
    name text not null,
    role text not null,
    created_at bigint not null,
    removed_at bigint,
    constraint members_role check (role in ('owner', 'developer', 'billing'))
  )`,
  'create index members_user on members (user_id, id) where removed_at is null',
  // Id 1 is reserved for the bootstrap user.
  engine === 'sqlite'
    ? "insert into sqlite_sequence (name, seq) values ('users', 1)"
    : 'alter sequence users_id_seq restart with 2',
  `create table tokens (
    id ${idColumn(engine)},
    user_id bigint not null references users (id),
    name text not null,
    key_hash text not null unique,
    key_hint text not null,
    group_name text,
    status integer not null,
    unlimited_quota integer not null,
    wallet_id bigint,
    budgeted bigint not null default 0,
    remain_quota bigint not null,
    leased_quota bigint not null default 0,
    lease_epoch bigint not null default 0,
    exact_until bigint,
    used_quota bigint not null,
    debt bigint not null default 0,
    expired_time bigint not null,
    model_limits text,
    allow_ips text,
    admin integer not null default 0,
    create_keys integer not null default 1,
    bootstrap integer not null default 0,
    maker_id bigint,
    funder_id bigint,
    allowance_id bigint,
    member_id bigint,
    member_role text,
    requests_per_minute bigint,
    sockets bigint,
    session integer not null default 0,
    deleted_at bigint,
    created_time bigint not null
  )`,
  'create index tokens_user on tokens (user_id, id) where deleted_at is null',
  'create index users_parent on users (parent_id) where parent_id is not null',
  // For statements, which include deleted keys.
  'create index tokens_owner on tokens (user_id)',
  // For figures, which include deleted keys.
  'create index tokens_member on tokens (member_id) where member_id is not null',
  // A user or member has one session key. Id 0 is no member.
  `create unique index tokens_session on tokens (user_id, coalesce(member_id, 0))
    where session = 1 and deleted_at is null`,
  // For user assertions.
  'create index users_name on users (name)',
  'create index tokens_maker on tokens (maker_id) where maker_id is not null',
  // Deleted keys whose remaining quota goes back to the key that it came from.
  `create index tokens_left on tokens (id)
    where deleted_at is not null and funder_id is not null and remain_quota > 0`,
  ...(engine === 'postgres' ? [...sharedLimits, ...announcements] : []),
];

/** Unlogged: after a crash of the server they are empty, which means that nothing was used. */
const sharedLimits = [
  `create unlogged table allowances (
    subject text primary key,
    remaining double precision not null,
    filled_at double precision not null
  ) with (fillfactor = 50)`,
  'create index allowances_filled on allowances (filled_at)',
  `create unlogged table limit_places (
    subject text not null,
    gateway text not null,
    places bigint not null,
    primary key (subject, gateway)
  )`,
  `create unlogged table channel_health (
    channel text not null,
    gateway text not null,
    resting_until double precision not null,
    reason text not null,
    primary key (channel, gateway)
  )`,
];

/** The columns of a key that gateways cache. Columns that change with each call, such as the balance, are not among them. */
const cachedOfToken = [
  'status',
  'deleted_at',
  'name',
  'group_name',
  'unlimited_quota',
  'wallet_id',
  'budgeted',
  'expired_time',
  'model_limits',
  'allow_ips',
  'requests_per_minute',
  'sockets',
  'admin',
  'create_keys',
  'member_role',
];
const cachedOfUser = ['group_name', 'role', 'disabled_at'];

const differs = (columns: readonly string[]) =>
  `(${columns.map((name) => `old.${name}`).join(', ')}) is distinct from (${columns.map((name) => `new.${name}`).join(', ')})`;

/** The change feed: each commit that changes a cached column, or recalls leases, notifies all gateways of the schema. */
const announcements = [
  `create function announce_token() returns trigger language plpgsql as $$
  begin
    perform pg_notify('unigate_' || md5(tg_table_schema),
      case when ${differs(cachedOfToken)} then 'token ' else 'lease ' end || new.id);
    return null;
  end $$`,
  `create trigger tokens_announced after update of ${[...cachedOfToken, 'lease_epoch'].join(', ')} on tokens
  for each row when (${differs([...cachedOfToken, 'lease_epoch'])}) execute function announce_token()`,
  `create function announce_user() returns trigger language plpgsql as $$
  begin
    perform pg_notify('unigate_' || md5(tg_table_schema), 'user ' || new.id);
    return null;
  end $$`,
  `create trigger users_announced after update of ${cachedOfUser.join(', ')} on users
  for each row when (${differs(cachedOfUser)}) execute function announce_user()`,
];
