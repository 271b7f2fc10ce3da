import type { Generated, Kysely } from 'kysely';
import type { BudgetPeriod } from '../lib/budget-period.ts';

/**
 * The tables of both engines. Times are epoch milliseconds unless a column has another unit. Due times are by the monotonic clock
 * of the gateway that wrote them, all others by its calendar.
 */
export interface Database {
  gateways: GatewaysTable;
  secrets: SecretsTable;
  users: UsersTable;
  tokens: TokensTable;
  allowances: AllowancesTable;
  limit_places: LimitPlacesTable;
  grants: GrantsTable;
  wallets: WalletsTable;
  wallet_grants: WalletGrantsTable;
  quota_leases: QuotaLeasesTable;
  ledger: LedgerTable;
  swept_totals: SweptTotalsTable;
  request_log: RequestLogTable;
  statements: StatementsTable;
  members: MembersTable;
  log_counts: LogCountsTable;
  refunds: RefundsTable;
  log_figures: LogFiguresTable;
  log_figures_mark: LogFiguresMarkTable;
  voices: VoicesTable;
  tasks: TasksTable;
  task_queue: TaskQueueTable;
  queue_turns: QueueTurnsTable;
  clips: ClipsTable;
  deliveries: DeliveriesTable;
  budgets: BudgetsTable;
  callback_endpoints: CallbackEndpointsTable;
  events: EventsTable;
  channel_outages: ChannelOutagesTable;
  event_scans: EventScansTable;
  assets: AssetsTable;
  verification_sessions: VerificationSessionsTable;
  changes: ChangesTable;
  loaded_prices: LoadedPricesTable;
  channel_states: ChannelStatesTable;
  channel_health: ChannelHealthTable;
}

/** A connection to the database, or a transaction. */
export type Db = Kysely<Database>;

/** Secrets that all gateways of the store share, created by the first gateway that needs them. */
interface SecretsTable {
  name: string;
  /** 256 random bits in Base64 for URLs. */
  value: string;
}

/** The gateways in service. The leases, claims and reservations of a gateway without a row here are released. */
interface GatewaysTable {
  id: string;
  /** A counter that the gateway increments. Others watch it change, since the clocks of machines can differ. */
  heartbeat: number;
}

export type Role = 'user' | 'admin';

export interface UsersTable {
  id: Generated<number>;
  name: string;
  group_name: string;
  /** The customer of a sub-account, whose wallet pays for it; null: it is no sub-account. It never changes. */
  parent_id: Generated<number | null>;
  /** Only keys of admins can have admin access. */
  role: Generated<Role>;
  /** When its keys were disabled; null: they are enabled. */
  disabled_at: Generated<number | null>;
  /** 1: the customer of a sub-account disabled it, and can enable it. 0: only the operator can. */
  disabled_by_customer: Generated<number>;
  created_at: number;
}

