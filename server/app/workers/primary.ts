import cluster, { type Worker } from 'node:cluster';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { ensureKey } from '../../keys/bootstrap-key.ts';
import { systemTimers } from '../../lib/timers.ts';
import { logWarnings } from '../../settings/live-settings.ts';
import type { Settings } from '../../settings/settings.ts';
import { openStore } from '../../store/open-store.ts';
import { persist, type Store } from '../../store/store.ts';
import type { Logger } from '../../telemetry/logger.ts';
import { MetricSums } from '../../telemetry/metric-sums.ts';
import { Container } from '../container.ts';
import { startEmbeddedSandbox } from '../embedded-sandbox.ts';
import { storeOptions } from '../gateway-store.ts';
import { openPort, startMetrics } from '../operator.ts';
import { PlainFailure } from '../start-failure.ts';
import { RpcChannel } from './rpc-channel.ts';
import {
  type PrimaryMethods,
  type WorkerAssignment,
  type WorkerMethods,
  workerArgument,
} from './rpc-methods.ts';
import { type SupervisedProcess, Supervisor } from './supervisor.ts';

/** A gateway that runs as several processes. */
export interface RunningWorkers {
  /** Address that all workers listen on, without a trailing slash. */
  url: string;
  /** Address of the operator port. Undefined: there is none. */
  operatorUrl: string | undefined;
  /** A key that this start created because there was none. It is stored as a hash only. */
  newKey: string | undefined;
  /** Resolves with the reason when the process must end because no worker can start. */
  failed: Promise<Error>;
  /** Reloads the settings of each worker. */
  reload(): Promise<void>;
  /** Lets all workers finish their calls, then closes the rest. Rejects if a worker exits with another code than 0. */
  close(): Promise<void>;
}

/** Whether the kernel can distribute connections of one port among processes (SO_REUSEPORT). */
const reusePort = ['linux', 'freebsd', 'sunos', 'aix'].includes(process.platform);
const callTimeoutMs = 2_000;
/** Longer than the timeout of one metric in a worker. */
const scrapeTimeoutMs = 3_000;
/** A worker is not ready for up to 60 s, drains for 30 s and settles for 5 s. A worker that takes longer is killed. */
const stopTimeoutMs = 100_000;

/** Starts `settings.workers` processes on one port, and the services that exist once, such as the sandbox. */
export async function startWorkers(settings: Settings, logger: Logger): Promise<RunningWorkers> {
  logWarnings(logger, settings.warnings);
  const container = new Container(logger);
  try {
    return await startParts(container, settings, logger);
  } catch (error) {
    await container.stop();
    throw error;
  }
}

async function startParts(container: Container, settings: Settings, logger: Logger): Promise<RunningWorkers> {
  const port = await freePort(settings);
  const options = storeOptions(settings);
  const postgres = { ...settings.database, connections: 1 };
  const store = container.add('store', await openStore({ ...options, postgres }));
  const newKey = await ensureKey(settings, store, logger, Date.now());
  const releases = new Set<Promise<void>>();
  const metrics = new MetricSums<WorkerProcess | typeof primary>();
  let address = '';
  const group: WorkerGroup = {
    assignment: { port, reusePort, sandbox: undefined },
    supervisor: new Supervisor({
      count: settings.workers,
      startWorker: (number) => new WorkerProcess(number, group),
      timers: systemTimers,
      logger,
    }),
    runOwner: undefined,
    onServing({ number, pid, id }, url) {
      address ||= url;
      logger.info({ worker: number, pid, gateway: id }, 'a worker serves');
    },
    onExit(worker) {
      if (group.runOwner === worker) group.runOwner = undefined;
      metrics.end(worker);
      const release = releaseLeases(worker, store, logger).finally(() => releases.delete(release));
      releases.add(release);
    },
  };
  const { supervisor } = group;
  const operatorUrl =
    settings.metrics === undefined
      ? undefined
      : await openOperatorPort(container, settings.metrics, supervisor, metrics);
  const sandbox = container.add('sandbox', await startEmbeddedSandbox(settings, logger));
  if (sandbox !== undefined) {
    const { url, wsUrl, key } = sandbox;
    group.assignment.sandbox = { url, wsUrl, key };
  }
  cluster.setupPrimary({ args: [workerArgument], serialization: 'advanced' });
  await supervisor.start();
  return {
    url: address,
    operatorUrl,
    newKey,
    failed: supervisor.failed,
    reload: () => reload(supervisor.serving),
    async close() {
      // An unavailable store delays the stop no longer than the workers do.
      const timeout = setTimeout(() => store.stopRetries(), stopTimeoutMs);
      const results = await supervisor.stop(stopTimeoutMs);
      await Promise.all(releases);
      clearTimeout(timeout);
      await container.stop();
      const failed = results.find((result) => result !== 0);
      if (failed !== undefined) throw new PlainFailure(`a worker exited with ${failed} instead of 0`);
    },
  };
}

/** The source of this process's own metrics. */
const primary = Symbol('primary');

