import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer as createHttpServer, type Server, type ServerResponse } from 'node:http';
import { createServer as createHttpsServer, type Server as SecureServer } from 'node:https';
import { type AddressInfo, Server as NetServer } from 'node:net';
import { ChannelStates } from '../channels/channel-states.ts';
import { Channels } from '../channels/channels.ts';
import { BodyParser } from '../http/body-parser.ts';
import { openApiBundle } from '../http/contract-documents.ts';
import type { Gateway, WorkerPlace } from '../http/gateway.ts';
import { clientAddress } from '../keys/addresses.ts';
import { ensureKey } from '../keys/bootstrap-key.ts';
import { KeyRing } from '../keys/key-ring.ts';
import { KeyWatch } from '../keys/key-watch.ts';
import { RateLimit } from '../keys/rate-limit.ts';
import { SharedRequests } from '../keys/shared-requests.ts';
import { SharedSockets } from '../keys/shared-sockets.ts';
import { SocketLimit } from '../keys/socket-limit.ts';
import { Creations } from '../lib/creations.ts';
import { systemTimers, type Timers } from '../lib/timers.ts';
import { FileRelay } from '../media/file-relay.ts';
import { ModelAccess } from '../models/access.ts';
import { Slots } from '../outbound/slots.ts';
import { drivers } from '../providers/drivers.ts';
import { renderCallback } from '../providers/task-callback.ts';
import { CallHolds } from '../quota/call-holds.ts';
import { Heartbeat } from '../quota/heartbeat.ts';
import { Ledger, type Shortfall } from '../quota/ledger.ts';
import { LogDays } from '../quota/log-days.ts';
import { Prices } from '../quota/prices.ts';
import { Retention } from '../quota/retention.ts';
import { RollUp } from '../quota/roll-up.ts';
import { addressTest } from '../settings/address-ranges.ts';
import { effectivePrices } from '../settings/effective-prices.ts';
import { LiveSettings, logWarnings } from '../settings/live-settings.ts';
import { loadedPrices } from '../settings/loaded-prices.ts';
import { sandboxChannels } from '../settings/sandbox-channels.ts';
import type { Settings } from '../settings/settings.ts';
import { acceptSockets, type OpenSockets } from '../sockets/accept.ts';
import { opensSocket } from '../sockets/handshake.ts';
import { InferenceSession } from '../sockets/inference/session.ts';
import { RealtimeSession } from '../sockets/realtime/session.ts';
import { openStore } from '../store/open-store.ts';
import type { ReportLane } from '../store/reports.ts';
import type { ChangeCause } from '../store/schema.ts';
import { Deliveries } from '../tasks/callbacks/deliveries.ts';
import { Tasks } from '../tasks/tasks.ts';
import type { TaskTiming } from '../tasks/timing.ts';
import type { Metric } from '../telemetry/exposition.ts';
import type { Logger } from '../telemetry/logger.ts';
import { createApp } from './create-app.ts';
import { startEmbeddedSandbox } from './embedded-sandbox.ts';
import { startOperator } from './operator.ts';

export interface RunningGateway {
  /** Address it listens on, without a slash at the end. */
  url: string;
  /** Address of the operator's port, without a slash at the end; undefined: it has none. */
  operatorUrl: string | undefined;
  /** What has been measured, if anything is. */
  metrics(): Promise<readonly Metric[]>;
  /** A key made on this start because there was none; shown once, kept nowhere. */
  newKey: string | undefined;
  gateway: Gateway;
  /** The sockets that are open, or whose books are. */
  sockets: OpenSockets;
  /** Resolves with the reason if the process has to end, since its store failed for good. */
  failed: Promise<Error>;
  /**
   * Says that it is not ready for as long as is configured, takes no more requests and sockets then, lets running ones
   * finish for up to `graceMs` milliseconds, and closes the books.
   */
  close(graceMs?: number): Promise<void>;
}

/** After the grace period of clients, books may wait so much longer for a store that is away, in milliseconds. */
const storeGraceMs = 5_000;
/** Longest silence of a client that is to send or to read, in milliseconds. */
const silence = 300_000;
/**
 * So many reports of a kind run at a time, of one user about half of them; others wait so long, in milliseconds. An
 * export that has begun is to come to its end, and waits longer for its next page.
 */
const reportTurns: Readonly<Record<ReportLane, { count: number; waitMs: number }>> = {
  searches: { count: 4, waitMs: 5_000 },
  figures: { count: 2, waitMs: 5_000 },
  exports: { count: 2, waitMs: 60_000 },
  audits: { count: 1, waitMs: 5_000 },
};

/**
 * Starts everything in the order in which it depends on each other. `read`: reads the settings again, for a reload;
 * `timing`: how often tasks are looked at, where a test does not want to wait; `place`: that of one worker among several, which
 * have their first key and their sandbox already.
 */
