import { isDeepStrictEqual } from 'node:util';
import type { Settings } from './settings.ts';

/** Names of changed entries, in the order of the file. */
interface ChangedNames {
  added: string[];
  changed: string[];
  removed: string[];
  unchanged: string[];
}

/** The differences between two versions of the settings, by the names that the operator uses. */
export interface SettingsChanges {
  channels: ChangedNames;
  groups: ChangedNames;
  /** By model pattern. */
  prices: ChangedNames;
  /** Other settings that a reload applies. */
  settings: string[];
  /** Settings that take effect only after a restart. */
  needsRestart: string[];
  /** Revision of the new settings. */
  revision: string;
  /** Likely mistakes in the new file, with file and line. */
  warnings: string[];
}

/** The fields that a reload applies. */
const live = [
  'revision',
  'warnings',
  'channels',
  'groups',
  'display',
  'prices',
  'fallbacks',
  'callbacks',
  'accessLog',
  'limits',
  'keysPerKey',
  'trustedProxies',
  'keepBooksMs',
  'speechMs',
  'stopDelayMs',
] as const;

/** Names of the fields that only a start reads. The type requires every other field to be in `live`. */
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
  userAssertionSecret: 'USER_ASSERTION_SECRET',
  logLevel: 'LOG_LEVEL',
  maintenance: 'MAINTENANCE',
  checkResponses: 'CHECK_RESPONSES',
  metrics: 'METRICS_HOST and METRICS_PORT',
  traces: 'the variables that begin with OTEL_',
  database: 'database',
  sandbox: 'sandbox',
  sandboxTaskMs: 'sandbox.task_seconds',
  sandboxDraft: 'sandbox.draft',
  sandboxSongSeconds: 'sandbox.song_seconds',
};

/** Compares settings. `started` are the settings at the start. */
export function changesBetween(before: Settings, after: Settings, started: Settings): SettingsChanges {
  const byName = ({ channels }: Settings) => Object.fromEntries(channels.map((one) => [one.name, one]));
  return {
    channels: changedNames(byName(before), byName(after)),
    groups: changedNames(before.groups, after.groups),
    prices: changedNames(before.prices, after.prices),
    settings: changedNames(otherSettings(before), otherSettings(after)).changed,
    needsRestart: changedNames(startSettings(started), startSettings(after)).changed,
    revision: after.revision,
    warnings: [...after.warnings],
  };
}

/** Returns the settings after a reload: the live fields of `after`, all others of `before`. */
export function withLiveSettings(before: Settings, after: Settings): Settings {
  const applied = Object.fromEntries(live.map((field) => [field, after[field]]));
  const tls = before.tls && (after.tls ?? before.tls);
  return { ...before, ...applied, tls };
}

/** Returns the settings that a reload applies, except channels, groups and prices. */
function otherSettings({ callbacks, limits, tls, ...settings }: Settings): Named {
  return {
    access_log: settings.accessLog,
    display: settings.display,
    fallbacks: settings.fallbacks,
    'callbacks.allow_private': callbacks.allowPrivate,
    'callbacks.secret': callbacks.secret,
    'limits.body_mb': limits.bodyMb,
    'limits.body_mb_per_key': limits.bodyMbPerKey,
    'limits.keys_per_key': settings.keysPerKey,
    'limits.requests_per_minute': limits.requestsPerMinute,
    'limits.sockets_per_key': limits.socketsPerKey,
    'limits.queue_seconds': limits.queueSeconds,
    'limits.queue_tasks': limits.queueTasks,
    'limits.queue_tasks_per_user': limits.queueTasksPerUser,
    'limits.queue_mb': limits.queueMb,
    'limits.queue_mb_per_user': limits.queueMbPerUser,
    'limits.speech_seconds': settings.speechMs,
    'books.keep_days': settings.keepBooksMs,
    'stop.delay_seconds': settings.stopDelayMs,
    trusted_proxies: settings.trustedProxies,
    ...(tls !== undefined && { TLS_CERT: tls.certificate, TLS_KEY: tls.key }),
  };
}

function startSettings(settings: Settings): Named {
  const { sandbox, callbacks, tls } = settings;
  const fields = Object.entries(atStart) as [keyof typeof atStart, string][];
  return {
    ...Object.fromEntries(fields.map(([field, name]) => [name, settings[field]])),
    'TLS_CERT and TLS_KEY': tls !== undefined,
    'callbacks.allow_private, for the sandbox': sandbox && callbacks.allowPrivate,
  };
}

type Named = Readonly<Record<string, unknown>>;

function changedNames(before: Named, after: Named): ChangedNames {
  const names = Object.keys(after);
  const known = names.filter((name) => Object.hasOwn(before, name));
  const isSame = (name: string) => isDeepStrictEqual(before[name], after[name]);
  return {
    added: names.filter((name) => !Object.hasOwn(before, name)),
    changed: known.filter((name) => !isSame(name)),
    removed: Object.keys(before).filter((name) => !Object.hasOwn(after, name)),
    unchanged: known.filter(isSame),
  };
}
