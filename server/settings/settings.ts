import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { createSecureContext } from 'node:tls';
import type { Display } from '../../generated/settings.ts';
import { type ChannelProtocol, type ConfigurationFile, parseConfiguration } from './configuration.ts';
import { type PostgresLimits, serverUrls, standardLimits } from './database.ts';
import type { ModelPrice } from './price-rules.ts';
import { configurationRevision } from './revision.ts';
import { type Environment, readSecret, secretVariables } from './secret-variables.ts';
import { SettingsError } from './settings-error.ts';
import { type TraceSettings, traceSettings } from './traces.ts';
import { configurationWarnings, type Warning } from './warnings.ts';

/** Limits of a channel. Undefined: no limit. */
export interface ChannelLimits {
  requestsPerMinute?: number | undefined;
  concurrentCalls?: number | undefined;
  concurrentTasks?: number | undefined;
  /** Quota in a day of UTC. */
  spendPerDay?: number | undefined;
}

/** An upstream account. */
export interface ChannelSettings {
  name: string;
  protocol: ChannelProtocol;
  /** Without a trailing slash. */
  baseUrl: string;
  wsUrl: string;
  key: string;
  /** Ids and patterns. `upstream` is the provider's name of the model. */
  models: readonly { id: string; upstream: string | undefined }[];
  /** Undefined: every group. */
  groups: readonly string[] | undefined;
  priority: number;
  weight: number;
  /** Costs at the provider, by model id or pattern. Undefined: unknown. */
  costs?: Readonly<Record<string, ModelPrice>> | undefined;
  /** Its system voices: a list or those of the catalog. Undefined: unknown, so the provider validates them. */
  voices: readonly string[] | 'catalogue' | undefined;
  profile: { headers: Readonly<Record<string, string>>; paths: Readonly<Record<string, string>> };
  /** Host names that lead to the provider's files. Clients may request them for their videos. */
  customDomains?: readonly string[] | undefined;
  /** Whether its files may be fetched from loopback and private networks. */
  privateFiles: boolean;
  /** Whether clients receive links of the gateway to its files. */
  relayMedia: boolean;
  /** Whether it receives the trace context of a call. Default: true. */
  traceContext?: boolean | undefined;
  limits?: ChannelLimits | undefined;
}

/** Currency in which people see amounts of quota. */
export interface DisplaySettings {
  quotaPerUnit: number;
  /** ISO 4217 code. */
  currency: string;
}

