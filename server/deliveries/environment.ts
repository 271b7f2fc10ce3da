import type { Logger } from '../runtime/logger.ts';
import { systemTimers, type Timers } from '../runtime/timers.ts';
import type { TaskRecord } from '../store/queries/tasks.ts';
import type { Store } from '../store/store.ts';
import { type DeliveryTiming, standardTiming } from './timing.ts';

/** What deliveries are run with. */
export interface DeliveryOptions {
  store: Store;
  /** The body for a task, as JSON value: the task in the format it was made in. */
  render: (task: TaskRecord) => unknown;
  /** Deliver to loopback and private networks, too. */
  allowPrivate: boolean;
  /** What notices are signed with; undefined: they are not. */
  secret: string | undefined;
  logger: Logger;
  /** Epoch milliseconds, as receivers are told; what is due goes by `timers`. */
  clock?: () => number;
  timers?: Timers;
  timing?: Partial<DeliveryTiming>;
  /** Tries at a time. */
  atOnce?: number;
  /** Tries to one host at a time, so that one that does not answer leaves room for the others. */
  perHost?: number;
  /** The gateway's id, which its leases name; default: a random one, with which they last until they are released. */
  owner?: string;
}

/** The same with everything filled in, and what ends it. */
export interface DeliveryEnvironment extends Required<DeliveryOptions> {
  timing: DeliveryTiming;
  /** Aborted when the process stops and has no more patience. */
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
    atOnce: 256,
    perHost: 8,
    owner,
    ...options,
    timing: { ...standardTiming, ...options.timing },
    stopping,
  };
}
