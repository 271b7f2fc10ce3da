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
import { Link } from './link.ts';
import { type Orders, type ToPrimary, type ToWorker, workerArgument } from './questions.ts';
import { type Supervised, Supervisor } from './supervisor.ts';

/** A gateway whose calls are shared by several processes. */
export interface RunningWorkers {
  /** Address that all of them listen on, without a slash at the end. */
  url: string;
  /** Address of the operator's port; undefined: it has none. */
  operatorUrl: string | undefined;
  /** A key made on this start because there was none; shown once, kept nowhere. */
  newKey: string | undefined;
  /** Resolves with the reason if the process has to end, since no worker comes up any more. */
  failed: Promise<Error>;
  /** Has each worker read its settings again. */
  reload(): Promise<void>;
  /** Has all of them finish what runs, and closes the rest. Rejects when one of them ended otherwise. */
  close(): Promise<void>;
}

/** Where the system shares a port among processes, none of them has to hand connections on to the others. */
const reusePort = ['linux', 'freebsd', 'sunos', 'aix'].includes(process.platform);
/** A worker that is asked how it does answers within so many milliseconds. */
const patienceMs = 2_000;
/** A scrape waits somewhat longer, since figures are asked for behind it. */
const scrapeMs = 3_000;
/** A worker says for up to 60 s that it stops, drains for 30, and closes its books for 5; one that takes longer never ends. */
const stopMs = 100_000;

/** Starts `settings.workers` processes on one port. What there is once, such as the sandbox, is here. */
export async function startWorkers(settings: Settings, logger: Logger): Promise<RunningWorkers> {
  logWarnings(logger, settings.warnings);
  const port = await freePort(settings);
  const opened: (() => Promise<unknown>)[] = [];
  const closeAll = async () => {
    for (const close of opened)
      await close().catch((error: unknown) => logger.error({ err: error }, 'not closed in good order'));
  };
  try {
    const store = await openStore({
      dataDir: settings.dataDir,
      ...(settings.databaseUrl === undefined ? {} : { databaseUrl: settings.databaseUrl }),
      // It is asked for little, and waits for nothing of the workers.
      postgres: { ...settings.database, connections: 1 },
    });
    opened.unshift(() => store.close());
    const newKey = await ensureKey(settings, store, logger, Date.now());
    const sums = new MetricSums<WorkerProcess | typeof primary>();
    const givingBack = new Set<Promise<void>>();
    let address = '';
    const home: Home = {
      orders: { port, reusePort, sandbox: undefined },
      supervisor: new Supervisor({
        count: settings.workers,
        begin: (number) => new WorkerProcess(number, home),
        timers: systemTimers,
        logger,
      }),
      serves({ number, pid, id, url }) {
        address ||= url;
        logger.info({ worker: number, pid, gateway: id }, 'a worker serves');
      },
      gone(worker) {
        sums.end(worker);
        const given = giveBack(worker, store, logger).finally(() => givingBack.delete(given));
        givingBack.add(given);
      },
    };
    const measured = settings.metrics === undefined ? undefined : await measure();
    if (measured !== undefined) opened.unshift(() => measured.stop());
    const operator =
      settings.metrics === undefined
        ? undefined
        : await openPort(settings.metrics, {
            collect: async () => {
              const told = home.supervisor.serving.map(async (worker) => {
                const metrics = await worker.link.ask('metrics', undefined, scrapeMs).catch(() => undefined);
                return [worker, metrics] as const;
              });
              return sums.merge([[primary, await measured?.collect()], ...(await Promise.all(told))]);
            },
            ready: async () => {
              const reason = await unreadyReason(home.supervisor.serving);
              if (reason !== undefined) throw new Error(reason);
            },
          });
    if (operator !== undefined) opened.push(() => operator.close());
    const sandbox = await startEmbeddedSandbox(settings, logger);
    if (sandbox !== undefined) {
      opened.unshift(() => sandbox.close());
      home.orders.sandbox = { url: sandbox.url, wsUrl: sandbox.wsUrl, key: sandbox.key };
    }
    cluster.setupPrimary({ args: [workerArgument], serialization: 'advanced' });
    await home.supervisor.start();
    return {
      url: address,
      operatorUrl: operator?.url,
      newKey,
      failed: home.supervisor.failed,
      reload: () => reload(home.supervisor.serving),
      async close() {
        // Nobody waits for a store that is away for longer than the workers do.
        const impatient = setTimeout(() => store.giveUp(), stopMs);
        const endings = await home.supervisor.stop(stopMs);
        await Promise.all(givingBack);
        clearTimeout(impatient);
        await closeAll();
        const bad = endings.find((ending) => ending !== 0);
        if (bad !== undefined) throw new PlainFailure(`a worker ended with ${bad} instead of stopping`);
      },
    };
  } catch (error) {
    await closeAll();
    throw error;
  }
}

