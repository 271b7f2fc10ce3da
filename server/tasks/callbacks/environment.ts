import { systemTimers, type Timers } from '../../lib/timers.ts';
import type { DeliveryLimits } from '../../store/commands/delivery-claims.ts';
import type { TaskRecord } from '../../store/queries/tasks.ts';
import type { Store } from '../../store/store.ts';
import type { Logger } from '../../telemetry/logger.ts';

export interface CallbackRules {
  /** Whether to deliver to loopback and private networks. */
  allowPrivate: boolean;
  /** Secret of the signatures. Undefined: deliveries are not signed. */
  secret: string | undefined;
}

export interface DeliveryOptions extends CallbackRules {
  store: Store;
  /** Returns the JSON body for a task, in the format of its creation. */
  render: (task: TaskRecord) => unknown;
  logger: Logger;
  /** Epoch milliseconds for times that receivers see. Due times use `timers`. */
  clock?: () => number;
  timers?: Timers;
  timing?: Partial<DeliveryTiming>;
  limits?: Partial<DeliveryLimits>;
  /** Id of the gateway in its claims. Default: a random id, whose claims last until they are released. */
  owner?: string;
}

/** `DeliveryOptions` with defaults and a stop signal. */
export interface DeliveryEnvironment extends Required<DeliveryOptions> {
  timing: DeliveryTiming;
  limits: DeliveryLimits;
  /** Aborted at the end of the grace period of a stop. */
  stopping: AbortSignal;
}

export function environment(
  options: DeliveryOptions,
  stopping: AbortSignal,
  owner: string,
): DeliveryEnvironment {
  return {
    clock: Date.now,
    timers: systemTimers,
    owner,
    ...options,
    timing: { ...defaultTiming, ...options.timing },
    limits: { ...defaultLimits, ...options.limits },
    stopping,
  };
}

/** Concurrent deliveries of one gateway. An unresponsive host or user leaves slots for the others. */
const defaultLimits: DeliveryLimits = { total: 256, perUser: 64, perHost: 16 };

const minute = 60_000;
const hour = 60 * minute;

/** Intervals and time limits of deliveries, in milliseconds. */
export const defaultTiming = {
  /** Time limit of a receiver's response. */
  answerMs: 5_000,
  /**
   * Pauses before the second attempt, the third and so on. The last attempt follows the last pause, after about a day.
   * Pauses of at most 1 h, so that deliveries follow soon after a receiver's outage.
   */
  pausesMs: [10_000, minute, 10 * minute, 30 * minute, ...Array<number>(24).fill(hour)],
  /** A claim lasts this much longer than the limit of its attempt. */
  claimMarginMs: 15_000,
  /** Retention of closed deliveries. */
  keepMs: 24 * hour,
  /** Least time between two claims. Deliveries that become due in between share one. */
  claimGapMs: 50,
  /** Longest time between two claims, for deliveries of other processes. */
  idleMs: 1_000,
  housekeepingMs: minute,
};

type DeliveryTiming = typeof defaultTiming;
