import type { IncomingMessage } from 'node:http';
import type { ChannelReport } from '../channels/channel-report.ts';
import type { ChannelStates } from '../channels/channel-states.ts';
import type { Channels } from '../channels/channels.ts';
import type { KeyCache } from '../keys/key-cache.ts';
import type { KeyWatcher } from '../keys/key-watcher.ts';
import type { RateLimiter } from '../keys/rate-limiter.ts';
import type { SocketLimiter } from '../keys/socket-limiter.ts';
import type { DetachedCalls } from '../lib/detached-calls.ts';
import type { Timers } from '../lib/timers.ts';
import type { FileRelay } from '../media/file-relay.ts';
import type { ModelAccess } from '../models/access.ts';
import type { Slots } from '../outbound/slots.ts';
import type { CallHolds } from '../quota/call-holds.ts';
import type { Prices } from '../quota/prices.ts';
import type { LiveSettings } from '../settings/live-settings.ts';
import type { Settings } from '../settings/settings.ts';
import type { ReportLane } from '../store/reports.ts';
import type { AssetsTable, VerificationSessionsTable } from '../store/schema.ts';
import type { Store } from '../store/store.ts';
import type { Tasks } from '../tasks/tasks.ts';
import type { Logger } from '../telemetry/logger.ts';

import type { BodyParser } from './body-parser.ts';

/** The other workers that share this one's port. */
export interface Siblings {
  isAnyReady(): Promise<boolean>;
  /** Resolves when each has read its settings again, or could not: what came of it stands in the log. */
  reload(): Promise<void>;
  /** How the channels do on each of them. */
  channels(): Promise<readonly (readonly ChannelReport[])[]>;
}

/** What a worker is given by the process that started it. */
export interface WorkerPlace {
  /** Names the gateway. */
  id: string;
  /** The port that all of them listen on. */
  port: number;
  /** Whether the system shares it among them. */
  reusePort: boolean;
  /** The embedded upstream, if there is one. */
  sandbox: Readonly<Record<'url' | 'wsUrl' | 'key', string>> | undefined;
  siblings: Siblings;
}

/** Everything an operation works with. */
export interface Gateway {
  /** Those in force: a reload may change them at any time. */
  readonly settings: Settings;
  readonly liveSettings: LiveSettings;
  readonly store: Store;
  readonly keys: KeyCache;
  readonly keyWatcher: KeyWatcher;
  /** The address that a request comes from, as limits of keys mean it. */
  readonly addressOf: (request: IncomingMessage) => string;
  readonly bodyParser: BodyParser;
  /** The books of calls that end with their connection. */
  readonly ledger: CallHolds;
  readonly access: ModelAccess;
  readonly prices: Prices;
  readonly channels: Channels;
  /** Which of them are disabled, on every gateway. */
  readonly channelStates: ChannelStates;
  readonly files: FileRelay;
  readonly tasks: Tasks;
  /** Callbacks: to be woken when one may be due. */
  readonly deliveries: { wake(): void };
  readonly detachedCalls: DetachedCalls;
  /** Assets whose provider is being asked about them, by id: who wants to know meanwhile waits for the same answer. */
  readonly assetRefreshes: Map<string, Promise<AssetsTable>>;
  /** The same for verification sessions. */
  readonly verificationChecks: Map<string, Promise<VerificationSessionsTable>>;
  /** Reports that are under way. */
  readonly reports: Readonly<Record<ReportLane, Slots>>;
  readonly rateLimiter: RateLimiter;
  readonly socketLimiter: SocketLimiter;
  readonly logger: Logger;
  /** Epoch milliseconds, for what clients see and what ends on a date. It may step: durations are of `timers`. */
  readonly clock: () => number;
  readonly timers: Timers;
  /** Undefined: this process is alone. */
  readonly siblings: Siblings | undefined;
  /** True from the moment the process is told to stop: it takes calls as ever, and says that it is not ready. */
  leaving: boolean;
  /** True from the moment it takes nothing new any more. */
  draining: boolean;
}
