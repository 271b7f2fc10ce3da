import { systemTimers, type Timers } from '../../server/lib/timers.ts';
import { CallQuota } from '../../server/quota/call-quota.ts';
import { Ledger } from '../../server/quota/ledger.ts';
import type { NewTask, NewTaskResult } from '../../server/store/commands/new-tasks.ts';
import type { Store } from '../../server/store/store.ts';
import { LeasedTaskWriter } from '../../server/tasks/task-creation.ts';
import { createLogger } from '../../server/telemetry/logger.ts';
import { makeTask } from './task-rows.ts';

/** The quota layer of a gateway without the rest of it. */
export class QuotaGateway {
  readonly id: string;
  readonly calls: CallQuota;
  /** Replaces the heartbeat. */
  readonly membership = { isMember: true, epoch: 0 };
  readonly #store: Store;
  readonly #writer: LeasedTaskWriter;

  private constructor(store: Store, id: string, timers: Timers) {
    this.#store = store;
    this.#writer = new LeasedTaskWriter(store);
    this.id = id;
    const clock = () => 1_795_000_000_000;
    const ledger = new Ledger(store, id, clock);
    const { membership } = this;
    const logger = createLogger('silent');
    // A short interval, so that recalled leases return soon.
    this.calls = new CallQuota({
      store,
      gateway: id,
      membership,
      ledger,
      logger,
      timers,
      clock,
      pollIntervalMs: 5,
    });
  }

  static async start(store: Store, id: string, timers: Timers = systemTimers): Promise<QuotaGateway> {
    await store.run('recordHeartbeat', { id, heartbeat: 0 });
    const gateway = new QuotaGateway(store, id, timers);
    gateway.calls.start();
    return gateway;
  }

  makeTask(
    token: { id: number; userId: number },
    change: Partial<NewTask> & Pick<NewTask, 'requestId' | 'amount'>,
  ): Promise<NewTaskResult> {
    return makeTask({ store: this.#store, calls: this.calls, writer: this.#writer }, token, change);
  }

  /** Removes the gateway as the others do after missed heartbeats. It may continue, unaware of it. */
  async removeAsLost(): Promise<void> {
    await this.#store.run('removeGateway', { id: this.id, heartbeat: null });
    await this.#store.run('releaseOrphans', { now: 1, dueNow: 1 });
  }
}
