import { PeriodicTask } from '../../lib/periodic-task.ts';
import type { Timers } from '../../lib/timers.ts';
import type { Logger } from '../../telemetry/logger.ts';
import { PlainFailure } from '../start-failure.ts';

/** A process that runs as long as the gateway does. */
export interface SupervisedProcess {
  readonly pid: number | undefined;
  /**
   * Resolves when it serves. Rejects with a PlainFailure if it reports that it cannot start, and with another error if
   * it exits before it serves.
   */
  readonly ready: Promise<void>;
  /** Resolves with its exit code or signal when it has exited. */
  readonly ended: Promise<number | string>;
  /** Resolves or rejects when the process responds or has exited. */
  ping(): Promise<void>;
  /** Lets it finish its calls and exit. */
  stop(): void;
  kill(): void;
}

export interface SupervisorOptions<Worker> {
  count: number;
  /** Starts worker `number`, from 1. */
  startWorker: (number: number) => Worker;
  timers: Timers;
  logger: Logger;
}

interface Slot<Worker> {
  readonly number: number;
  readonly backoff: PeriodicTask;
  /** Resolved when the start of the gateway need not wait for this slot any more. */
  readonly started: PromiseWithResolvers<void>;
  worker: Worker;
  serves: boolean;
  /** Monotonic time since which it serves, in milliseconds. */
  since: number;
  /** Early exits in a row. */
  failures: number;
  /** Pings since the last response. */
  unansweredPings: number;
}

/** After this time in service, an exit does not count as a failure to start. */
const minStableMs = 10_000;
/** Pause before a worker is replaced after repeated early exits. It doubles each time. */
const minBackoffMs = 500;
const maxBackoffMs = 30_000;
/** The gateway exits when every worker has failed this often in a row. */
const maxFailures = 5;

const pingIntervalMs = 1_000;
/**
 * A serving worker is killed after this many unanswered pings, so after 5 to 6 s. Pings are counted instead of time,
 * because a pause of this process or of the machine adds at most one ping.
 */
const maxUnansweredPings = 5;
/** The limit for a starting worker, which cannot respond while it loads modules. */
const maxUnansweredPingsAtStart = 60;

/** Keeps a number of workers running. Replaces workers that exit or hang. */
export class Supervisor<Worker extends SupervisedProcess> {
  /** Resolves with the reason when no worker can start. */
  readonly failed: Promise<Error>;
  readonly #options: SupervisorOptions<Worker>;
  readonly #fail: (reason: Error) => void;
  #slots: readonly Slot<Worker>[] = [];
  #supervised: readonly Promise<void>[] = [];
  readonly #pinging: PeriodicTask;
  #starting = true;
  #stopping = false;

  constructor(options: SupervisorOptions<Worker>) {
    this.#options = options;
    this.#pinging = new PeriodicTask(options.timers);
    const { promise, resolve } = Promise.withResolvers<Error>();
    this.failed = promise;
    this.#fail = resolve;
  }

  get serving(): readonly Worker[] {
    return this.#slots.filter(({ serves }) => serves).map(({ worker }) => worker);
  }

