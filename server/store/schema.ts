import type { Generated } from 'kysely';

/**
 * The tables, as both engines hold them. Times are epoch milliseconds unless a column says otherwise. Those that say
 * when something is due are by the monotonic clock of the gateway that wrote them, the others by its calendar.
 */
export interface Database {
  gateways: GatewaysTable;
  secrets: SecretsTable;
  users: UsersTable;
  tokens: TokensTable;
  allowances: AllowancesTable;
  socket_places: SocketPlacesTable;
  grants: GrantsTable;
  quota_leases: QuotaLeasesTable;
  ledger: LedgerTable;
  swept_totals: SweptTotalsTable;
  request_log: RequestLogTable;
  log_counts: LogCountsTable;
  refunds: RefundsTable;
  log_figures: LogFiguresTable;
  log_figures_mark: LogFiguresMarkTable;
  voices: VoicesTable;
  tasks: TasksTable;
  clips: ClipsTable;
  deliveries: DeliveriesTable;
  assets: AssetsTable;
  verification_sessions: VerificationSessionsTable;
  changes: ChangesTable;
  loaded_prices: LoadedPricesTable;
  channel_states: ChannelStatesTable;
}

/** Secrets that all gateways of the store share, made by the first one that needs them. */
export interface SecretsTable {
  name: string;
  /** 256 random bits in Base64 for URLs. */
  value: string;
}

/** The gateways at work. What belongs to one that is not here is free: its leases, and the holds of its requests. */
export interface GatewaysTable {
  id: string;
  /** Grows while the gateway lives. Others look whether it does, since clocks of machines may differ. */
  beat: number;
}

export type Role = 'user' | 'admin';

export interface UsersTable {
  id: Generated<number>;
  name: string;
  group_name: string;
  /** Only keys of admins can have admin access. */
  role: Generated<Role>;
  /** Its keys are refused from then on; null: they are not. */
  disabled_at: Generated<number | null>;
  created_at: number;
}

/** An API key and its balance. The key itself is not kept, only its hash and a hint for display. */
export interface TokensTable {
  id: Generated<number>;
  user_id: number;
  name: string;
  key_hash: string;
  key_hint: string;
  /** null: the user's group. */
  group_name: string | null;
  /** 2: disabled. The others are worked out when the key is shown. */
  status: TokenStatus;
  /** 1: `remain_quota` is neither checked nor changed; `used_quota` still counts. */
  unlimited_quota: 0 | 1;
  /** Never below zero. What is leased to gateways is not in it. */
  remain_quota: number;
  /** What gateways have of it in leases: the sum of what these have left, and of what has left them unposted. */
  leased_quota: Generated<number>;
  /** Grows when leases are to come back: those of an earlier epoch are recalled. */
  lease_epoch: Generated<number>;
  /** Until then nothing is leased, by the database's clock, in epoch milliseconds: somebody needs all that there is. */
  exact_until: Generated<number | null>;
  /** What finished work was charged, and debts that grants settled. */
  used_quota: number;
  /** Cost of finished work that no quota covered, which the next grant settles first. */
  debt: Generated<number>;
  /** Unix seconds; -1: never. */
  expired_time: number;
  /** JSON array of model patterns; null: every model of the group. */
  model_limits: string | null;
  /** JSON array of addresses and ranges (CIDR) that it may be used from; null: everywhere. */
  allow_ips: string | null;
  /** 1: may call the operations of the operator while its user is an admin. Such a key has no limits. */
  admin: Generated<0 | 1>;
  /** 1: may create keys, if each key that it was created with may. */
  create_keys: Generated<0 | 1>;
  /** 1: the gateway created it at a start. */
  bootstrap: Generated<0 | 1>;
  /** The key that it was created with. It works only while that key works. */
  maker_id: number | null;
  /** The key that its quota was taken from, which gets back what is left; null: nothing was taken. */
  funder_id: number | null;
  /** The key whose allowance of requests and sockets it shares, beside one of its own where it has figures; null: none. */
  allowance_id: number | null;
  /** 0: no limit; null: what the key has that it shares with, else the configuration. */
  requests_per_minute: number | null;
  /** Open sockets; 0 and null as above. */
  sockets: number | null;
  /** A deleted key's row stays, since work that it paid for may still end. */
  deleted_at: number | null;
  /** Unix seconds. */
  created_time: number;
}

