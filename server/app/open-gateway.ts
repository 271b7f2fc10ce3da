import { randomBytes, randomUUID } from 'node:crypto';
import { ChannelStates } from '../channels/channel-states.ts';
import { Channels } from '../channels/channels.ts';
import { HealthSharing } from '../channels/health-sharing.ts';
import { ChannelSpending } from '../channels/spending.ts';
import { clientBaseUrl } from '../http/base-url.ts';
import { BodyParser } from '../http/body-parser.ts';
import type { Gateway, WorkerPlace } from '../http/gateway.ts';
import { clientAddress } from '../keys/addresses.ts';
import { ensureKey } from '../keys/bootstrap-key.ts';
import { ConcurrencyCounters } from '../keys/concurrency-counters.ts';
import { KeyCache } from '../keys/key-cache.ts';
import { KeyWatcher } from '../keys/key-watcher.ts';
import { RateLimiter } from '../keys/rate-limiter.ts';
import { RequestBuckets } from '../keys/request-buckets.ts';
import { SharedConcurrency } from '../keys/shared-concurrency.ts';
import { SharedRequests } from '../keys/shared-requests.ts';
import { SocketLimiter } from '../keys/socket-limiter.ts';
import { UserSessions } from '../keys/user-sessions.ts';
import { DetachedCalls } from '../lib/detached-calls.ts';
import { systemTimers, type Timers } from '../lib/timers.ts';
import { FileRelay } from '../media/file-relay.ts';
import { ModelAccess } from '../models/access.ts';
import { Slots } from '../outbound/slots.ts';
import { drivers } from '../providers/drivers.ts';
import { renderCallback } from '../providers/task-callback.ts';
import { CallQuota } from '../quota/call-quota.ts';
import { Heartbeat } from '../quota/heartbeat.ts';
import { Ledger, type Shortfall } from '../quota/ledger.ts';
import { LogDays, Retention, RollUp } from '../quota/maintenance.ts';
import { Prices } from '../quota/prices.ts';
import { VendorCosts } from '../quota/vendor-costs.ts';
import { addressTest } from '../settings/address-ranges.ts';
import { effectivePrices } from '../settings/effective-prices.ts';
import { LiveSettings, logWarnings } from '../settings/live-settings.ts';
import { loadedPrices } from '../settings/loaded-prices.ts';
import { sandboxChannels } from '../settings/sandbox-channels.ts';
import { namedModels } from '../settings/served-models.ts';
import type { Settings } from '../settings/settings.ts';
import type { ChangeCause } from '../store/schema.ts';
import { CallbackDeliveries } from '../tasks/callbacks/callback-deliveries.ts';
import { EventScan } from '../tasks/callbacks/event-scan.ts';
import { queueLimitsOf } from '../tasks/queue-limits.ts';
import { Tasks } from '../tasks/tasks.ts';
import type { TaskTiming } from '../tasks/timing.ts';
import type { Metric } from '../telemetry/exposition.ts';
import type { Logger } from '../telemetry/logger.ts';
import { addModelLabels } from '../telemetry/quota-metrics.ts';
import { Container } from './container.ts';
import { DeferredStart } from './deferred-start.ts';
import { startEmbeddedSandbox } from './embedded-sandbox.ts';
import { openGatewayStore } from './gateway-store.ts';
import { startOperator } from './operator.ts';

export interface GatewayOptions {
  /** Epoch milliseconds. */
  clock?: () => number;
  timers?: Timers;
  /** Reads the settings again for a reload. Default: the same settings. */
  read?: () => Settings;
  /** Poll intervals of tasks, for tests that do not wait. */
  timing?: Partial<TaskTiming>;
  /** Given to a worker: its first key and its sandbox exist already. */
  place?: WorkerPlace | undefined;
  /** Called with the settings of a reload, after the gateway has applied them. */
  onReload?: (next: Settings) => void;
}

export interface OpenGateway {
  gateway: Gateway;
  /** Address of the operator's port, without a trailing slash. Undefined: there is none. */
  operatorUrl: string | undefined;
  /** Current metrics. Empty when metrics are off. */
  metrics(): Promise<readonly Metric[]>;
  /** A key that this start created because there was none. It is stored as a hash only. */
  newKey: string | undefined;
  /** Resolves with the reason when the store has failed and the process must end. */
  failed: Promise<Error>;
  /** Starts callbacks. `url` is the gateway's address where `PUBLIC_URL` is not set; links in callbacks use it. */
  listensAt(url: string): Promise<void>;
  /**
   * Reports not ready for `stop.delay_seconds`, then runs `drain`, which ends open requests and sockets within
   * `graceMs`, and then stops everything.
   */
  close(graceMs: number, drain: (graceMs: number) => Promise<unknown>): Promise<void>;
  /** Stops everything at once. */
  stop(): Promise<void>;
}

/** Time that settlements may wait for an unavailable store after the grace period of clients, in milliseconds. */
const storeGraceMs = 5_000;

