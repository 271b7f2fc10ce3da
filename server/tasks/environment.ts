import type { Channel } from '../channels/channel.ts';
import { systemTimers, type Timers } from '../lib/timers.ts';
import type { QuotaSource } from '../quota/ledger.ts';
import type { PriceTerms } from '../quota/prices.ts';
import type { VendorCosts } from '../quota/vendor-costs.ts';
import type { PriceFields } from '../settings/price-rules.ts';
import type { QueueLimits } from '../store/commands/task-queue.ts';
import type { TaskRecord } from '../store/queries/tasks.ts';
import type { Store } from '../store/store.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { TaskDriver } from './driver.ts';
import { queueLimitsOf } from './queue-limits.ts';
import { defaultTiming, type TaskTiming } from './timing.ts';

export interface TaskOptions {
  store: Store;
  /** By the name in the rows of tasks. */
  drivers: ReadonlyMap<string, TaskDriver>;
  channels: TaskChannels;
  /** Default: no quota is leased. */
  quota?: QuotaSource;
  /** Returns the current price of a request for a model. */
  priceTerms: (modelId: string, group: string, fields: () => PriceFields) => PriceTerms;
  /** Default: no costs are known. */
  vendorCosts?: Pick<VendorCosts, 'costOf' | 'dependsOnRequest'>;
  logger: Logger;
  /** Called after a state change is on disk. */
  onChange?: (task: ChangedTask) => void;
  /** Epoch milliseconds for times that clients see. Due times use `timers`. */
  clock?: () => number;
  timers?: Timers;
  /** Returns numbers in [0, 1) for the jitter. */
  random?: () => number;
  timing?: Partial<TaskTiming>;
  /** Concurrent polls of one channel. A single user gets half of them. */
  pollsPerChannel?: number;
  /** Longest time in the queue, in milliseconds. Default: an hour. */
  maxQueueMs?: () => number;
  /** Default: those of an empty configuration. */
  queueLimits?: () => QueueLimits;
  /** Id of the gateway in its claims. Default: a random id, whose claims last until they are released. */
  owner?: string;
}

export type ChangedTask = Pick<
  TaskRecord,
  'id' | 'state' | 'progress' | 'callbackUrl' | 'channel' | 'askedAt'
>;

interface TaskChannels {
  readonly names: readonly string[];
  named(name: string): Channel | undefined;
  /** Default: every channel is enabled. */
  isEnabled?(name: string): boolean;
  recordSpend?(channel: string, quota: number): void;
}

/** `TaskOptions` with defaults and a stop signal. */
export interface TaskEnvironment extends Required<TaskOptions> {
  timing: TaskTiming;
  /** Aborted at the end of the grace period of a stop. */
  stopping: AbortSignal;
}

const noCosts = { costOf: () => null, dependsOnRequest: () => false };

export function environment(options: TaskOptions, stopping: AbortSignal, owner: string): TaskEnvironment {
  return {
    quota: {
      withLease: () => Promise.resolve(undefined),
      withReclaim: (_token, _amount, attempt) => attempt(),
    },
    vendorCosts: noCosts,
    onChange: () => {},
    clock: Date.now,
    timers: systemTimers,
    random: Math.random,
    pollsPerChannel: 256,
    maxQueueMs: () => 3_600_000,
    queueLimits: () => queueLimitsOf({}),
    owner,
    ...options,
    timing: { ...defaultTiming, ...options.timing },
    stopping,
  };
}
