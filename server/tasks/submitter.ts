import type { Channel } from '../channels/channel.ts';
import { Failure } from '../failure.ts';
import type { NewTaskResult } from '../store/commands/tasks.ts';
import { fault } from '../store/fault-points.ts';
import type { TaskRecord } from '../store/queries/tasks.ts';
import type { TaskDriver } from './driver.ts';
import type { TaskEnvironment } from './environment.ts';
import type { Placement } from './placement.ts';
import { Repeats } from './repeats.ts';
import { newTask, type SubmittedTask, type TaskCreation } from './task-creation.ts';
import type { TaskTransitions } from './transitions.ts';

/** At the most so many accounts are asked for one task. */
const maxChannels = 3;
/** PostgreSQL's unique violation; on SQLite there is nobody to race with. */
const uniqueViolation = '23505';

/** Makes tasks: row and reservation first, then the upstream. */
export class Submitter {
  readonly #env: TaskEnvironment;
  readonly #placement: Placement;
  readonly #running = new Map<string, Promise<TaskRecord>>();
  /** Until when the leases of those last. */
  readonly #leases = new Map<string, number>();
  readonly #repeats: Repeats;

  constructor(env: TaskEnvironment, changes: TaskTransitions, placement: Placement) {
    this.#env = env;
    this.#placement = placement;
    this.#repeats = new Repeats(env, changes, this.#running);
  }

  /** Submissions that a client waits for. */
  get running(): readonly Promise<unknown>[] {
    return [...this.#running.values()];
  }

  /** The tasks whose submission has outlived its lease, since the store was away when it was to be written down. */
  get late(): readonly string[] {
    const now = this.#env.timers.monotonic();
    return [...this.#leases].flatMap(([id, until]) => (until <= now ? [id] : []));
  }

  async submit(order: TaskCreation): Promise<SubmittedTask> {
    const channels = order.channels.slice(0, maxChannels);
    const [first] = channels;
    if (first === undefined) {
      throw new Failure(503, 'get_channel_failed', 'No channel can serve the model now.', { retryAfter: 1 });
    }
    const driver = this.#env.drivers.get(order.driver);
    if (driver === undefined) throw new Error(`there is no task driver named ${order.driver}`);
    let made = await this.#create(order, first, driver);
    while (made.outcome === 'replayed') {
      const task = await this.#repeats.resolve(made.task, driver);
      if (task !== undefined) return { task, replayed: true };
      made = await this.#create(order, first, driver);
    }
    if (made.outcome !== 'created') throw refusal(made.outcome, order);
    fault('submit:reserved');
    const { id } = made.task;
    const placed = this.#placement.place(made.task, order.request, driver, channels);
    this.#running.set(id, placed);
    this.#leases.set(id, made.task.nextPollAt ?? 0);
    try {
      return { task: await placed, replayed: false };
    } finally {
      this.#running.delete(id);
      this.#leases.delete(id);
    }
  }

  async #create(order: TaskCreation, channel: Channel, driver: TaskDriver): Promise<NewTaskResult> {
    const row = await newTask(this.#env, order, channel, driver);
    try {
      return await this.#env.store.run('createTask', row);
    } catch (error) {
      // Another process made one of the same idempotency key at the same moment: now it can be seen.
      const repeated = row.idempotencyKey !== null && (error as { code?: unknown }).code === uniqueViolation;
      if (!repeated) throw error;
      return this.#env.store.run('createTask', row);
    }
  }
}

function refusal(
  outcome: Exclude<NewTaskResult['outcome'], 'created' | 'replayed'>,
  { requestId, expectedUnits, model }: TaskCreation,
): Error {
  if (outcome === 'insufficient_quota') {
    const need = `${expectedUnits} ${model.unit} of ${model.id}`;
    const message = `quota: the key's remaining quota does not cover this call; it needs ${need}.`;
    return new Failure(403, 'insufficient_user_quota', message);
  }
  if (outcome === 'other_request') {
    const message = 'Idempotency-Key: it was used for another request; use a new one for each request.';
    return new Failure(400, 'idempotency_key_reused', message);
  }
  return new Error(`request id ${requestId} was used before`);
}