/** Serves the sums of the metrics of all processes. Returns the address. */
async function openOperatorPort(
  container: Container,
  address: { host: string; port: number },
  supervisor: Supervisor<WorkerProcess>,
  sums: MetricSums<WorkerProcess | typeof primary>,
): Promise<string> {
  const own = container.add('metrics', await startMetrics());
  const collect = async () => {
    const ofWorkers = supervisor.serving.map(async (worker) => {
      const metrics = worker.rpc.callWithin(scrapeTimeoutMs, 'collectMetrics');
      return [worker, await metrics.catch(() => undefined)] as const;
    });
    return sums.merge([[primary, await own.collect()], ...(await Promise.all(ofWorkers))]);
  };
  const ready = async () => {
    const reason = await unreadyReason(supervisor.serving);
    if (reason !== undefined) throw new Error(reason);
  };
  return container.add('operator port', await openPort(address, { collect, ready })).url;
}

/** The state that all workers share. */
interface WorkerGroup {
  readonly assignment: Pick<WorkerAssignment, 'port' | 'reusePort'> & {
    sandbox: WorkerAssignment['sandbox'];
  };
  readonly supervisor: Supervisor<WorkerProcess>;
  /** The worker with a conformance run. */
  runOwner: WorkerProcess | undefined;
  onServing(worker: WorkerProcess, url: string): void;
  onExit(worker: WorkerProcess): void;
}

/** A worker process, in the primary. */
class WorkerProcess implements SupervisedProcess {
  /** Id of its gateway. */
  readonly id = `gateway_${randomUUID()}`;
  readonly number: number;
  readonly ready: Promise<void>;
  readonly ended: Promise<number | string>;
  readonly rpc: RpcChannel<WorkerMethods, PrimaryMethods>;
  readonly #worker: Worker;

  constructor(number: number, group: WorkerGroup) {
    this.number = number;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.ready = promise;
    promise.catch(() => {});
    const worker = cluster.fork();
    this.#worker = worker;
    const others = () => group.supervisor.serving.filter((one) => one !== this);
    const post = (message: unknown) =>
      void worker.process.send(message as object, undefined, undefined, () => {});
    this.rpc = new RpcChannel<WorkerMethods, PrimaryMethods>(post, {
      getAssignment: () => ({ number, id: this.id, ...group.assignment }),
      reportServing: (url) => {
        group.onServing(this, url);
        resolve();
      },
      reportStartFailure: (reason) => reject(new PlainFailure(reason)),
      isAnotherReady: async () => (await unreadyReason(others())) === undefined,
      reloadOthers: () => reload(others()),
      endMaintenanceOfOthers: async () => {
        await Promise.all(others().map(({ rpc }) => rpc.call('endMaintenance')));
      },
      acquireRun: () => {
        if (group.runOwner !== undefined) return false;
        group.runOwner = this;
        return true;
      },
      releaseRun: () => {
        if (group.runOwner === this) group.runOwner = undefined;
      },
      listOtherChannels: () =>
        Promise.all(others().map(({ rpc }) => rpc.callWithin(callTimeoutMs, 'listChannels').catch(() => []))),
    });
    worker.on('message', (message) => this.rpc.receive(message));
    const exit = new Promise<number | string>((exited) => {
      worker.process.once('exit', (code, signal) => exited(code ?? signal ?? 'an unknown reason'));
      // Without a pid the process did not start. Otherwise a signal could not be sent.
      worker.process.on('error', (error) => worker.process.pid === undefined && exited(error.message));
    });
    this.ended = exit.then((result) => {
      this.rpc.close();
      reject(new Error(`worker ${number} exited with ${result} before it served`));
      group.onExit(this);
      return result;
    });
  }

  get pid(): number | undefined {
    return this.#worker.process.pid;
  }

  ping(): Promise<void> {
    return this.rpc.call('ping');
  }

  stop(): void {
    this.rpc.call('stop').catch(() => {});
  }

  kill(): void {
    this.#worker.process.kill('SIGKILL');
  }
}

/** Returns why none of these workers is ready. Undefined if at least one is ready. */
async function unreadyReason(workers: readonly WorkerProcess[]): Promise<string | undefined> {
  if (workers.length === 0) return 'The workers are starting.';
  const reasons = workers.map(async (worker) => {
    const reason = await worker.rpc.callWithin(callTimeoutMs, 'getUnreadyReason');
    if (reason !== undefined) throw new Error(reason);
  });
  return Promise.any(reasons).then(
    () => undefined,
    ({ errors }: AggregateError) => errors.map(({ message }: Error) => message).join(' '),
  );
}

async function reload(workers: readonly WorkerProcess[]): Promise<void> {
  await Promise.all(workers.map((worker) => worker.rpc.call('reload').catch(() => {})));
}

/** Releases the leases of an exited worker at once, before other gateways notice its missing heartbeats. */
async function releaseLeases({ id, number }: WorkerProcess, store: Store, logger: Logger): Promise<void> {
  try {
    // A worker that stopped normally has removed itself and released its leases.
    if (!(await persist(store, 'removeGateway', { id, heartbeat: null }))) return;
    const now = Date.now();
    const released = await persist(store, 'releaseOrphans', { now, dueNow: systemTimers.monotonic() });
    logger.warn({ worker: number, ...released }, 'released the leases of a worker');
  } catch (error) {
    logger.error({ err: error, worker: number }, 'releasing the leases of a worker failed');
  }
}

/** Returns a port that no other program uses. Workers share the port, so they cannot detect this. */
async function freePort({ host, port }: Pick<Settings, 'host' | 'port'>): Promise<number> {
  const server = createServer().listen({ host, port });
  await once(server, 'listening');
  const { port: bound } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return bound;
}