/** An API key and its balance, or its limit if its user has a wallet. Only a hash of the key is stored, with a hint for display. */
export interface TokensTable {
  id: Generated<number>;
  user_id: number;
  name: string;
  key_hash: string;
  key_hint: string;
  /** null: the user's group. */
  group_name: string | null;
  /** Stored values are 1 and 2. The others are derived when the key is shown. */
  status: TokenStatus;
  /** 1: `remain_quota` is neither checked nor changed; `used_quota` still counts. */
  unlimited_quota: 0 | 1;
  /** The user whose wallet pays: its own user, or the customer of its sub-account. `remain_quota` is only a limit then. null: none. */
  wallet_id: Generated<number | null>;
  /** Id of the newest budget that covers it; 0: none does. No quota of it is leased then. */
  budgeted: Generated<number>;
  /** Without the quota that gateways lease. Below zero only with a wallet: when work cost more than the limit. */
  remain_quota: number;
  /** Quota in leases that are not `unlimited`: the sum of their `remaining` and `unposted`. */
  leased_quota: Generated<number>;
  /** Incremented to recall leases: those of an earlier epoch go back. */
  lease_epoch: Generated<number>;
  /** Until then no quota is leased, by the database's clock, since a call needs more than the balance had. */
  exact_until: Generated<number | null>;
  /** Charges of finished work, and debts that grants settled. */
  used_quota: number;
  /** Cost of finished work that no quota covered, which the next grant settles first. */
  debt: Generated<number>;
  /** Unix seconds; -1: never. */
  expired_time: number;
  /** JSON array of model patterns; null: every model of the group. */
  model_limits: string | null;
  /** JSON array of the addresses and ranges (CIDR) that may use it; null: all. */
  allow_ips: string | null;
  /** 1: has the scope `admin`, which is in effect while its user is an admin. Such a key has no limits. */
  admin: Generated<0 | 1>;
  /** 1: can create keys, if each key that it was created with can. */
  create_keys: Generated<0 | 1>;
  /** 1: a gateway created it at its start. */
  bootstrap: Generated<0 | 1>;
  /** The key that it was created with. It works only while that key works. */
  maker_id: number | null;
  /** The key that its quota was taken from, and to which the remainder returns; null: none. */
  funder_id: number | null;
  /** The key whose limits of requests and sockets it shares, in addition to its own; null: none. */
  allowance_id: number | null;
  /** The member of the user who has the key, and the role of the member; null: the user itself. */
  member_id: Generated<number | null>;
  member_role: Generated<MemberRole | null>;
  /** 0: no limit; null: the limit of the key that it shares with, else of the configuration. */
  requests_per_minute: number | null;
  /** Open sockets; 0 and null as above. */
  sockets: number | null;
  /** 1: the session key of its user or member. Its secret and its expiry change when it is renewed. */
  session: Generated<0 | 1>;
  /** The row of a deleted key remains, since its work may still be in progress. */
  deleted_at: number | null;
  /** Unix seconds. */
  created_time: number;
}

/** Token buckets of the request limits of keys and channels, on PostgreSQL. A bucket without a row is full. */
interface AllowancesTable {
  /** `key 7` or `channel native-eu`. */
  subject: string;
  /** Tokens at `filled_at`. Below zero when gateways let more requests pass than there were tokens. */
  remaining: number;
  /** By the database's clock. */
  filled_at: number;
}

/** Shares of gateways in limits of concurrent sockets and calls, on PostgreSQL. Shares of lost gateways do not count. */
interface LimitPlacesTable {
  /** As in `allowances`. */
  subject: string;
  gateway: string;
  places: number;
}

/** 1 enabled, 2 disabled, 3 expired, 4 quota exhausted. */
export type TokenStatus = 1 | 2 | 3 | 4;

/** Quota that was added to a key or taken from it other than by work. */
/** `owner`: everything of the user; `developer`: calls, and its own keys; `billing`: reads what the user spends. */
export type MemberRole = 'owner' | 'developer' | 'billing';

export interface MembersTable {
  id: Generated<number>;
  user_id: number;
  name: string;
  role: MemberRole;
  created_at: number;
  /** When the member was removed and its keys were deleted; null: it is a member. */
  removed_at: Generated<number | null>;
}

interface StatementsTable {
  user_id: number;
  /** Year and month in UTC: 2026-11. */
  month: string;
  /** JSON of a `Statement`. */
  content: string;
  closed_at: number;
}

interface GrantsTable {
  id: Generated<number>;
  token_id: number;
  /** Below zero when it was taken from the key. */
  amount: number;
  /** `given`: by an admin or at creation; `moved`: from or to another key; `debt_moved`: the wallet took over a debt of this amount. */
  kind: 'given' | 'moved' | 'debt_moved';
  /** The other key of a move. */
  other_id: number | null;
  /** The admin who gave it; null: no admin did. */
  given_by: Generated<number | null>;
  /** Idempotency key of the admin's request. */
  idempotency_key: Generated<string | null>;
  /** The admin's reason; null: none. */
  reason: Generated<string | null>;
  /** Part of the amount that settled a debt of the key. The balance got the rest. */
  debt_settled: Generated<number>;
  created_at: number;
}