/** What is left of the requests that a key may send a minute, on PostgreSQL; one that is not here is full. */
export interface AllowancesTable {
  token_id: number;
  /** When it was last filled; below zero where gateways let more pass than there was. */
  remaining: number;
  /** By the database's clock. */
  filled_at: number;
}

/** How many of the sockets that a key may have open are a gateway's, on PostgreSQL; those of a gateway that is gone do not count. */
export interface SocketPlacesTable {
  token_id: number;
  gateway: string;
  places: number;
}

/** 1 enabled, 2 disabled, 3 expired, 4 quota exhausted. */
export type TokenStatus = 1 | 2 | 3 | 4;

/** Quota that came to a key, or left it, otherwise than by work. The rows of a key and its ledger are its balance. */
export interface GrantsTable {
  id: Generated<number>;
  token_id: number;
  /** Below zero when it left. */
  amount: number;
  /** `opening`: what it had when grants began to be written; `given`: from nowhere; `moved`: from or to another key. */
  kind: 'opening' | 'given' | 'moved';
  /** The other key of a move. */
  other_id: number | null;
  /** The admin who gave it; null: none did. */
  given_by: Generated<number | null>;
  /** The admin's own name for the request: another one of that name is the same. */
  idempotency_key: Generated<string | null>;
  /** Why an admin gave it; null: that was not said. */
  reason: Generated<string | null>;
  /** Part of the amount that settled a debt of the key. The balance got the rest. */
  debt_settled: Generated<number>;
  created_at: number;
}

/** What an admin has changed or set off, written together with the change. */
/** What set off a change: a request of an admin, the start of a gateway, or SIGHUP. */
export type ChangeCause = 'api' | 'start' | 'signal';

export interface ChangesTable {
  id: Generated<number>;
  /** The admin and the key of the request. 0: no admin requested the change. */
  user_id: number;
  token_id: number;
  cause: Generated<ChangeCause>;
  /** The operation, or `changePrices`. */
  action: string;
  /** What was changed: its kind and its number, id or name, as `token 7`. */
  subject: string;
  /** JSON object of what became of it; no secrets. */
  details: string;
  created_at: number;
}

/** The prices that a gateway loaded last: one row, or none before the first start. */
export interface LoadedPricesTable {
  id: number;
  /** Of the configuration. */
  revision: string;
  /** JSON object: quota per unit by model id or pattern. */
  prices: string;
  /** JSON object: price multipliers by group. */
  ratios: string;
  loaded_at: number;
}

export type ReservationKind = 'request' | 'task';

/**
 * Quota that a gateway has taken out of a key's balance, so that it can hold calls without writing. It lasts until its gateway gives
 * it back or is gone. Only its gateway writes it, until it is gone.
 */
export interface QuotaLeasesTable {
  id: string;
  token_id: number;
  gateway: string;
  /** All that was ever put into it. */
  granted: number;
  /** What of it is neither settled nor given back, nor held for a task. */
  remaining: number;
  /** What has left it for tasks since the key's `leased_quota` was last brought up to date: so much less is leased. */
  unposted: Generated<number>;
  /** The key's `lease_epoch` when it was granted: one of an earlier epoch is recalled. */
  epoch: number;
  /** 1: its gateway holds nothing new in it, and gives back what becomes free. */
  draining: Generated<0 | 1>;
  granted_at: number;
}

/**
 * One row a reservation that is open: whoever closes it deletes it, exactly once, together with the balance change, and its entry of
 * the log is its record from then on. Gateways of versions before leave it, with the state that it came to, until it is swept.
 */
