import { type Engine, idColumn } from '../migration.ts';

/** Tasks, their clips and the deliveries of their callbacks. */
export const tasks = (engine: Engine): string[] => [
  `create table tasks (
    id text primary key,
    request_id text not null unique,
    user_id bigint not null,
    token_id bigint not null,
    operation text not null,
    format text not null,
    driver text not null,
    model text not null,
    unit text not null,
    channel text not null,
    upstream_id text,
    state text not null,
    progress integer not null,
    facts text not null,
    service_tier text,
    result text,
    error_code text,
    error_message text,
    expected_units double precision not null,
    pricing text,
    unit_price double precision,
    group_ratio double precision not null,
    group_name text not null,
    config_revision text not null,
    callback_url text,
    idempotency_key text,
    fingerprint text,
    retry_count bigint,
    traceparent text,
    created_at bigint not null,
    updated_at bigint not null,
    started_at bigint,
    completed_at bigint,
    expires_at bigint,
    charged bigint,
    asked_at bigint,
    deadline_at bigint not null,
    polled_at bigint,
    next_poll_at bigint,
    poll_interval integer not null,
    failures integer not null,
    lease_owner text,
    attempt integer not null,
    queued_at bigint,
    constraint tasks_state check (state in ('queued', 'in_progress', 'completed', 'failed')),
    -- A final task is never claimed, and every other task will be, after it has left the queue.
    constraint tasks_due check (
      (next_poll_at is null) = (completed_at is not null or queued_at is not null)
      and (completed_at is null or queued_at is null)
      and (completed_at is null) = (state in ('queued', 'in_progress'))
    )
  )`,
  // Lists and searches read their index alone until they know the page, since rows are long.
  `create index tasks_owner
    on tasks (user_id, format, created_at, id, state, error_code, model, service_tier)`,
  `create index tasks_search
    on tasks (created_at, id, state, user_id, token_id, model, channel, format, driver, error_code, upstream_id)`,
  'create index tasks_open on tasks (channel, next_poll_at) where next_poll_at is not null',
  'create index tasks_final on tasks (completed_at) where completed_at is not null',
  `create unique index tasks_idempotency on tasks (user_id, format, idempotency_key)
    where idempotency_key is not null`,
  `create index tasks_retries on tasks (token_id, fingerprint, retry_count, created_at)
    where retry_count is not null`,
  `create table task_queue (
    id ${idColumn(engine)},
    task_id text not null unique references tasks (id) on delete cascade,
    user_id bigint not null,
    pool text not null,
    channels text not null,
    excluded text not null,
    request text not null,
    request_bytes bigint not null,
    lifetime_ms bigint not null,
    queued_at bigint not null,
    wait_until bigint not null,
    not_before bigint not null
  )`,
  // Positions read the index alone, since requests are long.
  'create index task_queue_order on task_queue (pool, user_id, id, task_id)',
  'create index task_queue_late on task_queue (wait_until)',
  // For the limits of the queue, also without reading requests.
  'create index task_queue_sizes on task_queue (user_id, request_bytes)',
  `create table queue_turns (
    user_id bigint primary key,
    served_at bigint not null
  )`,
  `create table clips (
    id text primary key,
    task_id text not null references tasks (id) on delete cascade,
    user_id bigint not null,
    channel text not null,
    upstream_id text not null,
    upstream_task_id text not null
  )`,
  'create index clips_task on clips (task_id)',
  `create table deliveries (
    id ${idColumn(engine)},
    task_id text,
    user_id bigint not null,
    state text,
    event_id text,
    endpoint_id bigint,
    host text not null,
    changed_at bigint not null,
    tries integer not null,
    next_try_at bigint,
    lease_owner text,
    attempt integer not null,
    outcome text,
    closed_at bigint,
    last_try_at bigint,
    last_status integer,
    last_error text,
    constraint deliveries_outcome check (outcome in ('delivered', 'given_up')),
    constraint deliveries_due check (
      (next_try_at is null or closed_at is null) and (outcome is null) = (closed_at is null)
    ),
    constraint deliveries_subject check (
      (task_id is null) = (state is null) and (task_id is null) = (event_id is not null)
      and (event_id is null) = (endpoint_id is null)
    ),
    -- A task reaches each state once, so each state is delivered once.
    constraint deliveries_task unique (task_id, state),
    constraint deliveries_event unique (event_id, endpoint_id)
  )`,
  'create index deliveries_open on deliveries (next_try_at) where next_try_at is not null',
  'create index deliveries_user on deliveries (user_id, next_try_at) where next_try_at is not null',
  'create index deliveries_changed on deliveries (user_id, changed_at, id)',
  'create index deliveries_endpoint on deliveries (endpoint_id, id) where endpoint_id is not null',
  'create index deliveries_closed on deliveries (closed_at) where closed_at is not null',
  // Few rows among the many that are delivered.
  'create index deliveries_unclosed on deliveries (id) where closed_at is null',
  "create index deliveries_given_up on deliveries (id) where outcome = 'given_up'",
  // For the claims of lost gateways. SQLite looks for them once, at the start.
  ...(engine === 'postgres'
    ? [
        'create index tasks_leased on tasks (lease_owner) where lease_owner is not null',
        'create index deliveries_leased on deliveries (lease_owner) where lease_owner is not null',
      ]
    : []),
];
