import { randomBytes, randomUUID } from 'node:crypto';
import { ChannelStates } from '../channels/channel-states.ts';
import { Channels } from '../channels/channels.ts';
import { BodyParser } from '../http/body-parser.ts';
import type { Gateway, WorkerPlace } from '../http/gateway.ts';
import { clientAddress } from '../keys/addresses.ts';
import { ensureKey } from '../keys/bootstrap-key.ts';
import { KeyCache } from '../keys/key-cache.ts';
import { KeyWatcher } from '../keys/key-watcher.ts';
import { RateLimiter } from '../keys/rate-limiter.ts';
import { SharedRequests } from '../keys/shared-requests.ts';
import { SharedSockets } from '../keys/shared-sockets.ts';
import { SocketLimiter } from '../keys/socket-limiter.ts';
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
import { addressTest } from '../settings/address-ranges.ts';
import { effectivePrices } from '../settings/effective-prices.ts';
import { LiveSettings, logWarnings } from '../settings/live-settings.ts';
import { loadedPrices } from '../settings/loaded-prices.ts';
import { sandboxChannels } from '../settings/sandbox-channels.ts';
import type { Settings } from '../settings/settings.ts';
import { openStore } from '../store/open-store.ts';
import type { ReportLane } from '../store/reports.ts';
import type { ChangeCause } from '../store/schema.ts';
import type { Store } from '../store/store.ts';
import { CallbackDeliveries } from '../tasks/callbacks/callback-deliveries.ts';
import { Tasks } from '../tasks/tasks.ts';
import type { TaskTiming } from '../tasks/timing.ts';
import type { Metric } from '../telemetry/exposition.ts';
import type { Logger } from '../telemetry/logger.ts';
import { Container } from './container.ts';
import { startEmbeddedSandbox } from './embedded-sandbox.ts';
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

/** Time that settlements may wait for an absent store after the grace period of clients, in milliseconds. */
const storeGraceMs = 5_000;

/**
 * Concurrent reports of a kind, of one user about half of them, and how long others wait in milliseconds. An export that
 * has begun waits longer for its next page, so that it completes.
 */
