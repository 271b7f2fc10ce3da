import type { IncomingMessage } from 'node:http';
import type { ChannelReport } from '../channels/channel-report.ts';
import type { ChannelStates } from '../channels/channel-states.ts';
import type { Channels } from '../channels/channels.ts';
import type { KeyCache } from '../keys/key-cache.ts';
import type { KeyWatcher } from '../keys/key-watcher.ts';
import type { RateLimiter } from '../keys/rate-limiter.ts';
import type { SocketLimiter } from '../keys/socket-limiter.ts';
import type { UserSessions } from '../keys/user-sessions.ts';
import type { DetachedCalls } from '../lib/detached-calls.ts';
import type { Timers } from '../lib/timers.ts';
import type { FileRelay } from '../media/file-relay.ts';
import type { ModelAccess } from '../models/access.ts';
import type { Slots } from '../outbound/slots.ts';
import type { CallQuota } from '../quota/call-quota.ts';
import type { Prices } from '../quota/prices.ts';
import type { VendorCosts } from '../quota/vendor-costs.ts';
import type { LiveSettings } from '../settings/live-settings.ts';
import type { Settings } from '../settings/settings.ts';
import type { ReportLane } from '../store/reports.ts';
import type { AssetsTable, VerificationSessionsTable } from '../store/schema.ts';
import type { Store } from '../store/store.ts';
import type { CallbackDeliveries } from '../tasks/callbacks/callback-deliveries.ts';
import type { Tasks } from '../tasks/tasks.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { BodyParser } from './body-parser.ts';

/** The other workers that share this worker's port. */
interface Siblings {
  isAnyReady(): Promise<boolean>;
  /** Resolves when each has reloaded its settings or failed to; the log has the result. */
  reload(): Promise<void>;
  /** Resolves when each has ended its maintenance mode. */
  endMaintenance(): Promise<void>;
  /** Resolves to false if another worker has a conformance run. */
  acquireRun(): Promise<boolean>;
  /** Ends the conformance run of this worker. */
  releaseRun(): Promise<void>;
  /** Reports of the channels on each of them. */
  channels(): Promise<readonly (readonly ChannelReport[])[]>;
}

/** Given to a worker by the process that started it. */
export interface WorkerPlace {
  /** Id of the gateway. */
  id: string;
  /** The shared port. */
  port: number;
  /** Whether the kernel distributes connections among the workers (SO_REUSEPORT). */
  reusePort: boolean;
  /** The embedded sandbox. Undefined: it is off. */
  sandbox: Readonly<Record<'url' | 'wsUrl' | 'key', string>> | undefined;
  siblings: Siblings;
}

/** The services that operations use. */
export interface Gateway {
  /** Current settings. A reload replaces them at any time. */
  readonly settings: Settings;
  readonly liveSettings: LiveSettings;
  readonly store: Store;
  readonly keys: KeyCache;
  readonly keyWatcher: KeyWatcher;
  /** Undefined: the gateway accepts no user assertions. */
  readonly userSessions: UserSessions | undefined;
  /** Returns the client address of a request, as the address limits of keys use it. */
  readonly addressOf: (request: IncomingMessage) => string;
  /** Returns the base URL at which the client of a request reaches the gateway. Undefined if unknown. */
  readonly baseUrlOf: (request: IncomingMessage) => string | undefined;
  /** The address at which this machine reaches the gateway, without a trailing slash. */
  readonly localUrl: string;
  readonly bodyParser: BodyParser;
  /** Quota of calls that end with their connection. */
  readonly callQuota: CallQuota;
  readonly access: ModelAccess;
  readonly prices: Prices;
  readonly vendorCosts: VendorCosts;
  readonly channels: Channels;
  /** Channels that are disabled on every gateway. */
  readonly channelStates: ChannelStates;
  readonly files: FileRelay;
  readonly tasks: Tasks;
  readonly callbackDeliveries: Pick<CallbackDeliveries, 'wake' | 'message' | 'eventMessage'>;
  readonly detachedCalls: DetachedCalls;
  /** Pending polls of assets by id. Concurrent readers share one poll. */
  readonly assetRefreshes: Map<string, Promise<AssetsTable>>;
  /** Pending polls of verification sessions by id. */
  readonly verificationChecks: Map<string, Promise<VerificationSessionsTable>>;
  /** Slots of concurrent reports. */
  readonly reports: Readonly<Record<ReportLane, Slots>>;
  readonly rateLimiter: RateLimiter;
  readonly socketLimiter: SocketLimiter;
  readonly logger: Logger;
  /** Epoch milliseconds, for timestamps and expiry dates. It may step, so durations come from `timers`. */
  readonly clock: () => number;
  readonly timers: Timers;
  /** Undefined: a single process. */
  readonly siblings: Siblings | undefined;
  /** True after the stop signal. The gateway reports that it is not ready, but still accepts requests. */
  leaving: boolean;
  /** True when new requests are refused. */
  draining: boolean;
  /** True if the gateway polls no task, sends no callback and answers only management reads. */
  readonly maintenance: boolean;
  /** Ends maintenance mode. False if it was not active. Rejects if work cannot start, which can be repeated. */
  readonly endMaintenance: () => Promise<boolean>;
}
