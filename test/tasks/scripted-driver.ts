import { ProviderFailure } from '../../server/lib/failure.ts';
import type { TaskRecord } from '../../server/store/queries/tasks.ts';
import {
  type AcceptedTask,
  DriverError,
  type DriverErrorKind,
  type Resumed,
  type Snapshot,
  type Submission,
  type TaskDriver,
  type Upstream,
} from '../../server/tasks/driver.ts';

/** A driver without an upstream. Calls the functions of the test and records its calls. */
export class ScriptedDriver implements TaskDriver {
  readonly submitted: { id: string; channel: string; request: unknown }[] = [];
  readonly polled: { id: string; at: number }[] = [];
  readonly canceled: string[] = [];
  readonly resumed: { upstreamId: string; request: object }[] = [];
  /** Upstream ids by task id. */
  readonly upstream = new Map<string, string>();
  onSubmit: (task: TaskRecord, upstream: Upstream) => Submission | Promise<Submission> = (task) =>
    this.make(task);
  onPoll: (task: AcceptedTask, upstream: Upstream) => Snapshot | Promise<Snapshot> = () => ({
    state: 'queued',
  });
  onCancel: (task: AcceptedTask, upstream: Upstream) => void | Promise<void> = () => {};
  onResume: (task: AcceptedTask, upstream: Upstream) => Resumed | Promise<Resumed> = ({ upstreamId }) => ({
    upstreamId,
    result: {},
  });
  readonly #clock: () => number;

  constructor(clock: () => number) {
    this.#clock = clock;
  }

  make({ id }: { id: string }): Submission {
    const upstreamId = this.upstream.get(id) ?? `up-${this.upstream.size + 1}`;
    this.upstream.set(id, upstreamId);
    return { upstreamId };
  }

  async submit(task: TaskRecord, request: unknown, upstream: Upstream): Promise<Submission> {
    this.submitted.push({ id: task.id, channel: upstream.channel.name, request });
    return this.onSubmit(task, upstream);
  }

  async poll(task: AcceptedTask, upstream: Upstream): Promise<Snapshot> {
    this.polled.push({ id: task.id, at: this.#clock() });
    return this.onPoll(task, upstream);
  }

  async resume(task: AcceptedTask, request: object, upstream: Upstream): Promise<Resumed> {
    this.resumed.push({ upstreamId: task.upstreamId, request });
    return this.onResume(task, upstream);
  }

  async cancel(task: AcceptedTask, upstream: Upstream): Promise<void> {
    this.canceled.push(task.upstreamId);
    return this.onCancel(task, upstream);
  }
}

/** Creates an error of a driver, which a client receives as 415 with the kind as its code. */
export function driverError(kind: DriverErrorKind, retryAfter?: number): DriverError {
  return new DriverError(kind, new ProviderFailure(415, kind, `it was ${kind}`, { retryAfter }));
}