/** The balance of a user, which pays for the work of all keys of the user and of its sub-accounts. A user without a row has none: each key has its own. */
export interface WalletsTable {
  user_id: number;
  /** Never below zero. Without the quota that gateways lease. */
  balance: number;
  /** Quota in leases of the user's keys: the sum of their `remaining` and `unposted`. */
  leased: Generated<number>;
  /** Cost of finished work that the balance did not cover, which the next grant settles first. */
  debt: Generated<number>;
  /** Charges of work, and debts that grants settled, without refunds. */
  used: Generated<number>;
  /** Debts of the keys when the wallet was opened. */
  debt_taken_over: Generated<number>;
  /** Until then no quota is leased, by the database's clock, since a call needs more than the balance had. */
  exact_until: Generated<number | null>;
  opened_at: number;
}

/** Quota that was added to a wallet or taken from it other than by work. */
export interface WalletGrantsTable {
  id: Generated<number>;
  user_id: number;
  /** Below zero when it was taken from the wallet. */
  amount: number;
  /** `given`: by an admin; `taken_over`: the quota of the user's keys when the wallet was opened. */
  kind: 'given' | 'taken_over';
  /** The admin who gave it; null: no admin did. */
  given_by: number | null;
  /** Id of the payment or of another reason, once for a user; null: the quota was taken over. */
  reference: string | null;
  reason: string | null;
  /** Part of the amount that settled a debt. The balance got the rest. */
  debt_settled: number;
  /** Available quota and debt of the wallet after it. */
  balance_after: number;
  debt_after: number;
  created_at: number;
}

/** Cause of a change: a request of an admin, the start of a gateway, or SIGHUP. */
export type ChangeCause = 'api' | 'start' | 'signal';

/** The audit trail of changes by operators. A row is written in the transaction of its change. */
export interface ChangesTable {
  id: Generated<number>;
  /** The admin and the key of the request. 0: no admin requested the change. */
  user_id: number;
  token_id: number;
  cause: ChangeCause;
  /** The operation, or `changePrices`. */
  action: string;
  /** The changed object: its kind and its id or name, as `token 7`. */
  subject: string;
  /** JSON object of the former and the new values, without secrets. */
  details: string;
  created_at: number;
}

/** The prices that a gateway loaded last: one row, or none before the first start of a gateway. */
interface LoadedPricesTable {
  id: number;
  /** Revision of the configuration. */
  revision: string;
  /** JSON object: quota per unit by model id or pattern. */
  prices: string;
  /** JSON object: price multipliers by group. */
  ratios: string;
  loaded_at: number;
}

export type ReservationKind = 'request' | 'task';

/**
 * Quota that a gateway has taken from a key's balance, and from the wallet of its user, to reserve for calls in memory. Only this
 * gateway writes it, until it is lost.
 */
export interface QuotaLeasesTable {
  id: string;
  token_id: number;
  gateway: string;
  /** Sum of all grants to it. */
  granted: number;
  /** The part that is neither settled nor returned, nor reserved for a task. */
  remaining: number;
  /** Quota that moved to reservations of tasks, and that the key's `leased_quota` still includes. */
  unposted: Generated<number>;
  /** The key's `lease_epoch` when it was granted. */
  epoch: number;
  /** 1: its gateway makes no new reservations in it, and returns quota that becomes free. */
  draining: Generated<0 | 1>;
  /** 1: the key has no limit, so that the wallet alone gave the quota. */
  unlimited: Generated<0 | 1>;
  /** The user whose wallet gave the quota; null: none did. */
  wallet_id: Generated<number | null>;
  granted_at: number;
}

/** The open reservations. Closing one deletes its row, in the transaction that changes the balance and writes the log entry. */
export interface LedgerTable {
  request_id: string;
  token_id: number;
  user_id: number;
  model: string;
  unit: string;
  reserved: number;
  /** 1: the key had no limit when reserving, so closing leaves its balance alone, too. */
  unlimited: 0 | 1;
  /** The user whose wallet has the quota reserved, and pays; null: none. */
  wallet_id: Generated<number | null>;
  /** Budgets of the key up to this id include it. 0: none does. */
  budgeted: Generated<number>;
  /** `refunded`: the quota was returned, since the gateway was lost. A gateway that comes back can still settle the call. */
  state: 'open' | 'refunded';
  kind: ReservationKind;
  opened_at: number;
  /** When it was refunded; null while it is open. */
  closed_at: number | null;
  /** The gateway that serves the request; null for tasks, which outlive gateways. */
  gateway: string | null;
}