export async function serve(
  settings: Settings,
  logger: Logger,
  clock: () => number = Date.now,
  timers: Timers = systemTimers,
  read: () => Settings = () => settings,
  timing: Partial<TaskTiming> = {},
  place?: WorkerPlace,
): Promise<RunningGateway> {
  // The process that starts workers logs them for all of them.
  if (place === undefined) logWarnings(logger, settings.warnings);
  const store = await openStore({
    dataDir: settings.dataDir,
    ...(settings.databaseUrl === undefined ? {} : { databaseUrl: settings.databaseUrl }),
    postgres: settings.database,
    hear: {
      databaseUrl: settings.databaseListenUrl,
      onHearing: (hears, reason) => {
        if (hears) logger.info('changes by other gateways are heard of at once');
        else
          logger.warn(
            { err: reason },
            'changes by other gateways are looked for, since they are not heard of',
          );
      },
    },
    onAvailability: (away, cause) => {
      if (away) logger.error({ err: cause }, 'the store is away');
      else logger.warn('the store is back');
    },
  });
  const opened: (() => Promise<void>)[] = [() => store.close()];
  try {
    const operator = await startOperator(settings, logger, place !== undefined);
    // The last to leave: how the gateway stops can be seen to the end.
    opened.push(() => operator.close());
    const id = place?.id ?? `gateway_${randomUUID()}`;
    const heartbeat = new Heartbeat({ store, id, logger, timers, clock });
    opened.unshift(() => heartbeat.stop());
    const freed = await heartbeat.start();
    if (freed.holds > 0 || freed.leases > 0) logger.warn(freed, 'gave back what an earlier run left open');
    const onShortfall = ({ requestId, charged, debt }: Shortfall) =>
      logger.warn(
        { request_id: requestId, charged, debt },
        'the key had too little quota left for a finished call; the rest is recorded as its debt',
      );
    const exact = new Ledger(store, id, clock, onShortfall);
    const books = { store, gateway: id, standing: heartbeat, ledger: exact, onShortfall };
    const ledger = new CallHolds({ ...books, logger, timers, clock });
    opened.unshift(() => ledger.stop());
    ledger.start();
    const recordPrices = (loaded: Settings, cause: ChangeCause) =>
      store.run('recordPrices', { ...loadedPrices(loaded), cause, now: clock() });
    await recordPrices(settings, 'start');
    const newKey = place === undefined ? await ensureKey(settings, store, logger, clock()) : undefined;
    const sandbox = place === undefined ? await startEmbeddedSandbox(settings, logger) : undefined;
    if (sandbox !== undefined) opened.unshift(() => sandbox.close());
    const upstream = sandbox ?? place?.sandbox;
    const embedded = upstream === undefined ? [] : sandboxChannels(upstream);
    const accounts = [...settings.channels, ...embedded];
    let home = settings.publicUrl ?? '';
    const files = new FileRelay({
      secret: await store.run('ensureSecret', {
        name: 'files',
        value: randomBytes(32).toString('base64url'),
      }),
      channels: accounts,
      home: () => home,
      clock,
    });
    const channels = new Channels(accounts, timers.monotonic, undefined, files);
    opened.unshift(() => channels.close());
    const channelStates = new ChannelStates({ store, channels, timers, logger });
    opened.unshift(() => channelStates.stop());
    await channelStates.start();
    const offered = { ...settings, prices: effectivePrices(settings) };
    const prices = new Prices(offered);
    const deliveries = new Deliveries({
      store,
      owner: id,
      render: (task) => renderCallback(task, files.linksAt(settings.publicUrl)),
      ...settings.callbacks,
      logger,
      clock,
      timers,
    });
    opened.unshift(() => deliveries.stop());
    const tasks = new Tasks({
      store,
      owner: id,
      drivers,
      channels,
      quota: ledger,
      priceTerms: (modelId, group) => prices.terms(modelId, group),
      logger,
      onChange: ({ callbackUrl }) => {
        if (callbackUrl !== null) deliveries.wake();
      },
      clock,
      timers,
      timing,
    });
    opened.unshift(() => tasks.stop());
    const creations = new Creations(timers);
    const keys = new KeyRing({ store, clock, timers });
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
      opened.unshift(() => one.stop());
      one.start();
    }
    const gateway: Gateway = {
      get settings() {
        return liveSettings.current;
      },
      liveSettings,
      store,
      keys,
      keyWatch: new KeyWatch({ store, clock, timers, keys, logger }),
      addressOf: (request) => clientAddress(request, isTrusted),
      ledger,
      access,
      prices,
      channels,
      channelStates,
      files,
      tasks,
      deliveries,
      creations,
      assetRefreshes: new Map(),
      reports: {
        searches: new Slots({ ...reportTurns.searches, timers }),
        figures: new Slots({ ...reportTurns.figures, timers }),
        exports: new Slots({ ...reportTurns.exports, timers }),
        audits: new Slots({ ...reportTurns.audits, timers }),
      },
      verificationChecks: new Map(),
      rateLimit: new RateLimit({ limits, timers, shared: shared?.requests }),
      socketLimit: new SocketLimit({ limits, shared: shared?.sockets }),
      logger,
      clock,
      timers,
      siblings: place?.siblings,
      leaving: false,
      draining: false,
    };
    const logDays = new LogDays({ store, logger, clock, timers });
    opened.unshift(() => logDays.stop());
    await logDays.start();
    opened.unshift(() => retention.stop());
    retention.start();
    const rollUp = new RollUp({ store, logger, timers });
    opened.unshift(() => rollUp.stop());
    rollUp.start();
    await tasks.start();
    const bodyParser = new BodyParser();
    opened.unshift(() => bodyParser.close());
    const { listen, IncomingMessage } = createApp(gateway, openApiBundle(), bodyParser);
    const options = { IncomingMessage, shouldUpgradeCallback: opensSocket };
    const server: Server | SecureServer =
      settings.tls === undefined
        ? createHttpServer(options, listen)
        : createHttpsServer({ cert: settings.tls.certificate, key: settings.tls.key, ...options }, listen);
    const sockets = acceptSockets(server, gateway, timers, {
      realtime: (connection, socket, channels) => new RealtimeSession(connection, socket, channels),
      inference: (connection, socket) => new InferenceSession(connection, socket),
    });
    server.timeout = silence;
    const { host, port } = settings;
    server.listen(
      place === undefined ? { host, port } : { host, port: place.port, reusePort: place.reusePort },
    );
    await once(server, 'listening');
    const url = addressOf(server, settings);
    home ||= url;
    // What they deliver may name files, and so where the gateway is.
    await deliveries.start();
    operator.started(gateway);
    return {
      url,
      operatorUrl: operator.url,
      metrics: () => operator.metrics(),
      newKey,
      gateway,
      sockets,
      failed: store.failed,
      async close(graceMs = 30_000) {
        gateway.leaving = true;
        const { stopDelayMs } = liveSettings.current;
        // Who looks only now and then whether it is ready sends something until then.
        if (stopDelayMs > 0) await new Promise<void>((resolve) => timers.alarm(stopDelayMs, resolve));
        gateway.draining = true;
        // What waits for a store that is away must not keep the process for ever.
        const impatient = setTimeout(() => store.giveUp(), graceMs + storeGraceMs);
        const until = timers.monotonic() + graceMs;
        await Promise.all([sockets.drain(graceMs), drain(server, graceMs)]);
        // Of clients that have left; nobody is there any more to begin another.
        await creations.stop(Math.max(0, until - timers.monotonic()));
        clearTimeout(impatient);
        store.giveUp();
        for (const close of opened) {
          await close().catch((error: unknown) => logger.error({ err: error }, 'not closed in good order'));
        }
      },
    };

    /** All at once: no request sees some of them new and others old. */
    function apply(next: Settings): void {
      const { callbacks, trustedProxies, keepBooksMs, tls } = next;
      files.apply([...next.channels, ...embedded]);
      channels.apply([...next.channels, ...embedded]);
      const offered = { ...next, prices: effectivePrices(next) };
      access.apply(offered);
      prices.apply(offered);
      deliveries.apply(callbacks);
      retention.apply(keepBooksMs);
      isTrusted = addressTest(trustedProxies);
      if (tls !== undefined && 'setSecureContext' in server)
        server.setSecureContext({ cert: tls.certificate, key: tls.key });
    }
  } catch (error) {
    for (const close of opened) await close();
    throw error;
  }
}

/** A connection without a request is kept for so long while the gateway stops: one may be on its way. */
const idleMs = 100;

/** Takes no connection any more, answers what comes on those that there are, and ends all after `graceMs`. */
async function drain(server: Server, graceMs: number): Promise<void> {
  // The close of an HTTP server would end idle connections at once, a just opened one with its first request too.
  const closed = new Promise<void>((resolve) => void NetServer.prototype.close.call(server, () => resolve()));
  server.prependListener('request', (_request, response: ServerResponse) => {
    response.shouldKeepAlive = false;
  });
  // After what has come is read: a process that was busy until now would end a connection whose request waits in it.
  const idle = setInterval(() => setImmediate(() => server.closeIdleConnections()), idleMs);
  const force = setTimeout(() => server.closeAllConnections(), graceMs);
  await closed;
  clearInterval(idle);
  clearTimeout(force);
  // It has ended; this stops its watch over slow requests.
  server.close();
}

function addressOf(server: Server, { host, tls }: Settings): string {
  const { port } = server.address() as AddressInfo;
  return `${tls === undefined ? 'http' : 'https'}://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