/** The source of this process's own metrics. */
const primary = Symbol('primary');

/** What all workers have in common. */
interface Home {
  readonly orders: Pick<Orders, 'port' | 'reusePort'> & { sandbox: Orders['sandbox'] };
  readonly supervisor: Supervisor<WorkerProcess>;
  serves(worker: WorkerProcess): void;
  gone(worker: WorkerProcess): void;
}

/** One worker, as it is seen from here. */
class WorkerProcess implements Supervised {
  /** Names its gateway. */
  readonly id = `gateway_${randomUUID()}`;
  readonly number: number;
  readonly ready: Promise<void>;
  readonly ended: Promise<number | string>;
  readonly link: Link<ToWorker, ToPrimary>;
  readonly #worker: Worker;
  url = '';

  constructor(number: number, home: Home) {
    this.number = number;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.ready = promise;
    promise.catch(() => {});
    const worker = cluster.fork();
    this.#worker = worker;
    const others = () => home.supervisor.serving.filter((one) => one !== this);
    this.link = new Link<ToWorker, ToPrimary>(
      (message) => void worker.process.send(message as object, undefined, undefined, () => {}),
      {
        begin: () => ({ number, id: this.id, ...home.orders }),
        serves: (url) => {
          this.url = url;
          home.serves(this);
          resolve();
        },
        cannot: (reason) => reject(new PlainFailure(reason)),
        isAnotherReady: async () => (await unreadyReason(others())) === undefined,
        reloadOthers: async () => reload(others()),
        othersChannels: async () => {
          const told = others().map((one) => one.link.ask('channels', undefined, patienceMs).catch(() => []));
          return Promise.all(told);
        },
      },
    );
    worker.on('message', (message) => this.link.receive(message));
    const exit = new Promise<number | string>((told) => {
      worker.process.once('exit', (code, signal) => told(code ?? signal ?? 'an unknown reason'));
      // It could not be started, or a signal not be sent.
      worker.process.on('error', (error) => worker.process.pid === undefined && told(error.message));
    });
    this.ended = exit.then((how) => {
      this.link.close();
      reject(new Error(`worker ${number} ended with ${how} before it served`));
      home.gone(this);
      return how;
    });
  }

  get pid(): number | undefined {
    return this.#worker.process.pid;
  }

  async answer(): Promise<void> {
    await this.link.ask('alive', undefined);
  }

  stop(): void {
    this.link.ask('stop', undefined).catch(() => {});
  }

  kill(): void {
    this.#worker.process.kill('SIGKILL');
  }
}

/** Why none of these workers is ready. Undefined as soon as one reports that it is. */
async function unreadyReason(workers: readonly WorkerProcess[]): Promise<string | undefined> {
  if (workers.length === 0) return 'The workers start.';
  const reasons = workers.map(async (worker) => {
    const reason = await worker.link.ask('ready', undefined, patienceMs);
    if (reason !== undefined) throw new Error(reason);
  });
  return Promise.any(reasons).then(
    () => undefined,
    ({ errors }: AggregateError) => errors.map(({ message }: Error) => message).join(' '),
  );
}

async function reload(workers: readonly WorkerProcess[]): Promise<undefined> {
  await Promise.all(workers.map((worker) => worker.link.ask('reload', undefined).catch(() => {})));
}

/** Nobody else knows so soon that it is gone: others would find out by its heart, which has stopped. */
async function giveBack({ id, number }: WorkerProcess, store: Store, logger: Logger): Promise<void> {
  try {
    // One that stopped in good order is not there any more, and holds nothing.
    if (!(await persist(store, 'removeGateway', { id, heartbeat: null }))) return;
    const now = Date.now();
    const freed = await persist(store, 'releaseOrphans', { now, dueNow: systemTimers.monotonic() });
    logger.warn({ worker: number, ...freed }, 'gave back what a worker held');
  } catch (error) {
    logger.error({ err: error, worker: number }, 'what a worker held is left to the other gateways');
  }
}

/** The port to listen on, which nobody else does: the workers could not tell, since they share it. */
async function freePort({ host, port }: Pick<Settings, 'host' | 'port'>): Promise<number> {
  const server = createServer().listen({ host, port });
  await once(server, 'listening');
  const { port: bound } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return bound;
}