/** Sums of the log entries that retention deleted, by key. */
interface SweptTotalsTable {
  token_id: number;
  charged: number;
  /** The part of `charged` that was taken from the balance of a limited key. */
  spent: number;
  debt: number;
  /** The parts of `charged` and `debt` that are of the wallet of the user. */
  wallet_spent: Generated<number>;
  wallet_debt: Generated<number>;
}

/** The columns that explain the price of a call or task. */
interface PriceColumns {
  /** Quota per unit when it was created, before the group's ratio. null: a price rule applied. */
  unit_price: number | null;
  group_ratio: number;
  /** The group whose ratio applied. */
  group_name: string;
  /** Revision of the configuration that set the price. */
  config_revision: string;
}

/** The record of each finished call and task. PostgreSQL partitions it by a further column, `day`: see `log-days.ts`. */
export interface RequestLogTable extends PriceColumns {
  id: Generated<number>;
  request_id: string;
  user_id: number;
  token_id: number;
  token_name: string;
  model_name: string;
  operation: string;
  channel: string;
  /** HTTP status of the response to the client. */
  status: number;
  error_code: string | null;
  unit: string;
  units: number;
  prompt_tokens: number;
  completion_tokens: number;
  quota: number;
  duration_ms: number;
  /** Unix seconds. */
  created_at: number;
  /** Quota that was reserved for it. */
  reserved: number;
  /** 1: the key had no limit when reserving. */
  unlimited: 0 | 1;
  /** 1: the wallet of the user paid, and has the debt. */
  wallet: Generated<0 | 1>;
  /** Cost at the provider in quota units; null: unknown. Only operators see it. */
  cost: number | null;
  /** JSON object of the price rule and the figures that it priced (`AppliedRule`); null: `unit_price` applied. */
  price_rule: string | null;
  /** Public id of the task; null for calls. */
  task_id: string | null;
  /** The provider's own id of the task or request; null: it reported none. Only operators see it. */
  upstream_id: string | null;
  state: FinalState;
  /** Quota that the call cost beyond what the key could pay. */
  debt: number;
}

/** The final state of a call or task. `canceled` means before the provider began it, and is no error. */
export type FinalState = 'completed' | 'failed' | 'canceled';

/** Number of log entries of each key, model and state in each bucket of 2^14 ids. Triggers maintain it. */
interface LogCountsTable {
  user_id: number;
  /** `id >> 14` of the entries. */
  bucket: number;
  token_id: number;
  model_name: string;
  state: FinalState;
  entries: number;
  /** A range that has the times of all of them, in Unix seconds. */
  first_at: number;
  last_at: number;
}

/** Refunds of settled calls and tasks, at most one for each. The log entry keeps the charge. Retention never deletes them. */
export interface RefundsTable
  extends Pick<
    RequestLogTable,
    'request_id' | 'user_id' | 'token_id' | 'model_name' | 'operation' | 'channel' | 'unit' | 'unlimited'
  > {
  charged: number;
  amount: number;
  reason: string;
  /** 1: the wallet of the user got the amount. */
  wallet: Generated<0 | 1>;
  /** The admin. */
  given_by: number;
  /** Idempotency key of the admin's request. */
  idempotency_key: string | null;
  created_at: number;
}

