import { randomUUID } from 'node:crypto';
import type { Alarm } from '../../lib/timers.ts';
import { ClaimLoop } from '../../store/claim-loop.ts';
import type { DeliveryRecord, DeliveryTry } from '../../store/commands/deliveries.ts';
import { fault } from '../../store/fault-points.ts';
import { persist } from '../../store/store.ts';
import { deliveriesClosed, deliveryDuration } from '../../telemetry/metrics.ts';
import {
  type CallbackRules,
  type DeliveryEnvironment,
  type DeliveryOptions,
  environment,
} from './environment.ts';
import { Sender } from './sender.ts';

/** Pruned at a time, so that no transaction is long. */
const batch = 500;

/**
 * Delivers changes of tasks to their callback addresses. The store puts a delivery into its outbox with each change;
 * from there it is delivered at least once, those of one task in their order.
 *
 * @example
 * const deliveries = new Deliveries({ store, render, allowPrivate: false, secret: undefined, logger });
 * await deliveries.start();
 */
export class Deliveries {
  readonly #env: DeliveryEnvironment;
  readonly #stopping = new AbortController();
  readonly #sender: Sender;
  readonly #loop: ClaimLoop;
  readonly #inFlight = new Map<Promise<void>, DeliveryRecord>();
  #housekeeping: Alarm | undefined;
  #round: Promise<void> = Promise.resolve();

  constructor(options: DeliveryOptions) {
    this.#env = environment(options, this.#stopping.signal, `gateway_${randomUUID()}`);
    this.#sender = new Sender(this.#env);
    const { timers, timing, logger } = this.#env;
    this.#loop = new ClaimLoop({
      timers,
      gapMs: timing.claimGapMs,
      idleMs: timing.idleMs,
      claim: async () => (await this.#claim()).nextDueAt,
      failed: (error) => logger.error({ err: error }, 'the store could not be asked for due deliveries'),
    });
  }

  /** Goes on with what an earlier run left behind, and delivers from now on. */
  async start(): Promise<void> {
    const { timers, timing, logger } = this.#env;
    await this.#repairDue();
    this.#loop.start();
    this.#housekeeping = timers.alarm(timing.housekeepingMs, () => {
      this.#round = this.runHousekeeping()
        .catch((error: unknown) => logger.error({ err: error }, 'old deliveries could not be forgotten'))
        .then(() => this.#housekeeping?.refresh());
    });
  }

  /** Begins nothing new, waits up to `graceMs` milliseconds for what runs, and leaves the rest to others. */
  async stop(graceMs = 1_000): Promise<void> {
    const { store, timers, owner } = this.#env;
    this.#housekeeping?.cancel();
    this.#housekeeping = undefined;
    await this.#loop.stop();
    const cutOff = timers.alarm(graceMs, () => this.#stopping.abort(new Error('the gateway stops')));
    await Promise.allSettled([...this.#inFlight.keys(), this.#round]);
    cutOff.cancel();
    await this.#sender.close();
    await store.run('releaseDeliveries', { owner, now: timers.monotonic() });
  }

  /** From now on these hold. */
  apply(rules: CallbackRules): void {
    this.#sender.apply(rules);
  }

  /** There may be a new delivery. */
  wake(): void {
    this.#loop.wake();
  }

  /** Makes one try with every delivery that is due now. For tests and tools; a started one does it by itself. */
  async runDue(): Promise<number> {
    const { tries } = await this.#claim();
    await Promise.all(tries);
    return tries.length;
  }

  /** Forgets deliveries that were closed long ago, and says how many. */
  async runHousekeeping(): Promise<number> {
    const { store, timers, timing, stopping } = this.#env;
    await this.#repairDue();
    const closedBy = timers.monotonic() - timing.keepMs;
    let pruned = 0;
    while (!stopping.aborted) {
      const gone = await store.run('pruneDeliveries', { closedBy, limit: batch });
      pruned += gone;
      if (gone < batch) break;
    }
    return pruned;
  }

  /** No try is put off for longer than the longest pause: what seems so was written by a clock that ran ahead. */
  async #repairDue(): Promise<void> {
    const { store, timers, timing } = this.#env;
    const now = timers.monotonic();
    await store.run('repairDueDeliveries', { now, after: now + Math.max(...timing.pausesMs) });
  }

  async #claim(): Promise<{ tries: Promise<void>[]; nextDueAt: number }> {
    const { store, owner, timers, timing, limits } = this.#env;
    // The next try to end wakes the loop.
    if (this.#inFlight.size >= limits.total) return { tries: [], nextDueAt: Number.POSITIVE_INFINITY };
    const now = timers.monotonic();
    const { deliveries, nextDueAt } = await store.run('claimDeliveries', {
      owner,
      now,
      until: now + timing.answerMs + timing.leaseMarginMs,
      limits,
      running: [...this.#inFlight.values()].map(({ userId, host }) => ({ userId, host })),
    });
    if (deliveries.length > 0) fault('delivery:claimed');
    const tries = deliveries.map((delivery) => this.#startAttempt(delivery));
    return { tries, nextDueAt: nextDueAt ?? Number.POSITIVE_INFINITY };
  }

  #startAttempt(delivery: DeliveryRecord): Promise<void> {
    const taken = this.#attempt(delivery)
      // The lease ends by itself, and the delivery is claimed again.
      .catch((error: unknown) => {
        if (this.#env.stopping.aborted) return;
        this.#env.logger.error({ err: error, task: delivery.taskId }, 'a delivery failed');
      })
      .finally(() => {
        this.#inFlight.delete(taken);
        this.#loop.wake();
      });
    this.#inFlight.set(taken, delivery);
    return taken;
  }

  async #attempt(delivery: DeliveryRecord): Promise<void> {
    const { store, timers, timing, logger } = this.#env;
    const { id, attempt, taskId, host, state } = delivery;
    const began = performance.now();
    const sent = await this.#sender.send(delivery);
    deliveryDuration.record((performance.now() - began) / 1e3, { 'unigate.delivery.result': sent.result });
    fault('delivery:answered');
    const now = timers.monotonic();
    const refused = sent.result === 'refused';
    const tries = delivery.tries + (refused ? 1 : 0);
    const pause = refused ? timing.pausesMs[delivery.tries] : undefined;
    let next: DeliveryTry['next'];
    if (pause !== undefined) next = { at: now + pause };
    else next = { outcome: sent.result === 'delivered' ? 'delivered' : 'given_up' };
    const { answer } = sent;
    if (refused && pause === undefined) {
      const reason = typeof answer === 'number' ? `status ${answer}` : answer;
      logger.warn({ task: taskId, host, state, tries, reason }, 'a callback was given up');
    }
    const recorded = await persist(store, 'recordDelivery', {
      id,
      taskId,
      attempt,
      tries,
      answer,
      next,
      now,
    });
    if (recorded && 'outcome' in next) deliveriesClosed.add(1, { 'unigate.delivery.outcome': next.outcome });
    fault('delivery:recorded');
  }
}