export interface LedgerTable {
  request_id: string;
  token_id: number;
  user_id: number;
  model: string;
  unit: string;
  reserved: number;
  /** Set when settled, by a gateway of a version before. */
  charged: number | null;
  /** 1: the token had no limit when reserving, so closing must leave its balance alone too. */
  unlimited: 0 | 1;
  state: 'open' | 'settled' | 'refunded';
  kind: ReservationKind;
  opened_at: number;
  closed_at: number | null;
  /**
   * The gateway that is at work on a request; null for tasks, which outlive gateways.
   * A refunded row that still has one was given back because the gateway was gone, which may turn out to be wrong.
   */
  gateway: string | null;
}

/** What the calls and tasks came to whose records are kept no more, by key. */
export interface SweptTotalsTable {
  token_id: number;
  /** What they cost. */
  charged: number;
  /** What of that was taken from the balance of a limited key. */
  spent: number;
  /** Debts that they left. */
  debt: Generated<number>;
}

/** On PostgreSQL there is a column `day` besides, by which it is partitioned, see `log-days.ts`. */
export interface RequestLogTable {
  id: Generated<number>;
  request_id: string;
  user_id: number;
  token_id: number;
  token_name: string;
  model_name: string;
  operation: string;
  channel: string;
  /** HTTP status given to the client. */
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
  /** Quota that was held for it: the entry is its whole record. null: one of a version before, and the ledger has its reservation. */
  held: Generated<number | null>;
  /** As in the ledger; null with the one before. */
  unlimited: Generated<0 | 1 | null>;
  /** Quota per unit, before the group's ratio; null: unknown, as in entries of a previous version. */
  unit_price: Generated<number | null>;
  group_ratio: Generated<number | null>;
  /** The group whose ratio applied. */
  group_name: Generated<string | null>;
  /** Revision of the configuration that set the price. */
  config_revision: Generated<string | null>;
  /** Public id of the task; null for calls. */
  task_id: Generated<string | null>;
  /** The provider's own id of the task or request. Shown to operators only. */
  upstream_id: Generated<string | null>;
  /** null: unknown, as in entries of a previous version. */
  state: Generated<FinalState | null>;
  /** Quota that the call cost beyond what the key could pay. */
  debt: Generated<number>;
}

/** The final state of a call or task. `canceled`: before the provider began it, which is no error. */
export type FinalState = 'completed' | 'failed' | 'canceled';

/**
 * How many entries the log has of each key and model in each bucket of 2^14 numbers. The database keeps it itself. On PostgreSQL
 * `first_day` and `last_day` say besides from which day to which one they are; null: none has a day.
 */
export interface LogCountsTable {
  user_id: number;
  /** `id >> 14` of the entries. */
  bucket: number;
  token_id: number;
  model_name: string;
  entries: number;
  /** Bounds of the times of these entries, in Unix seconds; null: unknown. Both are known or neither. */
  first_at: number | null;
  last_at: number | null;
}

/** A refund of a settled call or task, one at most. Its log entry keeps what was charged. Never swept, as grants. */
export interface RefundsTable {
  request_id: string;
  /** The key that paid. */
  token_id: number;
  user_id: number;
  /** Of the log entry, which retention may have swept. */
  model_name: string;
  operation: string;
  channel: string;
  unit: string;
  charged: number;
  amount: number;
  /** 1: the key had no limit when it paid, so nothing goes back to its balance. */
  unlimited: 0 | 1;
  reason: string;
  /** The admin. */
  given_by: number;
  /** The admin's own name for the request: another one of that name is the same. */
  idempotency_key: string | null;
  created_at: number;
}