/** Sums of the log entries by hour, user, key, model, channel, operation and unit. They outlive the entries. */
interface LogFiguresTable {
  /** Start of the hour, in Unix seconds. */
  hour: number;
  user_id: number;
  token_id: number;
  model_name: string;
  channel: string;
  operation: string;
  unit: string;
  units: number;
  requests: number;
  /** Entries with a status of 400 or more, or that failed after it was sent. */
  errors: number;
  quota: number;
  /** Cost at the providers, as far as it is known. */
  cost: number;
  /** The same, with the charged quota where no cost is known. */
  channel_spent: number;
  /** Part of the quota that was taken from balances of keys or wallets, and the part that wallets paid. */
  spent: number;
  wallet_spent: number;
  /** Cost that no quota covered, and the part that wallets owe. */
  debt: number;
  wallet_debt: number;
  prompt_tokens: number;
  completion_tokens: number;
  /** Sum and maximum of the durations. */
  duration_ms: number;
  longest_ms: number;
  /** Number of entries that took at most 50 ms, 100 ms and so on: see `latencySteps`. */
  [histogram: `ms_${number}`]: number;
}

/** One row. The entries up to this id are in the sums, and no transaction can add another entry below it. */
interface LogFiguresMarkTable {
  id: 1;
  rolled_to: number;
}

/** An object of a user at a provider. */
interface ProviderObject {
  user_id: number;
  /** The key that created it. */
  token_id: number;
  channel: string;
  created_at: number;
  /** When its status changed. */
  updated_at: number;
}

/** Custom voices. */
export interface VoicesTable extends ProviderObject {
  /** The provider's id, which is public, too. */
  voice_id: string;
  /** The customization model that created it. */
  service: string;
  target_model: string;
  /** DEPLOYING, OK or UNDEPLOYED, as last reported. Voices of services without a status have OK. */
  status: string;
  /** The prefix or preferred name in the request. */
  name: string;
  /** JSON object of request fields: language, voice_prompt, preview_text, and the address of the recording. */
  facts: string;
}

export type AssetType = 'Image' | 'Video' | 'Audio';

/** Media that a provider stores under an id. `Active` and `Failed` are final. */
export interface AssetsTable extends ProviderObject {
  /** The public id, `asset-<YYYYMMDDhhmmss>-<5 characters>`. */
  id: string;
  /** Never shown to clients. */
  upstream_id: string;
  /** The overseas model that it was uploaded for; null: all other models. */
  model: string | null;
  asset_type: AssetType;
  name: string;
  status: 'Processing' | 'Active' | 'Failed';
  group_id: string;
  project_name: string;
  /** Signed address of the media, as last reported. Set if and only if it is active. */
  url: string | null;
  /** When that address expires. */
  url_expires: number | null;
  /** Set if and only if it failed. */
  error_code: string | null;
  error_message: string | null;
}

/** Identity verification sessions. A session leaves `pending` once. */
export interface VerificationSessionsTable extends ProviderObject {
  /** The provider's id and token, which is public, too. */
  session_id: string;
  /** The provider's page for the end user. */
  h5_link: string;
  /** Empty: the end user remains on that page. */
  callback_url: string;
  status: 'pending' | 'verified' | 'failed' | 'expired';
  /** Public id of the verified user's asset group; null: none. */
  group_id: string | null;
  /** Never shown to clients. Set if and only if `group_id` is set. */
  upstream_group_id: string | null;
  /** 10000 if the verification succeeded; null: not reported. */
  result_code: number | null;
  expires_at: number;
}

export type TaskState = 'queued' | 'in_progress' | 'completed' | 'failed';

/** The format of the request that created a task, which is the only one that can read it. */
export type TaskFormat = 'generic' | 'videos' | 'native' | 'official' | 'music' | 'image';

