import { systemTimers, type Timers } from '../../server/lib/timers.ts';
import { CallQuota } from '../../server/quota/call-quota.ts';
import { Ledger } from '../../server/quota/ledger.ts';
import type { NewTask, NewTaskResult } from '../../server/store/commands/new-tasks.ts';
import type { Store } from '../../server/store/store.ts';
import { LeasedTaskWriter } from '../../server/tasks/leased-task-writer.ts';
import { createLogger } from '../../server/telemetry/logger.ts';
import { makeTask } from './task-rows.ts';

/** A gateway as its books see it, without the rest of it. */
export class BookingGateway {
  readonly id: string;
  readonly calls: CallQuota;
  /** As its heartbeat would tell. */
  readonly membership = { isMember: true, epoch: 0 };
  readonly #store: Store;
  readonly #creations: LeasedTaskWriter;

  private constructor(store: Store, id: string, timers: Timers) {
    this.#store = store;
    this.#creations = new LeasedTaskWriter(store);
    this.id = id;
    const clock = () => 1_795_000_000_000;
    const ledger = new Ledger(store, id, clock);
    const { membership } = this;
    const logger = createLogger('silent');
    // Often, since nobody is to wait long for what another gateway gives back.
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

  static async start(store: Store, id: string, timers: Timers = systemTimers): Promise<BookingGateway> {
    await store.run('beat', { id, beat: 0 });
    const gateway = new BookingGateway(store, id, timers);
    gateway.calls.start();
    return gateway;
  }

  makeTask(
    token: { id: number; userId: number },
    change: Partial<NewTask> & Pick<NewTask, 'requestId' | 'amount'>,
  ): Promise<NewTaskResult> {
    return makeTask({ store: this.#store, calls: this.calls, creations: this.#creations }, token, change);
  }

  /** As the others do it when it has not shown itself for long. What it still does is for a gateway that is gone. */
  async takeForGone(): Promise<void> {
    await this.#store.run('removeGateway', { id: this.id, beat: null });
    await this.#store.run('freeOrphans', { now: 1, dueNow: 1 });
  }
}
