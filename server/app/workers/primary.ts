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
import { startEmbeddedSandbox } from '../embedded-sandbox.ts';
import { measure, openPort } from '../operator.ts';
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
  /** Address that all workers listen on, without a slash at the end. */
  url: string;
  /** Address of the operator port. Undefined if there is none. */
  operatorUrl: string | undefined;
  /** A key created on this start, because there was none. It is shown once and stored only as a hash. */
  newKey: string | undefined;
  /** Resolves with the reason if the process has to exit, because no worker can start. */
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
  const port = await freePort(settings);
  const closers: (() => Promise<unknown>)[] = [];
  const closeAll = async () => {
    for (const close of closers)
      await close().catch((error: unknown) => logger.error({ err: error }, 'closing failed'));
  };
  try {
    const store = await openStore({
      dataDir: settings.dataDir,
      ...(settings.databaseUrl === undefined ? {} : { databaseUrl: settings.databaseUrl }),
      postgres: { ...settings.database, connections: 1 },
    });
    closers.unshift(() => store.close());
    const newKey = await ensureKey(settings, store, logger, Date.now());
    const sums = new MetricSums<WorkerProcess | typeof primary>();
    const releasing = new Set<Promise<void>>();
    let address = '';
    const group: WorkerGroup = {
      assignment: { port, reusePort, sandbox: undefined },
      supervisor: new Supervisor({
        count: settings.workers,
        startWorker: (number) => new WorkerProcess(number, group),
        timers: systemTimers,
        logger,
      }),
      onServing({ number, pid, id, url }) {
        address ||= url;
        logger.info({ worker: number, pid, gateway: id }, 'a worker serves');
      },
      onExit(worker) {
        sums.end(worker);
        const released = releaseLeases(worker, store, logger).finally(() => releasing.delete(released));
        releasing.add(released);
      },
    };
    const metrics = settings.metrics === undefined ? undefined : await measure();
    if (metrics !== undefined) closers.unshift(() => metrics.stop());
    const operator =
      settings.metrics === undefined
        ? undefined
        : await openPort(settings.metrics, {
            collect: async () => {
              const collected = group.supervisor.serving.map(async (worker) => {
                const call = worker.rpc.call('collectMetrics', undefined, scrapeTimeoutMs);
                return [worker, await call.catch(() => undefined)] as const;
              });
              return sums.merge([[primary, await metrics?.collect()], ...(await Promise.all(collected))]);
            },
            ready: async () => {
              const reason = await unreadyReason(group.supervisor.serving);
              if (reason !== undefined) throw new Error(reason);
            },
          });
    if (operator !== undefined) closers.push(() => operator.close());
    const sandbox = await startEmbeddedSandbox(settings, logger);
    if (sandbox !== undefined) {
      closers.unshift(() => sandbox.close());
      group.assignment.sandbox = { url: sandbox.url, wsUrl: sandbox.wsUrl, key: sandbox.key };
    }
    cluster.setupPrimary({ args: [workerArgument], serialization: 'advanced' });
    await group.supervisor.start();
    return {
      url: address,
      operatorUrl: operator?.url,
      newKey,
      failed: group.supervisor.failed,
      reload: () => reload(group.supervisor.serving),
      async close() {
        // Do not wait longer for an unavailable store than the workers do.
        const timeout = setTimeout(() => store.giveUp(), stopTimeoutMs);
        const results = await group.supervisor.stop(stopTimeoutMs);
        await Promise.all(releasing);
        clearTimeout(timeout);
        await closeAll();
        const failed = results.find((result) => result !== 0);
        if (failed !== undefined) throw new PlainFailure(`a worker exited with ${failed} instead of 0`);
      },
    };
  } catch (error) {
    await closeAll();
    throw error;
  }
}

/** The source of this process's own metrics. */
const primary = Symbol('primary');

/** The state that all workers share. */
interface WorkerGroup {
  readonly assignment: Pick<WorkerAssignment, 'port' | 'reusePort'> & {
    sandbox: WorkerAssignment['sandbox'];
  };
  readonly supervisor: Supervisor<WorkerProcess>;
  onServing(worker: WorkerProcess): void;
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
  url = '';

  constructor(number: number, group: WorkerGroup) {
    this.number = number;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.ready = promise;
    promise.catch(() => {});
    const worker = cluster.fork();
    this.#worker = worker;
    const others = () => group.supervisor.serving.filter((one) => one !== this);
    this.rpc = new RpcChannel<WorkerMethods, PrimaryMethods>(
      (message) => void worker.process.send(message as object, undefined, undefined, () => {}),
      {
        getAssignment: () => ({ number, id: this.id, ...group.assignment }),
        reportServing: (url) => {
          this.url = url;
          group.onServing(this);
          resolve();
        },
        reportStartFailure: (reason) => reject(new PlainFailure(reason)),
        isAnotherReady: async () => (await unreadyReason(others())) === undefined,
        reloadOthers: async () => reload(others()),
        listOtherChannels: () =>
          Promise.all(
            others().map(({ rpc }) => rpc.call('listChannels', undefined, callTimeoutMs).catch(() => [])),
          ),
      },
    );
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

  async ping(): Promise<void> {
    await this.rpc.call('ping', undefined);
  }

  stop(): void {
    this.rpc.call('stop', undefined).catch(() => {});
  }

  kill(): void {
    this.#worker.process.kill('SIGKILL');
  }
}

/** Returns why none of these workers is ready. Undefined if at least one is ready. */
async function unreadyReason(workers: readonly WorkerProcess[]): Promise<string | undefined> {
  if (workers.length === 0) return 'The workers are starting.';
  const reasons = workers.map(async (worker) => {
    const reason = await worker.rpc.call('getUnreadyReason', undefined, callTimeoutMs);
    if (reason !== undefined) throw new Error(reason);
  });
  return Promise.any(reasons).then(
    () => undefined,
    ({ errors }: AggregateError) => errors.map(({ message }: Error) => message).join(' '),
  );
}

async function reload(workers: readonly WorkerProcess[]): Promise<undefined> {
  await Promise.all(workers.map((worker) => worker.rpc.call('reload', undefined).catch(() => {})));
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