/** The columns of a task that its creation sets. */
export interface NewTaskColumns extends PriceColumns {
  /** The public id. */
  id: string;
  /** Id of the reservation in the ledger, and later of the log entry, which is of the day of `completed_at`. */
  request_id: string;
  user_id: number;
  token_id: number;
  /** The operation that created it, for the log. */
  operation: string;
  format: TaskFormat;
  /** The driver that submits and polls it. */
  driver: string;
  model: string;
  unit: string;
  channel: string;
  /** JSON object of the parts of the request that drivers and renderers need. */
  facts: string;
  /** As in the request; null: absent. */
  service_tier: string | null;
  /** Reserved units. */
  expected_units: number;
  /** JSON object of the price rule and of the facts that price the usage (`TaskPricing`); null: `unit_price` alone. */
  pricing: string | null;
  callback_url: string | null;
  /** Idempotency key of the request. */
  idempotency_key: string | null;
  /** Hash of the request, if it can be repeated: by its idempotency key or by a retry of an SDK. */
  fingerprint: string | null;
  /** Retry count of the last request that the task answered; null: it answers no retries of SDKs. */
  retry_count: number | null;
  created_at: number;
  /** Trace context of the request, as the W3C header; null: not traced. */
  traceparent: string | null;
  /** When it may first have been submitted to a provider, by the clock of due times; null: never. */
  asked_at: number | null;
  /** When it fails unless it is final. By the clock of due times. */
  deadline_at: number;
  /** Milliseconds. */
  poll_interval: number;
}

/** Asynchronous tasks. A task is created together with its reservation. A final state never changes. */
export interface TasksTable extends NewTaskColumns {
  /** Never shown to clients. null: no provider is known to have it. */
  upstream_id: string | null;
  state: TaskState;
  /** 0 to 100. */
  progress: number;
  /** JSON object that the driver created. */
  result: string | null;
  error_code: string | null;
  error_message: string | null;
  updated_at: number;
  started_at: number | null;
  completed_at: number | null;
  /** When the result expires; null until it is final. */
  expires_at: number | null;
  /** Charged quota, as in its log entry; null until it has completed. */
  charged: number | null;
  /** When the provider last reported its state, by the clock of due times. */
  polled_at: number | null;
  /** When it can be claimed: the next poll, or while it is claimed the end of the claim; null when final. */
  next_poll_at: number | null;
  /** Consecutive failed polls. */
  failures: number;
  /** The gateway that has claimed it. */
  lease_owner: string | null;
  /** Counts the claims, so that a write of an earlier claim is rejected. */
  attempt: number;
  /** Since when it waits for a place within the limits of a channel, by the clock of due times; null: it does not wait. */
  queued_at: number | null;
}

/** Tasks that wait for a place within the limits of a channel, or that a provider is getting after they waited. */
export interface TaskQueueTable {
  /** In the order of creation. */
  id: Generated<number>;
  task_id: string;
  user_id: number;
  /** Names of the possible channels in the order of the alphabet. Tasks of one pool compete. */
  pool: string;
  /** JSON array of the same names, in the order of preference. */
  channels: string;
  /** JSON array of the channels that could not take the task in this round. */
  excluded: string;
  /** JSON value for the driver. It is deleted when a provider has accepted the task. */
  request: string;
  request_bytes: number;
  /** Milliseconds in which the task must end after it has left the queue. */
  lifetime_ms: number;
  /** By the clock of due times, as the columns below. */
  queued_at: number;
  /** When the task fails unless it has left the queue. */
  wait_until: number;
  /** When a provider may be asked next. */
  not_before: number;
}

/** When the queue last started a task of a user, so that users are served in turn. */
interface QueueTurnsTable {
  user_id: number;
  /** By the clock of due times. */
  served_at: number;
}

/** Songs and stems of music tasks. A clip is deleted with its task. */
export interface ClipsTable {
  /** The public id. */
  id: string;
  task_id: string;
  user_id: number;
  channel: string;
  /** Never shown to clients, as `upstream_task_id`. */
  upstream_id: string;
  /** The provider's task that created it. A task can have several. */
  upstream_task_id: string;
}

/**
 * Deliveries to callback addresses of tasks and to callback endpoints. A delivery is created together with the change of
 * state or the event that it reports.
 */