const reportTurns: Readonly<Record<ReportLane, { count: number; waitMs: number }>> = {
  searches: { count: 4, waitMs: 5_000 },
  figures: { count: 2, waitMs: 5_000 },
  exports: { count: 2, waitMs: 60_000 },
  audits: { count: 1, waitMs: 5_000 },
};

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
  // The process that starts workers logs them once for all.
  if (place === undefined) logWarnings(logger, settings.warnings);
  // Stops last, so that metrics show the whole stop.
  const operator = await container.add(
    'operator port',
    () => startOperator(settings, logger, place !== undefined),
    (started) => started?.close(),
  );
  const store = await container.add(
    'store',
    () => openStoreOf(settings, logger),
    (opened) => opened?.close(),
  );
  const id = place?.id ?? `gateway_${randomUUID()}`;
  const heartbeat = new Heartbeat({ store, id, logger, timers, clock });
  const freed = await container.add(
    'heartbeat',
    () => heartbeat.start(),
    () => heartbeat.stop(),
  );
  if (freed.reservations > 0 || freed.leases > 0)
    logger.warn(freed, 'released what an earlier run left open');
  const onShortfall = ({ requestId, charged, debt }: Shortfall) =>
    logger.warn(
      { request_id: requestId, charged, debt },
      'the key had too little quota left for a finished call; the rest is recorded as its debt',
    );
  const ledger = new Ledger(store, id, clock, onShortfall);
  const callQuota = new CallQuota({
    store,
    gateway: id,
    membership: heartbeat,
    ledger,
    onShortfall,
    logger,
    timers,
    clock,
  });
  await container.add(
    'quota',
    () => callQuota.start(),
    () => callQuota.stop(),
  );
  const recordPrices = (loaded: Settings, cause: ChangeCause) =>
    store.run('recordPrices', { ...loadedPrices(loaded), cause, now: clock() });
  await recordPrices(settings, 'start');
  const newKey = place === undefined ? await ensureKey(settings, store, logger, clock()) : undefined;
  const sandbox = await container.add(
    'sandbox',
    () => (place === undefined ? startEmbeddedSandbox(settings, logger) : undefined),
    (started) => started?.close(),
  );
  const upstream = sandbox ?? place?.sandbox;
  const embedded = upstream === undefined ? [] : sandboxChannels(upstream);
  const accounts = [...settings.channels, ...embedded];
  let home = settings.publicUrl ?? '';
  const files = new FileRelay({
    secret: await store.run('ensureSecret', { name: 'files', value: randomBytes(32).toString('base64url') }),
    channels: accounts,
    defaultBaseUrl: () => home,
    clock,
  });
  const channels = new Channels(accounts, timers.monotonic, undefined, files);
  await container.add(
    'channels',
    () => {},
    () => channels.close(),
  );
  const channelStates = new ChannelStates({ store, channels, timers, logger });
  await container.add(
    'channel states',
    () => channelStates.start(),
    () => channelStates.stop(),
  );
  const offered = { ...settings, prices: effectivePrices(settings) };
  const prices = new Prices(offered);
  const callbacks = new CallbackDeliveries({
    store,
    owner: id,
    render: (task) => renderCallback(task, files.linksFor(settings.publicUrl)),
    ...settings.callbacks,
    logger,
    clock,
    timers,
  });
  // They start when the address of the gateway is known.
  await container.add(
    'callbacks',
    () => {},
    () => callbacks.stop(),
  );
  const tasks = new Tasks({
    store,
    owner: id,
    drivers,
    channels,
    quota: callQuota,
    priceTerms: (modelId, group) => prices.terms(modelId, group),
    logger,
    onChange: ({ callbackUrl }) => {
      if (callbackUrl !== null) callbacks.wake();
    },
    clock,
    timers,
    timing,
  });
  await container.add(
    'tasks',
    () => {},
    () => tasks.stop(),
  );
  const detachedCalls = new DetachedCalls(timers);
  const keys = new KeyCache({ store, clock, timers });
  let isTrusted = addressTest(settings.trustedProxies);
  const access = new ModelAccess(offered);
  const retention = new Retention({ store, logger, clock, timers, keepMs: settings.keepBooksMs });
  const liveSettings = new LiveSettings({
    started: settings,
    read,
    apply,
    note: (_changes, next) => recordPrices(next, 'signal'),
    logger,
  });
  const limits = () => liveSettings.current.limits;
  const shared =
    store.engine === 'sqlite'
      ? undefined
      : {
          requests: new SharedRequests({ store, timers, logger }),
          sockets: new SharedSockets({ store, gateway: id, timers, logger }),
        };
  for (const one of Object.values(shared ?? {})) {
    await container.add(
      'shared limits',
      () => one.start(),
      () => one.stop(),
    );
  }
  const bodyParser = await container.add(
    'body parser',
    () => new BodyParser(),
    (parser) => parser?.close(),
  );
  const reportSlots = (lane: ReportLane) => new Slots({ ...reportTurns[lane], timers });
  const gateway: Gateway = {
    get settings() {
      return liveSettings.current;
    },
    liveSettings,
    store,
    keys,
    keyWatcher: new KeyWatcher({ store, clock, timers, keys, logger }),
    addressOf: (request) => clientAddress(request, isTrusted),
    bodyParser,
    callQuota,
    access,
    prices,
    channels,
    channelStates,
    files,
    tasks,
    callbackDeliveries: callbacks,
    detachedCalls,
    assetRefreshes: new Map(),
    reports: {
      searches: reportSlots('searches'),
      figures: reportSlots('figures'),
      exports: reportSlots('exports'),
      audits: reportSlots('audits'),
    },
    verificationChecks: new Map(),
    rateLimiter: new RateLimiter({ limits, timers, shared: shared?.requests }),
    socketLimiter: new SocketLimiter({ limits, shared: shared?.sockets }),
    logger,
    clock,
    timers,
    siblings: place?.siblings,
    leaving: false,
    draining: false,
  };
  const logDays = new LogDays({ store, logger, clock, timers });
  await container.add(
    'log partitions',
    () => logDays.start(),
    () => logDays.stop(),
  );
  await container.add(
    'retention',
    () => retention.start(),
    () => retention.stop(),
  );
  const rollUp = new RollUp({ store, logger, timers });
  await container.add(
    'usage figures',
    () => rollUp.start(),
    () => rollUp.stop(),
  );
  await tasks.start();

  /** Applies everything at once, so that no request sees a mixture of old and new settings. */
  function apply(next: Settings): void {
    files.apply([...next.channels, ...embedded]);
    channels.apply([...next.channels, ...embedded]);
    const nextOffered = { ...next, prices: effectivePrices(next) };
    access.apply(nextOffered);
    prices.apply(nextOffered);
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
      home ||= url;
      await callbacks.start();
      operator.started(gateway);
    },
    async close(graceMs, drain) {
      gateway.leaving = true;
      const { stopDelayMs } = liveSettings.current;
      // A load balancer that polls readiness sends requests until its next poll.
      if (stopDelayMs > 0) await new Promise<void>((resolve) => timers.alarm(stopDelayMs, resolve));
      gateway.draining = true;
      const storeTimeout = setTimeout(() => store.giveUp(), graceMs + storeGraceMs);
      const until = timers.monotonic() + graceMs;
      await drain(graceMs);
      // No new detached call can start once `drain` has resolved.
      await detachedCalls.stop(Math.max(0, until - timers.monotonic()));
      clearTimeout(storeTimeout);
      store.giveUp();
      await container.stop();
    },
    stop: () => container.stop(),
  };
}

function openStoreOf(settings: Settings, logger: Logger): Promise<Store> {
  return openStore({
    dataDir: settings.dataDir,
    ...(settings.databaseUrl === undefined ? {} : { databaseUrl: settings.databaseUrl }),
    postgres: settings.database,
    changeFeed: {
      databaseUrl: settings.databaseListenUrl,
      onConnection: (isConnected, reason) => {
        if (isConnected) logger.info('the change feed is connected');
        else logger.warn({ err: reason }, 'the change feed is disconnected; changes are polled');
      },
    },
    onAvailability: (away, cause) => {
      if (away) logger.error({ err: cause }, 'the store is unavailable');
      else logger.warn('the store is available again');
    },
  });
}