/** What the entries of an hour come to that are alike in what else is named here, those too that were swept since. */
export interface LogFiguresTable {
  /** Its beginning, in Unix seconds. */
  hour: number;
  user_id: number;
  model_name: string;
  channel: string;
  operation: string;
  unit: string;
  units: number;
  requests: number;
  /** Those with a status from 400 on, or that failed after it was sent. */
  errors: number;
  quota: number;
  prompt_tokens: number;
  completion_tokens: number;
  /** All together, and the longest. */
  duration_ms: number;
  longest_ms: number;
  /** How many took at most so many milliseconds. */
  ms_50: number;
  ms_100: number;
  ms_200: number;
  ms_500: number;
  ms_1000: number;
  ms_2000: number;
  ms_5000: number;
  ms_10000: number;
  ms_20000: number;
  ms_60000: number;
  ms_300000: number;
}

/** One row: the entries of the log up to this number are in the figures, and no other can come among them. */
export interface LogFiguresMarkTable {
  id: 1;
  rolled_to: number;
}

/** A custom voice: who made it, for which model, and on which channel it lives. */
export interface VoicesTable {
  /** The provider's id, which is the public one. */
  voice_id: string;
  user_id: number;
  /** The key that created it; null in rows of versions that did not record it. */
  token_id: number | null;
  /** The customization model that made it. */
  service: string;
  target_model: string;
  channel: string;
  /** DEPLOYING, OK or UNDEPLOYED as last seen; services without a status have OK. */
  status: string;
  /** The prefix or preferred name it was made with. */
  name: string;
  /** JSON object of what it was made with: language, voice_prompt, preview_text, and the address of the recording. */
  facts: string;
  created_at: number;
  updated_at: number;
}

export type AssetType = 'Image' | 'Video' | 'Audio';

/** Media that an upstream keeps under an id. `Active` and `Failed` are final. */
export interface AssetsTable {
  /** The public id, `asset-<YYYYMMDDhhmmss>-<5 characters>`. */
  id: string;
  user_id: number;
  /** The key that created it; null in rows of versions that did not record it. */
  token_id: number | null;
  channel: string;
  /** Never shown to clients. */
  upstream_id: string;
  /** The overseas model it was uploaded for; null: all others. */
  model: string | null;
  asset_type: AssetType;
  name: string;
  status: 'Processing' | 'Active' | 'Failed';
  group_id: string;
  project_name: string;
  /** Signed address of the media, as last reported; set exactly when it is active. */
  url: string | null;
  /** When that address ceases to work. */
  url_expires: number | null;
  /** Set exactly when it failed. */
  error_code: string | null;
  error_message: string | null;
  created_at: number;
  /** When its status changed. */
  updated_at: number;
}

/** A live-person check. It leaves `pending` once. */
export interface VerificationSessionsTable {
  /** The provider's id and token, which is the public one. */
  session_id: string;
  user_id: number;
  /** The key that created it; null in rows of versions that did not record it. */
  token_id: number | null;
  channel: string;
  /** The provider's page for the end user. */
  h5_link: string;
  /** Empty: the end user stays on that page. */
  callback_url: string;
  status: 'pending' | 'verified' | 'failed' | 'expired';
  /** The public id of the verified person's asset group, of the form of those of assets; null: there is none. */
  group_id: string | null;
  /** Never shown to clients. Set exactly with the one before. */
  upstream_group_id: string | null;
  /** 10000 where the person passed; null: not told. */
  result_code: number | null;
  created_at: number;
  /** When its status changed. */
  updated_at: number;
  expires_at: number;
}

export type TaskState = 'queued' | 'in_progress' | 'completed' | 'failed';

/** The format a task was made in, which is the only one it can be read in. */
export type TaskFormat = 'generic' | 'videos' | 'native' | 'official' | 'music' | 'image';