export interface DeliveriesTable {
  /** In the order of the changes of a task. */
  id: Generated<number>;
  /** The task has the address. Without the task, nothing is delivered. null: an event. */
  task_id: string | null;
  /** Owner of the task or endpoint, for sharing slots among users. 0: the operator. */
  user_id: number;
  /** null: an event. */
  state: TaskState | null;
  /** null: a change of a task. */
  event_id: string | null;
  /** The endpoint has the address. Set if and only if there is an event. */
  endpoint_id: number | null;
  /** Host and port of the address. */
  host: string;
  /** When the task reached the state, or the time of the event. */
  changed_at: number;
  /** Failed tries. */
  tries: number;
  /** When it can be claimed: the next try, or while it is claimed the end of the claim. null: closed, or waits for an earlier one. */
  next_try_at: number | null;
  /** The gateway that has claimed it. */
  lease_owner: string | null;
  /** Counts the claims, so that a write of an earlier claim is rejected. */
  attempt: number;
  /** null: open. */
  outcome: 'delivered' | 'given_up' | null;
  /** By the clock of due times, as `last_try_at`. */
  closed_at: number | null;
  last_try_at: number | null;
  /** HTTP status of that try; null: no response. */
  last_status: number | null;
  /** Error code of a try without a response. It contains no part of the address. */
  last_error: string | null;
}

/** Limits of what a key, or all keys of a user, spend in a period. Spending before the creation of a budget does not count. */
export interface BudgetsTable {
  id: Generated<number>;
  user_id: number;
  /** The key, with all keys that were created with it; null: all keys of the user. */
  token_id: number | null;
  amount: number;
  period: BudgetPeriod;
  /** IANA name. */
  time_zone: string;
  /** 1: calls that could exceed it are refused. */
  hard: 0 | 1;
  /** JSON array of the percentages at which `budget.reached` is sent. */
  thresholds: string;
  /** Bounds of the period of `spent`. The first reservation or settlement after its end starts the next one. */
  period_start: number;
  period_end: number;
  /** Charges of work that ended in the period. */
  spent: number;
  /** Open reservations, which count in the period in which they end. */
  reserved: number;
  created_at: number;
}

/** Addresses that receive events. */
export interface CallbackEndpointsTable {
  id: Generated<number>;
  /** 0: the operator, who receives the events of all users. */
  user_id: number;
  url: string;
  description: string;
  /** JSON array of the kinds of events. */
  events: string;
  /** Balance at or below which `quota.low` is sent; null: none. */
  quota_threshold: number | null;
  /** Signs the deliveries. Shown at its creation only. */
  secret: string;
  /** The secret before the last rotation, which also signs until `old_secret_until`. */
  old_secret: string | null;
  old_secret_until: number | null;
  disabled_at: number | null;
  created_at: number;
}

export type EventKind =
  | 'quota.low'
  | 'quota.exhausted'
  | 'budget.reached'
  | 'task.stuck'
  | 'channel.unhealthy'
  | 'ping';

/** Events. Each is unique by subject, kind, threshold and period, so that it is sent once. */
interface EventsTable {
  /** The public id. */
  id: string;
  kind: EventKind;
  /** The user that it concerns. 0: none. */
  user_id: number;
  /** The key that it concerns; null: none. */
  token_id: number | null;
  /** Kind and id or name of the object, as `key 7`. */
  subject: string;
  /** 0: the kind has no threshold. */
  threshold: number;
  /** Distinguishes events with the same subject, kind and threshold. */
  period: string;
  /** JSON object, as it is sent. */
  data: string;
  created_at: number;
  /** When its condition ended; null: it continues, and the event does not occur again. */
  ended_at: number | null;
}

/** The channels that a gateway has paused after failures. Rows of lost gateways do not count. */
interface ChannelOutagesTable {
  channel: string;
  gateway: string;
  since: number;
  /** The kind of failure. */
  reason: string;
}

/** One row: when a gateway last searched for events. */
interface EventScansTable {
  id: 1;
  scanned_at: number;
}

/** Channels in a cool-down by gateway, on PostgreSQL. Rows of lost gateways do not count. */
interface ChannelHealthTable {
  channel: string;
  gateway: string;
  /** By the database's clock. */
  resting_until: number;
  /** The kind of failure. */
  reason: string;
}

/** The channels that an admin disabled. */
export interface ChannelStatesTable {
  /** Name of the channel. */
  channel: string;
  /** The admin. */
  user_id: number;
  reason: string;
  disabled_at: number;
}
