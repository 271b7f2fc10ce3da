import type { Engine } from '../migration.ts';

/** The request log, its counts for searches, and its sums by hour. */
export const requestLog = (engine: Engine): string[] => [
  ...(engine === 'sqlite' ? sqliteLog : postgresLog),
  // Entries by key, model and state in buckets of 2^14 ids, so that a search need not read the log.
  `create table log_counts (
    user_id bigint not null,
    bucket bigint not null,
    token_id bigint not null,
    model_name text not null,
    state text not null,
    entries bigint not null,
    first_at bigint not null,
    last_at bigint not null,
    constraint log_counts_key primary key (user_id, bucket, token_id, model_name, state)
  ) ${storage(engine)}`,
  ...(engine === 'sqlite' ? sqliteCounting : postgresCounting),
  // The sums outlive the entries.
  `create table log_figures (
    hour bigint not null,
    user_id bigint not null,
    token_id bigint not null,
    model_name text not null,
    channel text not null,
    operation text not null,
    unit text not null,
    units double precision not null,
    requests bigint not null,
    errors bigint not null,
    quota bigint not null,
    cost bigint not null,
    channel_spent bigint not null,
    spent bigint not null,
    wallet_spent bigint not null,
    debt bigint not null,
    wallet_debt bigint not null,
    prompt_tokens bigint not null,
    completion_tokens bigint not null,
    duration_ms bigint not null,
    longest_ms bigint not null,
    ${latencySteps.map((step) => `ms_${step} bigint not null,`).join('\n    ')}
    constraint log_figures_key primary key (hour, user_id, token_id, model_name, channel, operation, unit)
  ) ${storage(engine)}`,
  // For the figures of one user, whose rows are few in each hour.
  'create index log_figures_user on log_figures (user_id, hour)',
  'create table log_figures_mark (id integer primary key, rolled_to bigint not null)',
  'insert into log_figures_mark (id, rolled_to) values (1, 0)',
];

const latencySteps = [50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000, 60000, 300000];

/** Rows that are updated often: PostgreSQL leaves space for new versions of a row in its page. */
const storage = (engine: Engine) => (engine === 'sqlite' ? 'without rowid' : 'with (fillfactor = 50)');

const columns = `
  request_id text not null,
  user_id bigint not null,
  token_id bigint not null,
  token_name text not null,
  model_name text not null,
  operation text not null,
  channel text not null,
  status integer not null,
  error_code text,
  unit text not null,
  units double precision not null,
  prompt_tokens bigint not null,
  completion_tokens bigint not null,
  quota bigint not null,
  debt bigint not null,
  reserved bigint not null,
  unlimited integer not null,
  wallet integer not null default 0,
  duration_ms bigint not null,
  created_at bigint not null,
  state text not null,
  unit_price double precision,
  price_rule text,
  cost bigint,
  group_ratio double precision not null,
  group_name text not null,
  config_revision text not null,
  task_id text,
  upstream_id text`;

// Lists are ordered by id, the order of writing, since many entries share a second.
const sqliteLog = [
  `create table request_log (id integer primary key autoincrement, ${columns})`,
  'create unique index request_log_request on request_log (request_id)',
  'create index request_log_user on request_log (user_id, id)',
  'create index request_log_key on request_log (token_id, model_name, id)',
  'create index request_log_task on request_log (task_id) where task_id is not null',
];

const postgresLog = [
  `create table request_log (id bigserial not null, ${columns}, day integer not null) partition by range (day)`,
  // Has the days without a partition of their own, and is the pattern for partitions. All indexes are of the partitions.
  'create table request_log_other (like request_log including defaults, primary key (id))',
  // By bytes, so that the index also finds a prefix, in every collation.
  'create unique index request_log_other_request on request_log_other (request_id text_pattern_ops)',
  'create index request_log_other_user on request_log_other (user_id, id)',
  'create index request_log_other_key on request_log_other (token_id, model_name, id)',
  'create index request_log_other_task on request_log_other (task_id) where task_id is not null',
  'alter table request_log attach partition request_log_other default',
];

const counts = 'user_id, bucket, token_id, model_name, state, entries, first_at, last_at';

const sqliteCounting = [
  `create trigger request_log_added after insert on request_log begin
    insert into log_counts (${counts})
    values (new.user_id, new.id >> 14, new.token_id, new.model_name, new.state, 1, new.created_at, new.created_at)
    on conflict (user_id, bucket, token_id, model_name, state) do update set entries = log_counts.entries + 1,
      first_at = min(log_counts.first_at, excluded.first_at), last_at = max(log_counts.last_at, excluded.last_at);
  end`,
  `create trigger request_log_removed after delete on request_log begin
    update log_counts set entries = entries - 1 where user_id = old.user_id and bucket = old.id >> 14
      and token_id = old.token_id and model_name = old.model_name and state = old.state;
    delete from log_counts where user_id = old.user_id and bucket = old.id >> 14
      and token_id = old.token_id and model_name = old.model_name and state = old.state and entries = 0;
  end`,
];

/** Entries are counted once a statement, since a batch often has hundreds of one key and model. */
const postgresCounting = [
  `create function count_log_entries() returns trigger language plpgsql as $$
  begin
    insert into log_counts (${counts})
    select user_id, id >> 14, token_id, model_name, state, count(*), min(created_at), max(created_at) from added
    group by user_id, id >> 14, token_id, model_name, state
    order by user_id, id >> 14, token_id, model_name, state
    on conflict (user_id, bucket, token_id, model_name, state) do update set entries = log_counts.entries + excluded.entries,
      first_at = least(log_counts.first_at, excluded.first_at), last_at = greatest(log_counts.last_at, excluded.last_at);
    return null;
  end $$`,
  `create function uncount_log_entry() returns trigger language plpgsql as $$
  begin
    update log_counts set entries = entries - 1 where user_id = old.user_id and bucket = old.id >> 14
      and token_id = old.token_id and model_name = old.model_name and state = old.state;
    delete from log_counts where user_id = old.user_id and bucket = old.id >> 14
      and token_id = old.token_id and model_name = old.model_name and state = old.state and entries = 0;
    return null;
  end $$`,
  `create trigger request_log_counted after insert on request_log
  referencing new table as added for each statement execute function count_log_entries()`,
  `create trigger request_log_uncounted after delete on request_log
  for each row execute function uncount_log_entry()`,
];