/** Work that an upstream does in its own time. Made together with its reservation; a final state never changes. */
export interface TasksTable {
  /** The public id. */
  id: string;
  /** Names the reservation in the ledger, and when it is over its entry of the log, which is of the day of `completed_at`. */
  request_id: string;
  user_id: number;
  token_id: number;
  /** The operation that made it, for the log. */
  operation: string;
  format: TaskFormat;
  /** Which driver speaks to the upstream about it. */
  driver: string;
  model: string;
  unit: string;
  channel: string;
  /** null: not known to be upstream. */
  upstream_id: string | null;
  state: TaskState;
  /** 0 to 100. */
  progress: number;
  /** JSON object of the little that drivers and renderers need to know of the request as long as the row lives. */
  facts: string;
  /** As the request named it; null: it did not. */
  service_tier: string | null;
  /** JSON object as the driver made it. */
  result: string | null;
  error_code: string | null;
  error_message: string | null;
  /** What was reserved, in the model's unit. */
  expected_units: number;
  /** Quota per unit when it was made: `unit_price` times `group_ratio`. */
  rate: number;
  /** null: a gateway of a previous version made it. */
  unit_price: Generated<number | null>;
  group_ratio: Generated<number | null>;
  /** The group whose ratio applied. */
  group_name: Generated<string | null>;
  /** Revision of the configuration that set the price. */
  config_revision: Generated<string | null>;
  callback_url: string | null;
  /** The client's own name for the request: another one of that name is the same. */
  idempotency_key: string | null;
  /** Hash of the request, to tell a repeat from another request under the same name. */
  fingerprint: string | null;
  created_at: number;
  updated_at: number;
  started_at: number | null;
  completed_at: number | null;
  /** End of the result's life. */
  expires_at: number | null;
  /** Where the request that made it stood in its trace, as the W3C header; null: nobody followed it. */
  traceparent: string | null;
  /** When an upstream may have been asked for it first, by the clock of due times; null: none was. */
  asked_at: number | null;
  /** When it fails if it is not final by then. */
  deadline_at: number;
  /** When the upstream last reported its state, by the clock of due times. */
  polled_at: number | null;
  /** When it may be claimed: the next poll, or while it is leased the end of the lease; null when final. */
  next_poll_at: number | null;
  /** Milliseconds. */
  poll_interval: number;
  /** Polls in a row that failed. */
  failures: number;
  /** The gateway that is at work on it. */
  lease_owner: string | null;
  /** Counts the claims: what an earlier claim finds out is not written any more. */
  attempt: number;
}

/** A song or a stem that a music task made. It is there as long as its task is. */
export interface ClipsTable {
  /** The public id. */
  id: string;
  task_id: string;
  user_id: number;
  channel: string;
  /** Never shown to clients, as the next. */
  upstream_id: string;
  /** The upstream task that made it; a task may have several. */
  upstream_task_id: string;
}

/** A delivery to a task's callback address: made together with the change of state it is about. */
export interface DeliveriesTable {
  /** Grows with the changes of a task. */
  id: Generated<number>;
  /** The task has the address; without it, there is nothing to deliver any more. */
  task_id: string;
  /** Owner of the task, for sharing slots among users. 0: written by a gateway of a version before this column. */
  user_id: Generated<number>;
  state: TaskState;
  /** Of the address, with its port. */
  host: string;
  /** When the task reached the state. */
  changed_at: number;
  /** Tries that failed. */
  tries: number;
  /**
   * When it may be claimed: the next try, or while it is leased the end of the lease; null when it is closed, and
   * while the one before of the same task is not.
   */
  next_try_at: number | null;
  /** The gateway that is at work on it. */
  lease_owner: string | null;
  /** Counts the claims: what an earlier claim finds out is not written any more. */
  attempt: number;
  /** null: open. */
  outcome: 'delivered' | 'given_up' | null;
  /** By the clock of due times, as when the latest try was answered. */
  closed_at: number | null;
  last_try_at: number | null;
  /** What that try was answered; null: there was no answer. */
  last_status: number | null;
  /** What came in the place of an answer: a code that holds nothing of the address. */
  last_error: string | null;
}

/** The channels that an admin has taken out. */
export interface ChannelStatesTable {
  /** Name of the channel. */
  channel: string;
  /** Who. */
  user_id: number;
  reason: string;
  disabled_at: number;
}
