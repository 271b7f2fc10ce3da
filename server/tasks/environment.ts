import type { Channel } from '../channels/channel.ts';
import { systemTimers, type Timers } from '../lib/timers.ts';
import type { QuotaSource } from '../quota/ledger.ts';
import type { PriceTerms } from '../quota/prices.ts';
import type { TaskRecord } from '../store/queries/tasks.ts';
import type { Store } from '../store/store.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { TaskDriver } from './driver.ts';
import { standardTiming, type TaskTiming } from './timing.ts';

/** What tasks are run with. */
export interface TaskOptions {
  store: Store;
  /** By the name that rows keep. */
  drivers: ReadonlyMap<string, TaskDriver>;
  channels: TaskChannels;
  /** Default: all of a key's quota is in its balance. */
  quota?: QuotaSource;
  /** The current price of a model for a group. */
  priceTerms: (modelId: string, group: string) => PriceTerms;
  logger: Logger;
  /** Called after a change of state is on disk. */
  onChange?: (task: ChangedTask) => void;
  /** Epoch milliseconds, as clients see it; what is due goes by `timers`. */
  clock?: () => number;
  timers?: Timers;
  /** Numbers from 0 up to 1, for the jitter. */
  random?: () => number;
  timing?: Partial<TaskTiming>;
  /** Polls of one channel at a time; those of a single user are half as many. */
  pollsPerChannel?: number;
  /** The gateway's id, which its leases name; default: a random one, with which they last until they are released. */
  owner?: string;
}

export type ChangedTask = Pick<TaskRecord, 'id' | 'state' | 'progress' | 'callbackUrl'>;

export interface TaskChannels {
  readonly names: readonly string[];
  named(name: string): Channel | undefined;
}

/** The same with everything filled in, and what ends it. */
export interface TaskEnvironment extends Required<TaskOptions> {
  timing: TaskTiming;
  /** Aborted when the process stops and its time of grace is over. */
  stopping: AbortSignal;
}

export function environment(options: TaskOptions, stopping: AbortSignal, owner: string): TaskEnvironment {
  return {
    quota: {
      withLease: () => Promise.resolve(undefined),
      withReclaim: (_token, _amount, attempt) => attempt(),
    },
    onChange: () => {},
    clock: Date.now,
    timers: systemTimers,
    random: Math.random,
    pollsPerChannel: 256,
    owner,
    ...options,
    timing: { ...standardTiming, ...options.timing },
    stopping,
  };
}
