import { isDeepStrictEqual } from 'node:util';
import type { Settings } from './settings.ts';

/** Names, in the order of the file. */
export interface ChangedNames {
  added: string[];
  changed: string[];
  removed: string[];
  unchanged: string[];
}

/** What differs between two readings of the settings, by the names that the operator knows. */
export interface SettingsChanges {
  channels: ChangedNames;
  groups: ChangedNames;
  /** By model pattern. */
  prices: ChangedNames;
  /** The other settings that take effect at once. */
  settings: string[];
  /** Those that only a start reads: they stay as they are. */
  needsRestart: string[];
  /** Revision of the later reading. */
  revision: string;
  /** Likely mistakes in the file of the later reading, with file and line. */
  warnings: string[];
}

/** The fields that a reload applies. */
const live = [
  'revision',
  'warnings',
  'channels',
  'groups',
  'prices',
  'callbacks',
  'limits',
  'keysPerKey',
  'trustedProxies',
  'keepBooksMs',
  'speechMs',
  'stopDelayMs',
] as const;

/** What the operator calls those that only a start reads: a new field of the settings stands here or above. */
const atStart: Readonly<Record<Exclude<keyof Settings, (typeof live)[number] | 'tls'>, string>> = {
  file: 'CONFIG',
  host: 'HOST',
  port: 'PORT',
  workers: 'WORKERS',
  dataDir: 'DATA_DIR',
  databaseUrl: 'DATABASE_URL',
  databaseListenUrl: 'DATABASE_LISTEN_URL',
  publicUrl: 'PUBLIC_URL',
  bootstrapKey: 'BOOTSTRAP_KEY',
  logLevel: 'LOG_LEVEL',
  checkResponses: 'CHECK_RESPONSES',
  metrics: 'METRICS_HOST and METRICS_PORT',
  traces: 'the variables that begin with OTEL_',
  database: 'database',
  sandbox: 'sandbox',
  sandboxTaskMs: 'sandbox.task_seconds',
  sandboxDraft: 'sandbox.draft',
  sandboxSongSeconds: 'sandbox.song_seconds',
};

/** `started`: what the gateway was started with. */
export function changesBetween(before: Settings, after: Settings, started: Settings): SettingsChanges {
  const byName = ({ channels }: Settings) => Object.fromEntries(channels.map((one) => [one.name, one]));
  return {
    channels: changedNames(byName(before), byName(after)),
    groups: changedNames(before.groups, after.groups),
    prices: changedNames(before.prices, after.prices),
    settings: differing(otherSettings(before), otherSettings(after)),
    needsRestart: differing(startSettings(started), startSettings(after)),
    revision: after.revision,
    warnings: [...after.warnings],
  };
}

/** What is in force when `after` has been read: what only a start reads stays as it is. */
export function inForce(before: Settings, after: Settings): Settings {
  const applied = Object.fromEntries(live.map((field) => [field, after[field]]));
  const tls = before.tls && (after.tls ?? before.tls);
  return { ...before, ...applied, tls };
}

/** What takes effect at once, beside channels, groups and prices. */
function otherSettings({
  callbacks,
  limits,
  keysPerKey,
  trustedProxies,
  keepBooksMs,
  speechMs,
  stopDelayMs,
  tls,
}: Settings): Named {
  return {
    'callbacks.allow_private': callbacks.allowPrivate,
    'callbacks.secret': callbacks.secret,
    'limits.body_mb': limits.bodyMb,
    'limits.body_mb_per_key': limits.bodyMbPerKey,
    'limits.keys_per_key': keysPerKey,
    'limits.requests_per_minute': limits.requestsPerMinute,
    'limits.sockets_per_key': limits.socketsPerKey,
    'limits.speech_seconds': speechMs,
    'books.keep_days': keepBooksMs,
    'stop.delay_seconds': stopDelayMs,
    trusted_proxies: trustedProxies,
    ...(tls !== undefined && { TLS_CERT: tls.certificate, TLS_KEY: tls.key }),
  };
}

function startSettings(settings: Settings): Named {
  const { sandbox, callbacks, tls } = settings;
  return {
    ...Object.fromEntries(
      Object.entries(atStart).map(([field, name]) => [name, settings[field as keyof Settings]]),
    ),
    'TLS_CERT and TLS_KEY': tls !== undefined,
    'callbacks.allow_private, for the sandbox': sandbox && callbacks.allowPrivate,
  };
}

type Named = Readonly<Record<string, unknown>>;

function changedNames(before: Named, after: Named): ChangedNames {
  const names = Object.keys(after);
  const known = names.filter((name) => Object.hasOwn(before, name));
  const same = (name: string) => isDeepStrictEqual(before[name], after[name]);
  return {
    added: names.filter((name) => !Object.hasOwn(before, name)),
    changed: known.filter((name) => !same(name)),
    removed: Object.keys(before).filter((name) => !Object.hasOwn(after, name)),
    unchanged: known.filter(same),
  };
}

/** The names of both readings under which something else stands. */
function differing(before: Named, after: Named): string[] {
  return changedNames(before, after).changed;
}
