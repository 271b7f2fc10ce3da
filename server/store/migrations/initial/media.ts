/** Voices, assets and identity verification sessions that live at a provider. */
export const media = (): string[] => [
  `create table voices (
    voice_id text primary key,
    user_id bigint not null,
    token_id bigint not null,
    service text not null,
    target_model text not null,
    channel text not null,
    status text not null,
    name text not null,
    facts text not null,
    created_at bigint not null,
    updated_at bigint not null
  )`,
  'create index voices_owner on voices (user_id, service, created_at)',
  `create table assets (
    id text primary key,
    user_id bigint not null,
    token_id bigint not null,
    channel text not null,
    upstream_id text not null,
    model text,
    asset_type text not null,
    name text not null,
    status text not null,
    group_id text not null,
    project_name text not null,
    url text,
    url_expires bigint,
    error_code text,
    error_message text,
    created_at bigint not null,
    updated_at bigint not null,
    constraint assets_status check (status in ('Processing', 'Active', 'Failed')),
    constraint assets_url check ((status = 'Active') = (url is not null)),
    constraint assets_error check ((status = 'Failed') = (error_code is not null))
  )`,
  'create index assets_owner on assets (user_id, created_at)',
  `create table verification_sessions (
    session_id text primary key,
    user_id bigint not null,
    token_id bigint not null,
    channel text not null,
    h5_link text not null,
    callback_url text not null,
    status text not null,
    group_id text,
    upstream_group_id text,
    result_code bigint,
    created_at bigint not null,
    updated_at bigint not null,
    expires_at bigint not null,
    constraint verification_sessions_status check (status in ('pending', 'verified', 'failed', 'expired')),
    constraint verification_sessions_group check (status = 'verified' or group_id is null),
    constraint verification_sessions_upstream_group check ((group_id is null) = (upstream_group_id is null))
  )`,
  // Uploads name a group.
  'create index verification_sessions_group_id on verification_sessions (user_id, group_id)',
  // Sessions of verified users are never swept.
  `create index verification_sessions_swept on verification_sessions (updated_at)
    where group_id is null`,
];
