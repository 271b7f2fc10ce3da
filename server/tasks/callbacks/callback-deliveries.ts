import { randomUUID } from 'node:crypto';
import { PeriodicTask } from '../../lib/periodic-task.ts';
import { ClaimLoop } from '../../store/claim-loop.ts';
import type { DeliveryRecord, DeliveryTry } from '../../store/commands/deliveries.ts';
import { fault } from '../../store/fault-points.ts';
import type { AddressedEvent } from '../../store/queries/endpoints.ts';
import type { TaskRecord } from '../../store/queries/tasks.ts';
import { persist } from '../../store/store.ts';
import { deliveriesClosed, deliveryDuration } from '../../telemetry/metrics.ts';
import { pruneInBatches } from '../housekeeping.ts';
import { type CallbackMessage, CallbackSender, type DeliveredState } from './callback-sender.ts';
import {
  type CallbackRules,
  type DeliveryEnvironment,
  type DeliveryOptions,
  environment,
} from './environment.ts';

/**
 * Delivers state changes of tasks to their callback URLs, and events to endpoints. The store adds a delivery to its outbox
 * with each change and event. Each is delivered at least once, and those of one task in order.
 *
 * @example
 * const deliveries = new CallbackDeliveries({ store, render, allowPrivate: false, secret: undefined, logger });
 * await deliveries.start();
 */
export class CallbackDeliveries {
  readonly #env: DeliveryEnvironment;
  readonly #stopping = new AbortController();
  readonly #sender: CallbackSender;
  readonly #loop: ClaimLoop;
  readonly #inFlight = new Map<Promise<void>, DeliveryRecord>();
  readonly #housekeeping: PeriodicTask;

