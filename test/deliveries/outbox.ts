import { pino } from 'pino';
import { renderOfficialTask } from '../../server/providers/official/render-task.ts';
import type { TaskRecord } from '../../server/store/queries/tasks.ts';
import { CallbackDeliveries } from '../../server/tasks/callbacks/callback-deliveries.ts';
import type { DeliveryOptions } from '../../server/tasks/callbacks/environment.ts';
import type { Snapshot } from '../../server/tasks/driver.ts';
import type { TaskCreation } from '../../server/tasks/task-creation.ts';
import { directLinks } from '../support/direct-links.ts';
import type { TaskHarness } from '../tasks/harness.ts';

export const secret = 'the secret of callbacks';
export const videoUrl = 'https://files.example/clip.mp4';
export const done: Snapshot = {
  state: 'completed',
  result: { video_url: videoUrl, native: { seed: 42 } },
  usage: { units: 4 },
};

/** Callback deliveries on the store and clock of a harness, with their log. */
export class Outbox {
  readonly rig: TaskHarness;
  readonly deliveries: CallbackDeliveries;
  readonly log: Record<string, unknown>[] = [];
  readonly #made: CallbackDeliveries[] = [];

  constructor(rig: TaskHarness, options: Partial<DeliveryOptions> = {}) {
    this.rig = rig;
    this.deliveries = this.another(options);
  }

  /** Creates another outbox on the same store, like a second process. */
  another(options: Partial<DeliveryOptions> = {}): CallbackDeliveries {
    const line = { write: (text: string) => this.log.push(JSON.parse(text) as Record<string, unknown>) };
    const deliveries = new CallbackDeliveries({
      store: this.rig.store,
      render: (task) => renderOfficialTask(task, directLinks),
      allowPrivate: true,
      secret,
      logger: pino({ base: null, timestamp: false }, line),
      clock: this.rig.clock.now,
      timers: this.rig.clock,
      ...options,
      // The loop knows when deliveries are due, so it need not poll.
      timing: { idleMs: 3_600_000, ...options.timing },
    });
    this.#made.push(deliveries);
    return deliveries;
  }

  /** Stops all outboxes at once, without waiting for attempts in flight. */
  async close(): Promise<void> {
    const stopped = Promise.all(this.#made.map((deliveries) => deliveries.stop(0)));
    await this.rig.advance(0);
    await stopped;
  }

  submit(callbackUrl: string, change: Partial<TaskCreation> = {}): Promise<TaskRecord> {
    return this.rig.submit({ format: 'official', callbackUrl, ...change });
  }

  /** Makes the next poll of the task return the snapshot. */
  async reach(snapshot: Snapshot): Promise<void> {
    this.rig.driver.onPoll = () => snapshot;
    await this.rig.step(60_000);
  }

  /** Advances the clock and attempts each due delivery once. */
  deliver(ms = 0): Promise<number> {
    this.rig.clock.jump(ms);
    return this.deliveries.runDue();
  }

  rows() {
    return this.rig.store.read.selectFrom('deliveries').selectAll().orderBy('id').execute();
  }
}