/** Opens the store and starts every part of a gateway except its HTTP server. */
export async function openGateway(
  settings: Settings,
  logger: Logger,
  options: GatewayOptions = {},
): Promise<OpenGateway> {
  const container = new Container(logger);
  try {
    return await startParts(container, settings, logger, options);
  } catch (error) {
    await container.stop();
    throw error;
  }
}

async function startParts(
  container: Container,
  settings: Settings,
  logger: Logger,
  {
    clock = Date.now,
    timers = systemTimers,
    read = () => settings,
    timing = {},
    place,
    onReload,
  }: GatewayOptions,
): Promise<OpenGateway> {
  const isWorker = place !== undefined;
  // The parent process of workers logs the warnings once.
  if (!isWorker) logWarnings(logger, settings.warnings);
  // Stops last, so that metrics show the whole stop.
  const operator = container.add('operator port', await startOperator(settings, logger, isWorker));
  const store = container.add('store', await openGatewayStore(settings, logger));
  const id = place?.id ?? `gateway_${randomUUID()}`;
  const common = { store, logger, clock, timers };

  const heartbeat = new Heartbeat({ ...common, id });
  const freed = await container.start('heartbeat', heartbeat);
  if (freed.reservations > 0 || freed.leases > 0)
    logger.warn(freed, 'released reservations and leases of an earlier run');

  const onShortfall = ({ requestId, charged, debt }: Shortfall) =>
    logger.warn(
      { request_id: requestId, charged, debt },
      'the key had too little quota left for a finished call; the rest is recorded as its debt',
    );
  const ledger = new Ledger(store, id, clock, onShortfall);
  const callQuota = new CallQuota({ ...common, gateway: id, membership: heartbeat, ledger, onShortfall });
  await container.start('quota', callQuota);

  const recordPrices = (loaded: Settings, cause: ChangeCause) =>
    store.run('recordPrices', { ...loadedPrices(loaded), cause, now: clock() });
  await recordPrices(settings, 'start');
  const newKey = isWorker ? undefined : await ensureKey(settings, store, logger, clock());

  const sandbox = isWorker
    ? place.sandbox
    : container.add('sandbox', await startEmbeddedSandbox(settings, logger));
  const embedded = sandbox === undefined ? [] : sandboxChannels(sandbox);
  const accounts = [...settings.channels, ...embedded];
  const ensureSecret = (name: string) =>
    store.run('ensureSecret', { name, value: randomBytes(32).toString('base64url') });
  let baseUrl = settings.publicUrl ?? '';
  let localUrl = '';
  const files = new FileRelay({
    secret: await ensureSecret('files'),
    channels: accounts,
    defaultBaseUrl: () => baseUrl,
    clock,
  });
  // The embedded store has only one gateway.
  const isShared = store.engine !== 'sqlite';
  const sharedRequests = isShared ? new SharedRequests({ store, timers, logger }) : undefined;
  const sharedConcurrency = isShared
    ? new SharedConcurrency({ store, gateway: id, timers, logger })
    : undefined;
  for (const shared of [sharedRequests, sharedConcurrency])
    if (shared !== undefined) await container.start('shared limits', shared);
  const spending = new ChannelSpending(common);
  const limiterParts = {
    requests: new RequestBuckets({ timers, shared: sharedRequests }),
    calls: new ConcurrencyCounters(sharedConcurrency),
    spending,
  };
  const channels = container.add(
    'channels',
    new Channels(accounts, timers.monotonic, undefined, files, limiterParts, logger),
  );
  await container.start('spending of channels', spending);
  if (isShared)
    await container.start(
      'health of channels',
      new HealthSharing({ store, gateway: id, channels, timers, logger }),
    );
  const channelStates = new ChannelStates({ store, channels, timers, logger });
  await container.start('channel states', channelStates);
  const offered = { ...settings, prices: effectivePrices(settings) };
  const prices = new Prices(offered);
  const access = new ModelAccess(offered);
  const vendorCosts = new VendorCosts(settings.channels);
  addModelLabels(namedModels(settings));

  const callbacks = container.add(
    'callbacks',
    new CallbackDeliveries({
      ...common,
      ...settings.callbacks,
      owner: id,
      render: (task) => renderCallback(task, files.linksFor(settings.publicUrl)),
    }),
  );
  const eventScan = container.add(
    'events',
    new EventScan({ ...common, channels, gateway: id, onDeliveries: () => callbacks.wake() }),
  );
  const tasks = container.add(
    'tasks',
    new Tasks({
      ...common,
      owner: id,
      drivers,
      channels,
      quota: callQuota,
      vendorCosts,
      priceTerms: (modelId, group, fields) => prices.terms(modelId, group, fields),
      onChange: ({ callbackUrl }) => {
        if (callbackUrl !== null) callbacks.wake();
      },
      timing,
      maxQueueMs: () => (liveSettings.current.limits.queueSeconds ?? 3_600) * 1_000,
      queueLimits: () => queueLimitsOf(liveSettings.current.limits),
    }),
  );

  const keys = new KeyCache({ store, clock, timers });
  const { userAssertionSecret: assertionSecret } = settings;
  const userSessions =
    assertionSecret === undefined
      ? undefined
      : new UserSessions({ ...common, keys, assertionSecret, storeSecret: await ensureSecret('sessions') });
  let isTrusted = addressTest(settings.trustedProxies);
  const retention = new Retention({ ...common, keepMs: settings.keepBooksMs });
  const liveSettings = new LiveSettings({
    started: settings,
    read,
    apply,
    record: (_changes, next) => recordPrices(next, 'signal'),
    logger,
  });
  const limits = () => liveSettings.current.limits;
  let { maintenance } = settings;
  const detachedCalls = new DetachedCalls(timers);
  const gateway: Gateway = {
    get settings() {
      return liveSettings.current;
    },
    liveSettings,
    store,
    keys,
    keyWatcher: new KeyWatcher({ ...common, keys }),
    userSessions,
    addressOf: (request) => clientAddress(request, isTrusted),
    baseUrlOf: (request) => clientBaseUrl(request, settings, isTrusted),
    get localUrl() {
      return localUrl;
    },
    bodyParser: container.add('body parser', new BodyParser()),
    callQuota,
    access,
    prices,
    vendorCosts,
    channels,
    channelStates,
    files,
    tasks,
    callbackDeliveries: callbacks,
    detachedCalls,
    assetRefreshes: new Map(),
    // Concurrent reports of each kind, and how long others wait. The pages of a started export wait longer.
    reports: {
      searches: new Slots({ count: 4, waitMs: 5_000, timers }),
      figures: new Slots({ count: 2, waitMs: 5_000, timers }),
      exports: new Slots({ count: 2, waitMs: 60_000, timers }),
      audits: new Slots({ count: 1, waitMs: 5_000, timers }),
    },
    verificationChecks: new Map(),
    rateLimiter: new RateLimiter({ limits, timers, shared: sharedRequests }),
    socketLimiter: new SocketLimiter({ limits, shared: sharedConcurrency }),
    logger,
    clock,
    timers,
    siblings: place?.siblings,
    leaving: false,
    draining: false,
    get maintenance() {
      return maintenance;
    },
    endMaintenance,
  };
  await container.start('log partitions', new LogDays(common));
  await container.start('usage figures', new RollUp(common));
  if (maintenance) {
    logger.warn(
      'maintenance mode: no task is polled, no callback is sent, and only management reads are answered',
    );
  } else {
    await container.start('retention', retention);
    await tasks.start();
  }

  const deferred = new DeferredStart([
    () => tasks.start(),
    async () => {
      await callbacks.start();
      eventScan.start();
    },
    async () => container.start('retention', retention),
  ]);

  async function endMaintenance(): Promise<boolean> {
    if (!maintenance) return false;
    await deferred.run();
    const isFirst = maintenance;
    maintenance = false;
    if (isFirst) logger.warn('maintenance mode has ended');
    return isFirst;
  }

  /** Applies everything at once, so that no request sees a mixture of old and new settings. */
  function apply(next: Settings): void {
    const nextAccounts = [...next.channels, ...embedded];
    files.apply(nextAccounts);
    channels.apply(nextAccounts);
    const nextOffered = { ...next, prices: effectivePrices(next) };
    access.apply(nextOffered);
    addModelLabels(namedModels(next));
    prices.apply(nextOffered);
    vendorCosts.apply(next.channels);
    callbacks.apply(next.callbacks);
    retention.apply(next.keepBooksMs);
    isTrusted = addressTest(next.trustedProxies);
    onReload?.(next);
  }

  return {
    gateway,
    operatorUrl: operator.url,
    metrics: () => operator.metrics(),
    newKey,
    failed: store.failed,
    async listensAt(url) {
      baseUrl ||= url;
      // A gateway that listens on all addresses is also reached through the loopback address.
      localUrl = url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');
      if (!maintenance) {
        await callbacks.start();
        eventScan.start();
      }
      operator.observe(gateway);
    },
    async close(graceMs, drain) {
      gateway.leaving = true;
      const { stopDelayMs } = liveSettings.current;
      // A load balancer that polls readiness sends requests until its next poll.
      if (stopDelayMs > 0) await new Promise<void>((resolve) => timers.alarm(stopDelayMs, resolve));
      gateway.draining = true;
      const storeTimeout = setTimeout(() => store.stopRetries(), graceMs + storeGraceMs);
      const until = timers.monotonic() + graceMs;
      await drain(graceMs);
      // No new detached call can start once `drain` has resolved.
      await detachedCalls.stop(Math.max(0, until - timers.monotonic()));
      clearTimeout(storeTimeout);
      store.stopRetries();
      await container.stop();
    },
    stop: () => container.stop(),
  };
}
