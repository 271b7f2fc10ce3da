import { systemTimers, type Timers } from '../../lib/timers.ts';
import type { DeliveryLimits } from '../../store/commands/delivery-claims.ts';
import type { TaskRecord } from '../../store/queries/tasks.ts';
import type { Store } from '../../store/store.ts';
import type { Logger } from '../../telemetry/logger.ts';

export interface CallbackRules {
  /** Deliver to loopback and private networks, too. */
  allowPrivate: boolean;
  /** What deliveries are signed with; undefined: they are not. */
  secret: string | undefined;
}

/** What deliveries are run with. */
export interface DeliveryOptions extends CallbackRules {
  store: Store;
  /** The body for a task, as JSON value: the task in the format it was made in. */
  render: (task: TaskRecord) => unknown;
  logger: Logger;
  /** Epoch milliseconds, as receivers see it; what is due goes by `timers`. */
  clock?: () => number;
  timers?: Timers;
  timing?: Partial<DeliveryTiming>;
  limits?: Partial<DeliveryLimits>;
  /** The gateway's id, which its leases name; default: a random one, with which they last until they are released. */
  owner?: string;
}

/** The same with everything filled in, and what ends it. */
export interface DeliveryEnvironment extends Required<DeliveryOptions> {
  timing: DeliveryTiming;
  limits: DeliveryLimits;
  /** Aborted when the process stops and its time of grace is over. */
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
    timing: { ...standardTiming, ...options.timing },
    limits: { ...defaultLimits, ...options.limits },
    stopping,
  };
}

/** Of one gateway. A host that does not answer, or all hosts of one user, leave slots for the others. */
const defaultLimits: DeliveryLimits = { total: 256, perUser: 64, perHost: 16 };

/** How long everything about deliveries takes, in milliseconds. */
export interface DeliveryTiming {
  /** A receiver has so long to answer. */
  answerMs: number;
  /** Before the second try, the third and so on; when all are over the delivery is given up. */
  pausesMs: readonly number[];
  /** A lease outlives the try it is for by this. */
  leaseMarginMs: number;
  /** Closed deliveries are kept so long. */
  keepMs: number;
  /** Least time between two claims: what becomes due meanwhile shares one. */
  claimGapMs: number;
  /** Most time between two claims, for what other processes add. */
  idleMs: number;
  housekeepingMs: number;
}

const minute = 60_000;
const hour = 60 * minute;

const standardTiming: DeliveryTiming = {
  answerMs: 5_000,
  // For a day, and never much longer than a receiver's maintenance: it has all soon after it is back.
  pausesMs: [10_000, minute, 10 * minute, 30 * minute, ...Array<number>(24).fill(hour)],
  leaseMarginMs: 15_000,
  keepMs: 24 * hour,
  claimGapMs: 50,
  idleMs: 1_000,
  housekeepingMs: minute,
};