  constructor(options: DeliveryOptions) {
    this.#env = environment(options, this.#stopping.signal, `gateway_${randomUUID()}`);
    this.#sender = new CallbackSender(this.#env);
    const { timers, timing, logger } = this.#env;
    this.#housekeeping = new PeriodicTask(timers);
    this.#loop = new ClaimLoop({
      timers,
      gapMs: timing.claimGapMs,
      idleMs: timing.idleMs,
      claim: async () => (await this.#claim()).nextDueAt,
      onError: (error) => logger.error({ err: error }, 'due deliveries could not be claimed'),
    });
  }

  /** Delivers from now on, including deliveries of earlier runs. */
  async start(): Promise<void> {
    const { timing, logger } = this.#env;
    await this.#repairDue();
    this.#loop.start();
    const onError = (error: unknown) => logger.error({ err: error }, 'old deliveries could not be deleted');
    this.#housekeeping.start(timing.housekeepingMs, () => this.runHousekeeping(), onError);
  }

  /** Stops claiming, waits up to `graceMs` milliseconds for running attempts and releases the rest to other gateways. */
  async stop(graceMs = 1_000): Promise<void> {
    const { store, timers, owner } = this.#env;
    const housekeeping = this.#housekeeping.stop();
    await this.#loop.stop();
    const cutOff = timers.alarm(graceMs, () => this.#stopping.abort(new Error('the gateway stops')));
    await Promise.allSettled([...this.#inFlight.keys(), housekeeping]);
    cutOff.cancel();
    await this.#sender.close();
    await store.run('releaseDeliveries', { owner, now: timers.monotonic() });
  }

  /** Sets the rules of attempts that start from now on. */
  apply(rules: CallbackRules): void {
    this.#sender.apply(rules);
  }

  /** Checks for a new delivery. */
  wake(): void {
    this.#loop.wake();
  }

  /** Returns the request of a delivery that starts now. Undefined if the task cannot be rendered. */
  message(task: TaskRecord, delivery: DeliveredState): CallbackMessage | undefined {
    return this.#sender.message(task, delivery);
  }

  /** Returns the request of a delivery of an event that starts now. */
  eventMessage(event: AddressedEvent): CallbackMessage {
    return this.#sender.eventMessage(event);
  }

  /** Attempts every due delivery once. For tests and tools; `start` does it periodically. */
  async runDue(): Promise<number> {
    const { attempts } = await this.#claim();
    await Promise.all(attempts);
    return attempts.length;
  }

  /** Deletes old closed deliveries. Returns their number. */
  async runHousekeeping(): Promise<number> {
    const { store, timers, timing, stopping } = this.#env;
    await this.#repairDue();
    const closedBy = timers.monotonic() - timing.keepMs;
    return pruneInBatches(stopping, (limit) => store.run('pruneDeliveries', { closedBy, limit }));
  }

  /** Repairs due times beyond the longest pause. A clock that ran ahead has written them. */
  async #repairDue(): Promise<void> {
    const { store, timers, timing } = this.#env;
    const now = timers.monotonic();
    await store.run('repairDueDeliveries', { now, after: now + Math.max(...timing.pausesMs) });
  }

  async #claim(): Promise<{ attempts: Promise<void>[]; nextDueAt: number }> {
    const { store, owner, timers, timing, limits } = this.#env;
    // The next attempt that ends wakes the loop.
    if (this.#inFlight.size >= limits.total) return { attempts: [], nextDueAt: Number.POSITIVE_INFINITY };
    const now = timers.monotonic();
    const { deliveries, nextDueAt } = await store.run('claimDeliveries', {
      owner,
      now,
      until: now + timing.answerMs + timing.claimMarginMs,
      limits,
      running: [...this.#inFlight.values()].map(({ userId, host }) => ({ userId, host })),
    });
    if (deliveries.length > 0) fault('delivery:claimed');
    const attempts = deliveries.map((delivery) => this.#startAttempt(delivery));
    return { attempts, nextDueAt: nextDueAt ?? Number.POSITIVE_INFINITY };
  }

  #startAttempt(delivery: DeliveryRecord): Promise<void> {
    const running = this.#attempt(delivery)
      // The claim expires, and the delivery is claimed again.
      .catch((error: unknown) => {
        if (this.#env.stopping.aborted) return;
        this.#env.logger.error({ err: error, ...subjectOf(delivery) }, 'a delivery failed');
      })
      .finally(() => {
        this.#inFlight.delete(running);
        this.#loop.wake();
      });
    this.#inFlight.set(running, delivery);
    return running;
  }

  async #attempt(delivery: DeliveryRecord): Promise<void> {
    const { store, timers, timing, logger } = this.#env;
    const { id, attempt, taskId, host } = delivery;
    const began = performance.now();
    const { result, answer } = await this.#sender.send(delivery);
    deliveryDuration.record((performance.now() - began) / 1e3, { 'unigate.delivery.result': result });
    fault('delivery:answered');
    const now = timers.monotonic();
    const refused = result === 'refused';
    const tries = delivery.tries + (refused ? 1 : 0);
    const pause = refused ? timing.pausesMs[delivery.tries] : undefined;
    const outcome = result === 'delivered' ? 'delivered' : 'given_up';
    const next: DeliveryTry['next'] = pause === undefined ? { outcome } : { at: now + pause };
    if (refused && pause === undefined) {
      const reason = typeof answer === 'number' ? `status ${answer}` : answer;
      logger.warn({ ...subjectOf(delivery), host, tries, reason }, 'a callback delivery was given up');
    }
    const recorded = { id, taskId, attempt, tries, answer, next, now };
    const isRecorded = await persist(store, 'recordDelivery', recorded);
    if (isRecorded && pause === undefined) deliveriesClosed.add(1, { 'unigate.delivery.outcome': outcome });
    fault('delivery:recorded');
  }
}

/** Names the subject of a delivery in the log. */
const subjectOf = ({ taskId, state, eventId, endpointId }: DeliveryRecord) =>
  taskId === null ? { event: eventId, endpoint: endpointId } : { task: taskId, state };
