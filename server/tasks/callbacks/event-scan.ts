import { randomUUID } from 'node:crypto';
import type { Health } from '../../channels/health.ts';
import { PeriodicTask } from '../../lib/periodic-task.ts';
import type { Timers } from '../../lib/timers.ts';
import { StoreUnavailable } from '../../store/availability.ts';
import type { NewEvent } from '../../store/commands/events.ts';
import { fault } from '../../store/fault-points.ts';
import {
  type DetectedEvents,
  type LowBalance,
  type ReachedBudget,
  subscribedKinds,
} from '../../store/queries/event-search.ts';
import type { Store } from '../../store/store.ts';
import type { Logger } from '../../telemetry/logger.ts';
import { pruneInBatches } from '../housekeeping.ts';

export interface EventScanOptions {
  store: Store;
  channels: { readonly all: readonly { name: string; health: Pick<Health, 'unhealthyReason'> }[] };
  /** Id of this gateway. */
  gateway: string;
  logger: Logger;
  timers: Timers;
  /** Epoch milliseconds. */
  clock: () => number;
  /** Called when deliveries were added. */
  onDeliveries: () => void;
  timing?: Partial<typeof defaultTiming>;
}

const minute = 60_000;

/** Intervals and time limits of events, in milliseconds. */
const defaultTiming = {
  /** Interval of scans. One gateway scans in each. */
  intervalMs: 5_000,
  /** A task is stuck when its provider has reported nothing for this time. */
  stuckMs: 15 * minute,
  /** A channel that fails again within this time causes no other event. */
  quietMs: 10 * minute,
  /** Retention of ended events. Longer than the life of a task, so that its event is not sent again. */
  keepMs: 30 * 24 * 60 * minute,
  /** Least time between two deletions of old events. */
  pruneMs: 10 * minute,
};

/** Largest number of events of each kind that one scan finds. The next scan finds the others. */
const maxEvents = 500;

/**
 * Searches for events that callback endpoints receive, and adds their deliveries. Each event is recorded once, whichever
 * gateway detects it. Without endpoints, a scan is one query.
 */
export class EventScan {
  readonly #options: EventScanOptions;
  readonly #timing: typeof defaultTiming;
  readonly #task: PeriodicTask;
  readonly #stopping = new AbortController();
  /** Channels that the last scan recorded as unhealthy on this gateway. Undefined: not recorded yet. */
  #outages: string | undefined;
  #pruneAt = 0;

  constructor(options: EventScanOptions) {
    this.#options = options;
    this.#timing = { ...defaultTiming, ...options.timing };
    this.#task = new PeriodicTask(options.timers);
  }

