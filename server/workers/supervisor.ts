import type { Logger } from '../runtime/logger.ts';
import { Rounds } from '../runtime/rounds.ts';
import { PlainFailure } from '../runtime/start-failure.ts';
import type { Timers } from '../runtime/timers.ts';

/** A process that is to run for as long as the gateway does. */
export interface Supervised {
  readonly pid: number | undefined;
  /** Resolves when it serves. Rejects with the reason when it cannot, also when it has ended before. */
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
  readonly rounds: Rounds;
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
/** After so many short lives in a row, and with no other worker left, nobody waits any more. */
const mostFailures = 5;

/** Between two questions whether a worker is there, in milliseconds. */
const askMs = 5_000;
/** One that leaves so many unanswered hangs. Counted, since this process may have stood still, too. */
const mostUnanswered = 6;

/** Keeps a number of workers running: one that ends or hangs is replaced. */
export class Supervisor<Worker extends Supervised> {
  /** Resolves with the reason when none of them comes up any more. */
  readonly failed: Promise<Error>;
  readonly #parts: SupervisorParts<Worker>;
  readonly #fail: (reason: Error) => void;
  #slots: readonly Slot<Worker>[] = [];
  #keeping: readonly Promise<void>[] = [];
  readonly #asking: Rounds;
  #complete = false;
  #stopping = false;

  constructor(parts: SupervisorParts<Worker>) {
    this.#parts = parts;
    this.#asking = new Rounds(parts.timers);
    const { promise, resolve } = Promise.withResolvers<Error>();
    this.failed = promise;
    this.#fail = resolve;
  }

  /** Those that serve. */
  get serving(): readonly Worker[] {
    return this.#slots.filter(({ serves }) => serves).map(({ worker }) => worker);
  }

  /** Whether all of them have served at a time since the start. */
  get complete(): boolean {
    return this.#complete;
  }

  /** Resolves when all serve. @throws the reason when one cannot; the others have ended then */
  async start(): Promise<void> {
    const { count, begin, timers } = this.#parts;
    this.#slots = Array.from({ length: count }, (_, index) => ({
      number: index + 1,
      rounds: new Rounds(timers),
      worker: begin(index + 1),
      serves: false,
      since: 0,
      failures: 0,
      unanswered: 0,
    }));
    try {
      await Promise.all(this.#slots.map((slot) => this.#begun(slot)));
    } catch (error) {
      for (const { worker } of this.#slots) worker.kill();
      await Promise.all(this.#slots.map(({ worker }) => worker.ended));
      throw error;
    }
    this.#complete = true;
    this.#keeping = this.#slots.map((slot) => this.#keep(slot));
    this.#asking.start(
      askMs,
      async () => this.#askAll(),
      () => {},
    );
  }

  /** Has all finish what runs, and ends those that have not within `patienceMs`. Gives how each ended. */
  async stop(patienceMs: number): Promise<(number | string)[]> {
    this.#stopping = true;
    void this.#asking.stop();
    const impatient = this.#parts.timers.alarm(patienceMs, () => {
      for (const { worker } of this.#slots) worker.kill();
    });
    for (const { worker, rounds } of this.#slots) {
      worker.stop();
      void rounds.stop();
    }
    const endings = await Promise.all(this.#slots.map(({ worker }) => worker.ended));
    await Promise.all(this.#keeping);
    impatient.cancel();
    return endings;
  }

  async #begun(slot: Slot<Worker>): Promise<void> {
    await slot.worker.ready;
    slot.serves = true;
    slot.since = this.#parts.timers.monotonic();
    slot.unanswered = 0;
  }

  /** Ends those that hang, so that they are replaced as any other that ends. */
  #askAll(): void {
    for (const slot of this.#slots) {
      const { worker, number, serves, unanswered } = slot;
      if (!serves) continue;
      if (unanswered === mostUnanswered) {
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

  async #keep(slot: Slot<Worker>): Promise<void> {
    const { begin, logger, timers } = this.#parts;
    const { number } = slot;
    let reason: unknown;
    for (;;) {
      const ended = await slot.worker.ended;
      const lived = slot.serves ? timers.monotonic() - slot.since : 0;
      slot.serves = false;
      if (this.#stopping) return;
      slot.failures = lived >= steadyMs ? 0 : slot.failures + 1;
      logger.error({ worker: number, pid: slot.worker.pid, ended, err: reason }, 'a worker ended');
      if (slot.failures >= mostFailures && this.serving.length === 0) {
        const words = `worker ${number} ended ${slot.failures} times in a row, the last time with ${ended}`;
        this.#fail(new PlainFailure(reason instanceof Error ? `${words}: ${reason.message}` : words));
        return;
      }
      if (slot.failures > 1)
        await slot.rounds.pause(Math.min(maxPauseMs, firstPauseMs * 2 ** (slot.failures - 2)));
      if (this.#stopping) return;
      slot.worker = begin(number);
      reason = await this.#begun(slot).then(
        () => undefined,
        (error: unknown) => error,
      );
      if (reason === undefined)
        logger.warn({ worker: number, pid: slot.worker.pid }, 'a worker was replaced');
    }
  }
}
