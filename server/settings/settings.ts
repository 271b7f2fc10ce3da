import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { createSecureContext } from 'node:tls';
import { type ChannelProtocol, type ConfigurationFile, parseConfiguration } from './configuration.ts';
import { type PostgresLimits, standardLimits } from './database.ts';
import { configurationRevision } from './revision.ts';
import { SettingsError } from './settings-error.ts';
import { type TraceSettings, traceSettings } from './traces.ts';
import { configurationWarnings } from './warnings.ts';

/** An upstream account. */
export interface ChannelSettings {
  name: string;
  protocol: ChannelProtocol;
  /** Without a slash at the end. */
  baseUrl: string;
  wsUrl: string;
  key: string;
  /** Patterns and ids; `upstream` is the model's name over there. */
  models: readonly { id: string; upstream: string | undefined }[];
  /** Undefined: every group. */
  groups: readonly string[] | undefined;
  priority: number;
  weight: number;
  /** System voices it has: a list, or those of the catalogue; undefined: not known, so the provider judges. */
  voices: readonly string[] | 'catalogue' | undefined;
  profile: { headers: Readonly<Record<string, string>>; paths: Readonly<Record<string, string>> };
  /** Host names that clients may have their videos shown under; they lead to the provider's files. */
  customDomains?: readonly string[] | undefined;
  /** Whether the files it names may be fetched from loopback and private networks. */
  privateFiles: boolean;
  /** Whether clients are shown the gateway's own links to the files it names. */
  relayMedia: boolean;
  /** Whether it is sent the trace that a call belongs to; default: yes. */
  traceContext?: boolean | undefined;
}

export interface Settings {
  /** The configuration file; undefined: there is none. */
  file: string | undefined;
  /** Identifies the configuration: the same on every gateway that reads the same file. 12 hexadecimal digits. */
  revision: string;
  /** Likely mistakes in the file, one sentence each, with file and line. */
  warnings: readonly string[];
  host: string;
  port: number;
  /** How many processes share the port. */
  workers: number;
  dataDir: string;
  databaseUrl: string | undefined;
  /** Where its changes are listened to, if not there. */
  databaseListenUrl: string | undefined;
  /** How a PostgreSQL database is used. */
  database: PostgresLimits;
  /** Address under which clients reach the gateway, without a slash at the end; undefined: the listening one. */
  publicUrl: string | undefined;
  bootstrapKey: string | undefined;
  logLevel: string;
  /** Whether JSON responses are checked against the contract, for development and tests. */
  checkResponses: boolean;
  tls: { certificate: string; key: string } | undefined;
  /** Where metrics are told, without a key; undefined: nowhere. */
  metrics: { host: string; port: number } | undefined;
  /** Where spans are sent; undefined: none are recorded. */
  traces: TraceSettings | undefined;
  /** Whether the embedded upstream runs. */
  sandbox: boolean;
  /** Milliseconds that its video and 3D tasks take; undefined: its own default. */
  sandboxTaskMs: number | undefined;
  /** The sandbox draws small and coarse files. */
  sandboxDraft: boolean;
  /** About how long its songs are, in seconds; undefined: its own default. */
  sandboxSongSeconds: number | undefined;
  groups: Readonly<Record<string, { models: readonly string[]; ratio: number }>>;
  /** Quota per unit by model id or pattern, as configured; see `effectivePrices`. */
  prices: Readonly<Record<string, number>>;
  channels: readonly ChannelSettings[];
  callbacks: { allowPrivate: boolean; secret: string | undefined };
  limits: {
    bodyMb: number;
    /** Left out: twice `bodyMb`. */
    bodyMbPerKey?: number | undefined;
    requestsPerMinute: number;
    socketsPerKey: number;
  };
  /** Live keys that one key may have created through `POST /api/token/`; 0: no limit. */
  keysPerKey: number;
  /** Addresses and ranges of proxies whose `x-forwarded-for` is believed. */
  trustedProxies: readonly string[];
  /** Milliseconds that closed reservations and their log entries are kept. */
  keepBooksMs: number;
  /** Milliseconds that a speech call may take in all. */
  speechMs: number;
  /** Milliseconds for which a gateway that is told to stop says that it is not ready, before it takes no more connections. */
  stopDelayMs: number;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Where the books are. */
export function storeLocation(environment: Environment): { dataDir: string; databaseUrl?: string } {
  const { DATA_DIR: dataDir, DATABASE_URL: databaseUrl } = environment;
  return { dataDir: dataDir || '.data', ...(databaseUrl && { databaseUrl }) };
}

/** The configuration of a gateway without a file. */
const withoutFile: ConfigurationFile = { sandbox: true, prices: { '*': 1 } };

/**
 * Settings from the environment and the file that `CONFIG` names.
 *
 * @throws SettingsError naming the variable, or the file's line, that is wrong.
 */
export function readSettings(environment: Environment): Settings {
  const set = (name: string) => environment[name] || undefined;
  const path = set('CONFIG');
  const parsed =
    path === undefined ? undefined : parseConfiguration(path, readText(path, 'CONFIG'), environment);
  const file = parsed?.file ?? withoutFile;
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
    databaseListenUrl: set('DATABASE_LISTEN_URL'),
    database: databaseLimits(file.database),
    publicUrl: set('PUBLIC_URL')?.replace(/\/+$/, ''),
    bootstrapKey: bootstrapKey(set('BOOTSTRAP_KEY')),
    logLevel: logLevel(set('LOG_LEVEL') ?? 'info'),
    checkResponses: set('CHECK_RESPONSES') === 'true',
    tls: tlsPair(set('TLS_CERT'), set('TLS_KEY')),
    metrics:
      metricsPort === undefined
        ? undefined
        : { host: set('METRICS_HOST') ?? '127.0.0.1', port: port('METRICS_PORT', metricsPort) },
    traces: traceSettings(set),
    sandbox: file.sandbox === undefined ? false : file.sandbox !== false,
    sandboxTaskMs: taskMs(file.sandbox),
    sandboxDraft: typeof file.sandbox === 'object' && file.sandbox.draft === true,
    sandboxSongSeconds: songSeconds(file.sandbox),
    groups: Object.fromEntries(
      Object.entries(file.groups ?? { default: { models: ['*'] } }).map(([name, { models, ratio = 1 }]) => [
        name,
        { models, ratio },
      ]),
    ),
    prices: file.prices ?? {},
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
      voices: channel.voices,
      profile: { headers: channel.profile?.headers ?? {}, paths: channel.profile?.paths ?? {} },
      customDomains: channel.custom_domains,
      privateFiles: channel.private_files ?? false,
      relayMedia: channel.relay_media ?? false,
      traceContext: channel.trace_context,
    })),
    callbacks: { allowPrivate: file.callbacks?.allow_private ?? false, secret: file.callbacks?.secret },
    limits: {
      bodyMb: file.limits?.body_mb ?? 64,
      bodyMbPerKey: file.limits?.body_mb_per_key,
      requestsPerMinute: file.limits?.requests_per_minute ?? 0,
      socketsPerKey: file.limits?.sockets_per_key ?? 0,
    },
    keysPerKey: file.limits?.keys_per_key ?? 100,
    keepBooksMs: (file.books?.keep_days ?? 90) * 86_400_000,
    trustedProxies: file.trusted_proxies ?? [],
    speechMs: (file.limits?.speech_seconds ?? 1_800) * 1_000,
    stopDelayMs: (file.stop?.delay_seconds ?? 0) * 1_000,
  };
  if (parsed === undefined) return settings;
  const warnings = configurationWarnings(settings).map(
    ({ at, message }) => `${path}:${parsed.lineOf(at)}: ${message}`,
  );
  return { ...settings, warnings };
}