  start(): void {
    const { logger } = this.#options;
    this.#task.start(
      this.#timing.intervalMs,
      () => this.run(),
      (error) => {
        // The store logs its own unavailability once.
        if (!(error instanceof StoreUnavailable))
          logger.error({ err: error }, 'events could not be detected');
      },
    );
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#task.stop();
  }

  /** Scans once, unless another gateway has just scanned. Returns the number of deliveries that it added. */
  async run(): Promise<number> {
    const { store, clock, timers } = this.#options;
    const { intervalMs, stuckMs } = this.#timing;
    const kinds = await subscribedKinds(store.read);
    if (kinds.size === 0) return 0;
    if (kinds.has('channel.unhealthy')) await this.#recordOutages();
    const now = clock();
    // Half an interval, so that a gateway whose timer is early does not skip a scan. A claim of the future is one of a wrong clock.
    const claim = { now, since: now - intervalMs / 2, until: now + intervalMs };
    if (!(await store.run('claimEventScan', claim))) return 0;
    const detected = await store.report('detectEvents', {
      now,
      stuckBefore: timers.monotonic() - stuckMs,
      limit: maxEvents,
    });
    if (detected.ended.length > 0) await store.run('endEvents', { ids: detected.ended, now });
    const added = await this.#record(detected, now);
    await this.#prune(now);
    return added;
  }

  async #record(detected: DetectedEvents, now: number): Promise<number> {
    const { store, timers, clock, onDeliveries } = this.#options;
    const { low, exhausted, budgets, stuck, outages } = detected;
    const toCalendar = (due: number) => clock() + due - timers.monotonic();
    const events: NewEvent[] = [
      ...low.map((balance) => quotaEvent('quota.low', balance, now)),
      ...exhausted.map((balance) => quotaEvent('quota.exhausted', balance, now)),
      ...budgets.map(budgetEvent),
      ...stuck.map(({ id, userId, tokenId, model, reportedAt }): NewEvent => {
        const reported_at = isoTime(toCalendar(reportedAt));
        const data = { user_id: userId, key_id: tokenId, task_id: id, model, reported_at };
        const subject = `task ${id}`;
        return { ...newEvent('task.stuck', subject, data), userId, tokenId, period: 'once', endedAt: now };
      }),
      ...outages.map(({ channel, since, reason }): NewEvent => {
        const data = { channel, since: isoTime(since), reason };
        const event = newEvent('channel.unhealthy', `channel ${channel}`, data);
        return { ...event, period: String(now), resumesFrom: now - this.#timing.quietMs };
      }),
    ];
    if (events.length === 0) return 0;
    const added = await store.run('recordEvents', { events, now, dueNow: timers.monotonic() });
    fault('event:recorded');
    if (added > 0) onDeliveries();
    return added;
  }

  async #prune(now: number): Promise<void> {
    const { store, timers } = this.#options;
    const { keepMs, pruneMs } = this.#timing;
    if (timers.monotonic() < this.#pruneAt) return;
    const endedBefore = now - keepMs;
    const { signal } = this.#stopping;
    await pruneInBatches(signal, (limit) => store.run('pruneEvents', { endedBefore, limit }));
    this.#pruneAt = timers.monotonic() + pruneMs;
  }

  /** Records which channels are unhealthy on this gateway, if that changed. */
  async #recordOutages(): Promise<void> {
    const { store, channels, gateway, clock } = this.#options;
    const unhealthy = channels.all
      .flatMap(({ name, health: { unhealthyReason: reason } }) =>
        reason === undefined ? [] : { channel: name, reason },
      )
      .toSorted((left, right) => (left.channel < right.channel ? -1 : 1));
    const current = JSON.stringify(unhealthy);
    if (current === this.#outages) return;
    await store.run('recordOutages', { gateway, channels: unhealthy, now: clock() });
    this.#outages = current;
  }
}

function quotaEvent(kind: 'quota.low' | 'quota.exhausted', low: LowBalance, now: number): NewEvent {
  const { userId, keyId, keyName, balance, debt, threshold } = low;
  const shared = { user_id: userId, key_id: keyId, key_name: keyName };
  const data = kind === 'quota.low' ? { ...shared, balance, threshold } : { ...shared, debt };
  const subject = keyId === null ? `user ${userId}` : `key ${keyId}`;
  return { ...newEvent(kind, subject, data), userId, tokenId: keyId, threshold, period: String(now) };
}

function budgetEvent({ budget, threshold }: ReachedBudget): NewEvent {
  const { id, userId, tokenId, amount, spent, period, periodStart, periodEnd, hard } = budget;
  const period_end = isoTime(periodEnd);
  const owner = { budget_id: id, user_id: userId, key_id: tokenId };
  const data = { ...owner, amount, spent, threshold, period, period_end, hard };
  // Stored until the end of the period, so that it is not sent again.
  const lasting = { period: String(periodStart), endedAt: periodEnd };
  return { ...newEvent('budget.reached', `budget ${id}`, data), userId, tokenId, threshold, ...lasting };
}

/** Returns an event of no user that has not ended. */
function newEvent(kind: NewEvent['kind'], subject: string, data: NewEvent['data']): NewEvent {
  const id = `event_${randomUUID().replaceAll('-', '')}`;
  return { id, kind, userId: 0, tokenId: null, subject, threshold: 0, period: '', data, endedAt: null };
}

const isoTime = (at: number) => new Date(at).toISOString();
