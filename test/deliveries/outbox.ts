import { pino } from 'pino';
import { Deliveries } from '../../server/deliveries/deliveries.ts';
import type { DeliveryOptions } from '../../server/deliveries/environment.ts';
import { renderOfficialTask } from '../../server/formats/official.ts';
import type { TaskRecord } from '../../server/store/queries/tasks.ts';
import type { Snapshot } from '../../server/tasks/driver.ts';
import type { TaskOrder } from '../../server/tasks/task-order.ts';
import type { Rig } from '../tasks/rig.ts';

export const SECRET = 'the secret of callbacks';
export const VIDEO = 'https://files.example/clip.mp4';
export const done: Snapshot = {
  state: 'completed',
  result: { video_url: VIDEO, native: { seed: 42 } },
  usage: { units: 4 },
};

/** Deliveries on a rig's store and clock, and what they log. */
export class Outbox {
  readonly rig: Rig;
  readonly deliveries: Deliveries;
  readonly log: Record<string, unknown>[] = [];
  readonly #made: Deliveries[] = [];

  constructor(rig: Rig, options: Partial<DeliveryOptions> = {}) {
    this.rig = rig;
    this.deliveries = this.another(options);
  }

  /** On the same store, as a second process would be. */
  another(options: Partial<DeliveryOptions> = {}): Deliveries {
    const line = { write: (text: string) => this.log.push(JSON.parse(text) as Record<string, unknown>) };
    const deliveries = new Deliveries({
      store: this.rig.store,
      render: renderOfficialTask,
      allowPrivate: true,
      secret: SECRET,
      logger: pino({ base: null, timestamp: false }, line),
      clock: this.rig.clock.now,
      timers: this.rig.clock,
      ...options,
      // What is due is known without looking.
      timing: { idleMs: 3_600_000, ...options.timing },
    });
    this.#made.push(deliveries);
    return deliveries;
  }

  /** Gives up at once on what is under way. */
  async close(): Promise<void> {
    const stopped = Promise.all(this.#made.map((deliveries) => deliveries.stop(0)));
    await this.rig.advance(0);
    await stopped;
  }

  submit(callbackUrl: string, change: Partial<TaskOrder> = {}): Promise<TaskRecord> {
    return this.rig.submit({ format: 'official', callbackUrl, ...change });
  }

  /** The task's next poll finds this. */
  async reach(snapshot: Snapshot): Promise<void> {
    this.rig.driver.onPoll = () => snapshot;
    await this.rig.step(60_000);
  }

  /** Makes one try with each notice that is due after that time. */
  deliver(ms = 0): Promise<number> {
    this.rig.clock.jump(ms);
    return this.deliveries.runDue();
  }

  rows() {
    return this.rig.store.read.selectFrom('deliveries').selectAll().orderBy('id').execute();
  }
}