/** Megabytes of request bodies that one key may have in the memory of a process. */
export function bodyMbPerKey({ limits }: Pick<Settings, 'limits'>): number {
  return limits.bodyMbPerKey ?? 2 * limits.bodyMb;
}

/** All that no log may show. */
export function secretsIn({ bootstrapKey, callbacks, channels, traces }: Settings): string[] {
  const headers = Object.values(traces?.headers ?? {});
  return [bootstrapKey ?? '', callbacks.secret ?? '', ...headers, ...channels.map(({ key }) => key)];
}

function databaseLimits(file: ConfigurationFile['database'] = {}): PostgresLimits {
  return {
    connections: file.connections ?? standardLimits.connections,
    connectTimeoutMs: file.connect_timeout_ms ?? standardLimits.connectTimeoutMs,
    statementTimeoutMs: file.statement_timeout_ms ?? standardLimits.statementTimeoutMs,
    idleInTransactionTimeoutMs:
      file.idle_in_transaction_timeout_ms ?? standardLimits.idleInTransactionTimeoutMs,
  };
}

function taskMs(sandbox: ConfigurationFile['sandbox']): number | undefined {
  const seconds = typeof sandbox === 'object' ? sandbox.task_seconds : undefined;
  return seconds === undefined ? undefined : seconds * 1_000;
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

function readText(path: string, wantedBy: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw new SettingsError(`${wantedBy}: cannot read ${path}.`, { cause });
  }
}

function port(name: string, text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= 0 && value <= 65535) return value;
  throw new SettingsError(`${name} must be a whole number from 0 to 65535, not ${text}.`);
}

/** More than any machine has cores for. */
const mostWorkers = 256;

function workers(text: string, shared: boolean): number {
  if (text === 'auto') return shared ? Math.min(mostWorkers, availableParallelism()) : 1;
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < 1 || value > mostWorkers)
    throw new SettingsError(`WORKERS must be auto or a whole number from 1 to ${mostWorkers}, not ${text}.`);
  if (value > 1 && !shared)
    throw new SettingsError(
      `WORKERS: ${value} workers need DATABASE_URL, since the embedded database in DATA_DIR belongs to one process.`,
    );
  return value;
}

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'];

function logLevel(text: string): string {
  if (logLevels.includes(text)) return text;
  throw new SettingsError(`LOG_LEVEL must be one of ${logLevels.join(', ')}, not ${text}.`);
}

function bootstrapKey(key: string | undefined): string | undefined {
  if (key === undefined || /^[\x21-\x7e]{8,256}$/.test(key)) return key;
  throw new SettingsError('BOOTSTRAP_KEY must be 8 to 256 printable characters without blanks.');
}

function songSeconds(sandbox: ConfigurationFile['sandbox']): number | undefined {
  return typeof sandbox === 'object' ? sandbox.song_seconds : undefined;
}