  /**
   * Resolves when all workers serve, except those that failed several times in a row while another serves.
   *
   * @throws the reason if a worker reports that it cannot start, or none can. All workers have exited then.
   */
  async start(): Promise<void> {
    const { count, startWorker, timers } = this.#options;
    this.#slots = Array.from({ length: count }, (_, index) => ({
      number: index + 1,
      backoff: new PeriodicTask(timers),
      started: Promise.withResolvers<void>(),
      worker: startWorker(index + 1),
      serves: false,
      since: 0,
      failures: 0,
      unansweredPings: 0,
    }));
    this.#pinging.start(
      pingIntervalMs,
      async () => this.#pingAll(),
      () => {},
    );
    this.#supervised = this.#slots.map((slot) => this.#supervise(slot));
    const reason = await Promise.race([
      Promise.all(this.#slots.map(({ started }) => started.promise)).then(() => undefined),
      this.failed,
    ]);
    this.#starting = false;
    if (reason === undefined) return;
    this.#stopSupervising();
    for (const { worker } of this.#slots) worker.kill();
    await this.#waitForExit();
    throw reason;
  }

  /** Lets all workers finish their calls and kills them after `timeoutMs`. Returns their exit codes or signals. */
  async stop(timeoutMs: number): Promise<(number | string)[]> {
    this.#stopSupervising();
    const timeout = this.#options.timers.alarm(timeoutMs, () => {
      for (const { worker } of this.#slots) worker.kill();
    });
    for (const { worker } of this.#slots) worker.stop();
    const results = await this.#waitForExit();
    timeout.cancel();
    return results;
  }

  #stopSupervising(): void {
    this.#stopping = true;
    void this.#pinging.stop();
    for (const { backoff } of this.#slots) void backoff.stop();
  }

  async #waitForExit(): Promise<(number | string)[]> {
    const results = await Promise.all(this.#slots.map(({ worker }) => worker.ended));
    await Promise.all(this.#supervised);
    return results;
  }

  /** Kills workers that hang, so that they are replaced. */
  #pingAll(): void {
    for (const slot of this.#slots) {
      const { worker, number, serves, unansweredPings } = slot;
      if (unansweredPings === (serves ? maxUnansweredPings : maxUnansweredPingsAtStart)) {
        const silent_s = (unansweredPings * pingIntervalMs) / 1_000;
        const fields = { worker: number, pid: worker.pid, silent_s };
        this.#options.logger.error(fields, 'a worker does not respond and is killed');
        worker.kill();
        continue;
      }
      slot.unansweredPings += 1;
      const responded = () => {
        if (slot.worker === worker) slot.unansweredPings = 0;
      };
      // An error is a response, too.
      worker.ping().then(responded, responded);
    }
  }

  /** Waits until the slot's worker serves. Returns the reason if it does not. */
  async #untilServing(slot: Slot<Worker>): Promise<unknown> {
    try {
      await slot.worker.ready;
    } catch (error) {
      return error;
    }
    slot.serves = true;
    slot.since = this.#options.timers.monotonic();
    slot.unansweredPings = 0;
    slot.started.resolve();
    return undefined;
  }

  async #supervise(slot: Slot<Worker>): Promise<void> {
    const { startWorker, logger, timers } = this.#options;
    const { number } = slot;
    for (let isReplacement = false; ; isReplacement = true) {
      const reason = await this.#untilServing(slot);
      // An invalid setting fails every start. A killed process can start the next time.
      if (this.#starting && reason instanceof PlainFailure) return this.#fail(reason);
      if (isReplacement && reason === undefined)
        logger.warn({ worker: number, pid: slot.worker.pid }, 'a worker was replaced');
      const ended = await slot.worker.ended;
      const servedMs = slot.serves ? timers.monotonic() - slot.since : 0;
      slot.serves = false;
      if (this.#stopping) return;
      slot.failures = servedMs >= minStableMs ? 0 : slot.failures + 1;
      logger.error({ worker: number, pid: slot.worker.pid, ended, err: reason }, 'a worker ended');
      if (slot.failures >= maxFailures) {
        if (this.#slots.every((one) => !one.serves && one.failures >= maxFailures)) {
          const summary = `worker ${number} ended ${slot.failures} times in a row, the last time with ${ended}`;
          return this.#fail(
            new PlainFailure(reason instanceof Error ? `${summary}: ${reason.message}` : summary),
          );
        }
        slot.started.resolve();
      }
      if (slot.failures > 1)
        await slot.backoff.pause(Math.min(maxBackoffMs, minBackoffMs * 2 ** (slot.failures - 2)));
      if (this.#stopping) return;
      slot.unansweredPings = 0;
      slot.worker = startWorker(number);
    }
  }
}