export interface Settings {
  /** Path of the configuration file. Undefined: there is none. */
  file: string | undefined;
  /** Identifies the content of the configuration, in 12 hexadecimal digits. */
  revision: string;
  /** Likely mistakes in the file, one sentence each, with file and line. */
  warnings: readonly string[];
  host: string;
  port: number;
  /** Number of processes that share the port. */
  workers: number;
  dataDir: string;
  databaseUrl: string | undefined;
  /** Address for LISTEN, if it differs from `databaseUrl`. */
  databaseListenUrl: string | undefined;
  database: PostgresLimits;
  /** Address at which clients reach the gateway, without a trailing slash. Undefined: the listening address. */
  publicUrl: string | undefined;
  bootstrapKey: string | undefined;
  /** The secret with which a proxy signs user assertions. Undefined: the gateway accepts none. */
  userAssertionSecret?: string | undefined;
  logLevel: string;
  /** Whether finished requests and sockets are logged at `info` instead of `debug`. */
  accessLog: boolean;
  /** Whether the gateway polls no task, sends no callback and answers only management reads. */
  maintenance: boolean;
  /** Whether JSON responses are checked against the contract, for development and tests. */
  checkResponses: boolean;
  tls: { certificate: string; key: string } | undefined;
  /** Address of the operator's port. Undefined: metrics are off. */
  metrics: { host: string; port: number } | undefined;
  /** Undefined: no spans are recorded. */
  traces: TraceSettings | undefined;
  /** Whether the embedded sandbox runs. */
  sandbox: boolean;
  /** Duration of its video and 3D tasks. Undefined: its own default. */
  sandboxTaskMs: number | undefined;
  /** Whether the sandbox generates small and coarse files. */
  sandboxDraft: boolean;
  /** Approximate length of its songs. Undefined: its own default. */
  sandboxSongSeconds: number | undefined;
  groups: Readonly<
    Record<string, { models: readonly string[]; ratio: number; display?: DisplaySettings | undefined }>
  >;
  /** Display of users whose group has none of its own. Undefined: amounts are in quota. */
  display?: DisplaySettings | undefined;
  /** Prices by model id or pattern, as configured; see `effectivePrices`. */
  prices: Readonly<Record<string, ModelPrice>>;
  channels: readonly ChannelSettings[];
  /** Models that serve a request in place of a model, in order. Undefined: none. */
  fallbacks?: Readonly<Record<string, readonly string[]>> | undefined;
  callbacks: { allowPrivate: boolean; secret: string | undefined };
  limits: {
    bodyMb: number;
    /** Default: twice `bodyMb`. */
    bodyMbPerKey?: number | undefined;
    requestsPerMinute: number;
    socketsPerKey: number;
    /** Longest time of a task in the queue. Default: 3,600. */
    queueSeconds?: number | undefined;
    /** Waiting tasks and megabytes of their requests, in total and for each user. Defaults: see `queueLimitsOf`. */
    queueTasks?: number | undefined;
    queueTasksPerUser?: number | undefined;
    queueMb?: number | undefined;
    queueMbPerUser?: number | undefined;
  };
  /** Maximum number of live keys that one key has created through `POST /api/token/`. 0: no limit. */
  keysPerKey: number;
  /** Addresses and ranges of proxies whose `x-forwarded-for` is trusted. */
  trustedProxies: readonly string[];
  /** Retention of closed reservations and their log entries. */
  keepBooksMs: number;
  /** Time limit of a speech call. */
  speechMs: number;
  /** Time between the stop signal, after which the gateway reports not ready, and the end of new connections. */
  stopDelayMs: number;
}

/** Returns the location of the store. @throws SettingsError when `DATABASE_URL` is malformed or its file cannot be read */
export function storeLocation(environment: Environment): { dataDir: string; databaseUrl?: string } {
  const { DATA_DIR: dataDir } = environment;
  const databaseUrl = readSecret(environment, 'DATABASE_URL');
  if (databaseUrl) serverUrls('DATABASE_URL', databaseUrl);
  return { dataDir: dataDir || '.data', ...(databaseUrl && { databaseUrl }) };
}

/** The configuration of a gateway without a file. */
const withoutFile: ConfigurationFile = { sandbox: true, prices: { '*': 1 } };

/**
 * Reads the settings from the environment and the file that `CONFIG` names. `findWarnings` finds likely mistakes in the file.
 *
 * @throws SettingsError naming the invalid variable or line of the file
 */
