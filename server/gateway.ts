import type { Channels } from './channels/channels.ts';
import type { RateLimit } from './http/rate-limit.ts';
import type { Ledger } from './ledger/ledger.ts';
import type { Logger } from './logger.ts';
import type { ModelAccess } from './models/access.ts';
import type { Prices } from './models/prices.ts';
import type { Creations } from './runtime/creations.ts';
import type { Settings } from './settings.ts';
import type { Store } from './store/store.ts';
import type { Tasks } from './tasks/tasks.ts';
import type { Timers } from './timers.ts';

/** Everything an operation works with. */
export interface Gateway {
  readonly settings: Settings;
  readonly store: Store;
  readonly ledger: Ledger;
  readonly access: ModelAccess;
  readonly prices: Prices;
  readonly channels: Channels;
  readonly tasks: Tasks;
  readonly creations: Creations;
  readonly rateLimit: RateLimit;
  readonly logger: Logger;
  /** Epoch milliseconds, for what people are told and what ends on a date. It may step: durations are of `timers`. */
  readonly clock: () => number;
  readonly timers: Timers;
  /** True from the moment the process begins to stop. */
  draining: boolean;
}
