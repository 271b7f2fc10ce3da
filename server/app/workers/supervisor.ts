import { PeriodicTask } from '../../lib/periodic-task.ts';
import type { Timers } from '../../lib/timers.ts';
import type { Logger } from '../../telemetry/logger.ts';
import { PlainFailure } from '../start-failure.ts';

/** A process that is to run for as long as the gateway does. */
export interface Supervised {
  readonly pid: number | undefined;
  /**
   * Resolves when it serves. Rejects with a PlainFailure when it reports that it cannot serve, and with another error
   * when it ended before it served.
   */
  readonly ready: Promise<void>;
  /** Resolves with its exit code or signal when it has ended. */
  readonly ended: Promise<number | string>;
  /** Asks whether it is there: settles when it answers, and when it has ended. */
  answer(): Promise<void>;
  /** Has it finish what runs and end. */
  stop(): void;
  /** Ends it at once. */
  kill(): void;
}

export interface SupervisorParts<Worker> {
  count: number;
  /** Starts worker `number`, from 1. */
  begin: (number: number) => Worker;
  timers: Timers;
  logger: Logger;
}

interface Slot<Worker> {
  readonly number: number;
  readonly backoff: PeriodicTask;
  /** Settled when the start of the gateway need not wait for this slot any more. */
  readonly started: PromiseWithResolvers<void>;
  worker: Worker;
  serves: boolean;
  /** When it began to serve, by the monotonic clock. */
  since: number;
  /** How often in a row it ended soon. */
  failures: number;
  /** How often it was asked whether it is there since its last answer. */
  unanswered: number;
}

/** One that has served for so long, in milliseconds, did not end because of how it began. */
const steadyMs = 10_000;
/** Before a worker that ended soon again and again is replaced, in milliseconds: the shortest pause, and the longest. */
const firstPauseMs = 500;
const maxPauseMs = 30_000;
/** When every worker has ended so often in a row, the gateway ends. */
const mostFailures = 5;

/** Between two questions whether a worker is there, in milliseconds. */
const askMs = 1_000;
/**
 * Unanswered questions in a row after which a worker that serves is killed: it was silent for 5 to 6 s. Questions are
 * counted instead of time, because a pause of this process or of the machine adds one question at most.
 */
const maxUnanswered = 5;
/** The same for a worker that starts. Loading its modules keeps it from answering. */
const maxUnansweredAtStart = 60;

/** Keeps a number of workers running: one that ends or hangs is replaced. */
export class Supervisor<Worker extends Supervised> {
  /** Resolves with the reason when none of them comes up any more. */
  readonly failed: Promise<Error>;
  readonly #parts: SupervisorParts<Worker>;
  readonly #fail: (reason: Error) => void;
  #slots: readonly Slot<Worker>[] = [];
  #keeping: readonly Promise<void>[] = [];
  readonly #asking: PeriodicTask;
  #starting = true;
  #stopping = false;

  constructor(parts: SupervisorParts<Worker>) {
    this.#parts = parts;
    this.#asking = new PeriodicTask(parts.timers);
    const { promise, resolve } = Promise.withResolvers<Error>();
    this.failed = promise;
    this.#fail = resolve;
  }

  /** Those that serve. */
  get serving(): readonly Worker[] {
    return this.#slots.filter(({ serves }) => serves).map(({ worker }) => worker);
  }

  /**
   * Resolves when all serve, except workers that ended several times in a row while another serves. These are started
   * again later.
   *
   * @throws the reason when a worker reports that it cannot serve, or none comes up; the others have ended then
   */
  async start(): Promise<void> {
    const { count, begin, timers } = this.#parts;
    this.#slots = Array.from({ length: count }, (_, index) => ({
      number: index + 1,
      backoff: new PeriodicTask(timers),
      started: Promise.withResolvers<void>(),
      worker: begin(index + 1),
      serves: false,
      since: 0,
      failures: 0,
      unanswered: 0,
    }));
    this.#asking.start(
      askMs,
      async () => this.#askAll(),
      () => {},
    );
    this.#keeping = this.#slots.map((slot) => this.#keep(slot));
    const reason = await Promise.race([
      Promise.all(this.#slots.map(({ started }) => started.promise)).then(() => undefined),
      this.failed,
    ]);
    this.#starting = false;
    if (reason === undefined) return;
    this.#stopAsking();
    for (const { worker } of this.#slots) worker.kill();
    await this.#ended();
    throw reason;
  }

  /** Has all finish what runs, and ends those that have not within `patienceMs`. Gives how each ended. */
  async stop(patienceMs: number): Promise<(number | string)[]> {
    this.#stopAsking();
    const impatient = this.#parts.timers.alarm(patienceMs, () => {
      for (const { worker } of this.#slots) worker.kill();
    });
    for (const { worker } of this.#slots) worker.stop();
    const endings = await this.#ended();
    impatient.cancel();
    return endings;
  }

  /** Starts and asks no worker any more. */
  #stopAsking(): void {
    this.#stopping = true;
    void this.#asking.stop();
    for (const { backoff } of this.#slots) void backoff.stop();
  }

  async #ended(): Promise<(number | string)[]> {
    const endings = await Promise.all(this.#slots.map(({ worker }) => worker.ended));
    await Promise.all(this.#keeping);
    return endings;
  }

  /** Ends those that hang, so that they are replaced as any other that ends. */
  #askAll(): void {
    for (const slot of this.#slots) {
      const { worker, number, serves, unanswered } = slot;
      if (unanswered === (serves ? maxUnanswered : maxUnansweredAtStart)) {
        const silent = { worker: number, pid: worker.pid, silent_s: (unanswered * askMs) / 1_000 };
        this.#parts.logger.error(silent, 'a worker does not answer any more, and is ended');
        worker.kill();
        continue;
      }
      slot.unanswered += 1;
      const there = () => {
        if (slot.worker === worker) slot.unanswered = 0;
      };
      // Even a failure is an answer.
      worker.answer().then(there, there);
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
    slot.since = this.#parts.timers.monotonic();
    slot.unanswered = 0;
    slot.started.resolve();
    return undefined;
  }

  async #keep(slot: Slot<Worker>): Promise<void> {
    const { begin, logger, timers } = this.#parts;
    const { number } = slot;
    for (let isReplacement = false; ; isReplacement = true) {
      const reason = await this.#untilServing(slot);
      // A wrong setting is wrong at every start. A process that was killed may come up the next time.
      if (this.#starting && reason instanceof PlainFailure) return this.#fail(reason);
      if (isReplacement && reason === undefined)
        logger.warn({ worker: number, pid: slot.worker.pid }, 'a worker was replaced');
      const ended = await slot.worker.ended;
      const lived = slot.serves ? timers.monotonic() - slot.since : 0;
      slot.serves = false;
      if (this.#stopping) return;
      slot.failures = lived >= steadyMs ? 0 : slot.failures + 1;
      logger.error({ worker: number, pid: slot.worker.pid, ended, err: reason }, 'a worker ended');
      if (slot.failures >= mostFailures) {
        if (this.#slots.every((one) => !one.serves && one.failures >= mostFailures)) {
          const words = `worker ${number} ended ${slot.failures} times in a row, the last time with ${ended}`;
          return this.#fail(
            new PlainFailure(reason instanceof Error ? `${words}: ${reason.message}` : words),
          );
        }
        slot.started.resolve();
      }
      if (slot.failures > 1)
        await slot.backoff.pause(Math.min(maxPauseMs, firstPauseMs * 2 ** (slot.failures - 2)));
      if (this.#stopping) return;
      slot.unanswered = 0;
      slot.worker = begin(number);
    }
  }
}