export function readSettings(
  environment: Environment,
  findWarnings: (settings: Settings) => readonly Warning[] = configurationWarnings,
): Settings {
  const set = (name: string) =>
    (secretVariables.has(name) ? readSecret(environment, name) : environment[name]) || undefined;
  const path = set('CONFIG');
  const parsed =
    path === undefined ? undefined : parseConfiguration(path, readText(path, 'CONFIG'), environment);
  const file = parsed?.file ?? withoutFile;
  const { limits, database, callbacks, groups = { default: { models: ['*'] } } } = file;
  const sandbox = typeof file.sandbox === 'object' ? file.sandbox : {};
  const metricsPort = set('METRICS_PORT');
  const settings: Settings = {
    file: path,
    warnings: [],
    revision: configurationRevision(file),
    host: set('HOST') ?? '127.0.0.1',
    port: port('PORT', set('PORT') ?? '8080'),
    workers: workers(set('WORKERS') ?? '1', set('DATABASE_URL') !== undefined),
    databaseUrl: undefined,
    ...storeLocation(environment),
    databaseListenUrl: listenUrl(set('DATABASE_LISTEN_URL')),
    database: {
      connections: database?.connections ?? standardLimits.connections,
      connectTimeoutMs: database?.connect_timeout_ms ?? standardLimits.connectTimeoutMs,
      statementTimeoutMs: database?.statement_timeout_ms ?? standardLimits.statementTimeoutMs,
      idleInTransactionTimeoutMs:
        database?.idle_in_transaction_timeout_ms ?? standardLimits.idleInTransactionTimeoutMs,
    },
    publicUrl: publicUrl(set('PUBLIC_URL')),
    bootstrapKey: bootstrapKey(set('BOOTSTRAP_KEY')),
    userAssertionSecret: userAssertionSecret(set('USER_ASSERTION_SECRET')),
    logLevel: logLevel(set('LOG_LEVEL') ?? 'info'),
    accessLog: file.access_log ?? true,
    maintenance: flag('MAINTENANCE', set('MAINTENANCE')),
    checkResponses: set('CHECK_RESPONSES') === 'true',
    tls: tlsPair(set('TLS_CERT'), set('TLS_KEY')),
    metrics:
      metricsPort === undefined
        ? undefined
        : { host: set('METRICS_HOST') ?? '127.0.0.1', port: port('METRICS_PORT', metricsPort) },
    traces: traceSettings(set),
    sandbox: (file.sandbox ?? false) !== false,
    sandboxTaskMs: sandbox.task_seconds === undefined ? undefined : sandbox.task_seconds * 1_000,
    sandboxDraft: sandbox.draft === true,
    sandboxSongSeconds: sandbox.song_seconds,
    groups: Object.fromEntries(
      Object.entries(groups).map(([name, { models, ratio = 1, display }]) => [
        name,
        { models, ratio, ...(display && { display: displaySettings(display) }) },
      ]),
    ),
    display: file.display && displaySettings(file.display),
    prices: file.prices ?? {},
    fallbacks: file.fallbacks,
    channels: (file.channels ?? []).map((channel) => ({
      name: channel.name,
      protocol: channel.protocol,
      baseUrl: channel.base_url.replace(/\/+$/, ''),
      wsUrl: (channel.ws_url ?? channel.base_url.replace(/^http/, 'ws')).replace(/\/+$/, ''),
      key: channel.key ?? '',
      models: channel.models.map((model) =>
        typeof model === 'string' ? { id: model, upstream: undefined } : model,
      ),
      groups: channel.groups,
      priority: channel.priority ?? 0,
      weight: channel.weight ?? 1,
      costs: channel.costs,
      voices: channel.voices,
      profile: { headers: channel.profile?.headers ?? {}, paths: channel.profile?.paths ?? {} },
      customDomains: channel.custom_domains,
      privateFiles: channel.private_files ?? false,
      relayMedia: channel.relay_media ?? false,
      traceContext: channel.trace_context,
      limits: channel.limits && {
        requestsPerMinute: channel.limits.requests_per_minute,
        concurrentCalls: channel.limits.concurrent_calls,
        concurrentTasks: channel.limits.concurrent_tasks,
        spendPerDay: channel.limits.spend_per_day,
      },
    })),
    callbacks: { allowPrivate: callbacks?.allow_private ?? false, secret: callbacks?.secret },
    limits: {
      bodyMb: limits?.body_mb ?? 64,
      bodyMbPerKey: limits?.body_mb_per_key,
      requestsPerMinute: limits?.requests_per_minute ?? 0,
      socketsPerKey: limits?.sockets_per_key ?? 0,
      queueSeconds: limits?.queue_seconds,
      queueTasks: limits?.queue_tasks,
      queueTasksPerUser: limits?.queue_tasks_per_user,
      queueMb: limits?.queue_mb,
      queueMbPerUser: limits?.queue_mb_per_user,
    },
    keysPerKey: limits?.keys_per_key ?? 100,
    keepBooksMs: (file.books?.keep_days ?? 90) * 86_400_000,
    trustedProxies: file.trusted_proxies ?? [],
    speechMs: (limits?.speech_seconds ?? 1_800) * 1_000,
    stopDelayMs: (file.stop?.delay_seconds ?? 0) * 1_000,
  };
  if (parsed === undefined) return settings;
  const warnings = findWarnings(settings).map(
    ({ at, problem }) => `${path}:${parsed.lineOf(at)}: ${at.join('.')}: ${problem}`,
  );
  return { ...settings, warnings };
}

/** Returns the megabytes of request bodies that one key may have in the memory of a process. */
export function bodyMbPerKey({ limits }: Pick<Settings, 'limits'>): number {
  return limits.bodyMbPerKey ?? 2 * limits.bodyMb;
}

/** Returns the currency in which the users of a group see amounts. */
export function displayOf(
  { groups, display }: Pick<Settings, 'groups' | 'display'>,
  group: string,
): DisplaySettings | undefined {
  return (Object.hasOwn(groups, group) ? groups[group]?.display : undefined) ?? display;
}

function displaySettings(display: Display): DisplaySettings {
  return { quotaPerUnit: display.quota_per_unit, currency: display.currency };
}

/** Returns all values that no log may contain. */
export function secretsIn({
  bootstrapKey,
  userAssertionSecret,
  callbacks,
  channels,
  traces,
}: Settings): string[] {
  const headers = Object.values(traces?.headers ?? {});
  return [
    bootstrapKey ?? '',
    userAssertionSecret ?? '',
    callbacks.secret ?? '',
    ...headers,
    ...channels.map(({ key }) => key),
  ];
}

function tlsPair(certificatePath: string | undefined, keyPath: string | undefined): Settings['tls'] {
  if (certificatePath === undefined && keyPath === undefined) return undefined;
  if (certificatePath === undefined || keyPath === undefined)
    throw new SettingsError('TLS_CERT and TLS_KEY belong together: set both or neither.');
  const certificate = readText(certificatePath, 'TLS_CERT');
  const key = readText(keyPath, 'TLS_KEY');
  try {
    createSecureContext({ cert: certificate, key });
  } catch (cause) {
    throw new SettingsError(`TLS_CERT and TLS_KEY: ${(cause as Error).message}.`, { cause });
  }
  return { certificate, key };
}

function readText(path: string, variable: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw new SettingsError(`${variable}: cannot read ${path}.`, { cause });
  }
}

function listenUrl(text: string | undefined): string | undefined {
  if (text !== undefined) serverUrls('DATABASE_LISTEN_URL', text);
  return text;
}

function publicUrl(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const url = URL.parse(text);
  if (url !== null && /^https?:\/\/[^\s?#]+$/i.test(text) && url.username === '' && url.password === '')
    return text.replace(/\/+$/, '');
  throw new SettingsError(
    'PUBLIC_URL must begin with http:// or https://, as in https://api.example.com, without user, query and fragment.',
  );
}

function port(name: string, text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= 0 && value <= 65535) return value;
  throw new SettingsError(`${name} must be a whole number from 0 to 65535, not ${text}.`);
}

const maxWorkers = 256;

function workers(text: string, shared: boolean): number {
  if (text === 'auto') return shared ? Math.min(maxWorkers, availableParallelism()) : 1;
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < 1 || value > maxWorkers)
    throw new SettingsError(`WORKERS must be auto or a whole number from 1 to ${maxWorkers}, not ${text}.`);
  if (value > 1 && !shared)
    throw new SettingsError(
      `WORKERS: ${value} workers need DATABASE_URL, because the embedded database in DATA_DIR belongs to one process.`,
    );
  return value;
}

function flag(name: string, text = 'false'): boolean {
  if (text === 'true' || text === 'false') return text === 'true';
  throw new SettingsError(`${name} must be true or false, not ${text}.`);
}

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'];

function logLevel(text: string): string {
  if (logLevels.includes(text)) return text;
  throw new SettingsError(`LOG_LEVEL must be one of ${logLevels.join(', ')}, not ${text}.`);
}

/** HS256 requires a key of at least 256 bits (RFC 7518, section 3.2). */
function userAssertionSecret(secret: string | undefined): string | undefined {
  if (secret === undefined || /^[\x21-\x7e]{32,1024}$/.test(secret)) return secret;
  throw new SettingsError('USER_ASSERTION_SECRET must be 32 to 1024 printable characters without spaces.');
}

function bootstrapKey(key: string | undefined): string | undefined {
  if (key === undefined || /^[\x21-\x7e]{8,256}$/.test(key)) return key;
  throw new SettingsError('BOOTSTRAP_KEY must be 8 to 256 printable characters without spaces.');
}
