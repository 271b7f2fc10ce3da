import { randomInt } from 'node:crypto';
import type { Records, Storage } from '../storage.ts';
import type { Triggers } from '../triggers.ts';

/** The error of a failed task, as its protocol reports it. */
interface Failure {
  code: string;
  message: string;
}

/** Thrown if the request causes the failure of a task, for example with an unreachable URL. */
export class TaskFailure extends Error implements Failure {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** Fraction of the duration up to which progress is proportional to the elapsed time. */
const linearShare = 0.8;

/** Outcome that a trigger forces. */
export type ForcedOutcome = Failure | 'expired' | 'never' | 'queued' | undefined;

/** State of a task. Times are milliseconds since the epoch, `progress` is a percentage below 100. */
type Stage<Output> =
  | { name: 'queued' }
  | { name: 'running'; startedAt: number; progress: number }
  | { name: 'succeeded'; startedAt: number; endedAt: number; output: Output }
  | { name: 'failed'; startedAt: number; endedAt: number; failure: Failure }
  | { name: 'expired'; startedAt: number; endedAt: number }
  | { name: 'canceled'; endedAt: number };

/** Creates the output of a task from its end time in milliseconds since the epoch. */
export type CreateOutput<Output> = (endedAt: number) => Output;

interface NewTask<Request, Job> {
  id: string;
  request: Request;
  triggers: Triggers;
  fate: ForcedOutcome;
  /** Milliseconds after which an unfinished task expires. */
  lifetime?: number;
  /** Work to run. It starts immediately, and the task does not end before it completes. */
  job: Job;
}

/** A task as it is stored on disk, so its field names must not change. Times are milliseconds since the epoch. */
interface TaskRecord<Request, Output, Job> {
  readonly request: Request;
  readonly triggers: Triggers;
  readonly fate: ForcedOutcome;
  readonly createdAt: number;
  /** Duration in milliseconds, a fifth of it in the queue. */
  readonly duration: number;
  readonly lifetime: number;
  /** Set until the work completes. */
  job?: Job;
  done?: { at: number; output: Output } | { at: number; failure: Failure };
  canceledAt?: number;
}

/** A task whose state is derived from the clock, so a waiting task needs no timer. */
export class Task<Request, Output> {
  readonly id: string;
  /** Number of polls so far. */
  polls = 0;
  readonly #record: TaskRecord<Request, Output, unknown>;
  readonly #now: () => number;
  readonly #save: () => void;

  constructor(
    id: string,
    record: TaskRecord<Request, Output, unknown>,
    { now, save }: { now: () => number; save: () => void },
  ) {
    this.id = id;
    this.#record = record;
    this.#now = now;
    this.#save = save;
  }

  get request(): Request {
    return this.#record.request;
  }

  get triggers(): Triggers {
    return this.#record.triggers;
  }

  get createdAt(): number {
    return this.#record.createdAt;
  }

  stage(): Stage<Output> {
    const now = this.#now();
    const { createdAt, lifetime, fate, done, canceledAt } = this.#record;
    const startedAt = this.#startsAt;
    if (canceledAt !== undefined) return { name: 'canceled', endedAt: canceledAt };
    const expiresAt = createdAt + lifetime;
    if (now < Math.min(startedAt, expiresAt)) return { name: 'queued' };
    const endsAt = Math.max(this.#endsAt, this.#doneAt);
    if (now >= expiresAt && expiresAt < endsAt) return { name: 'expired', startedAt, endedAt: expiresAt };
    if (now < endsAt) return { name: 'running', startedAt, progress: this.#progress(now) };
    const times = { startedAt, endedAt: endsAt };
    if (typeof fate === 'object') return { name: 'failed', ...times, failure: fate };
    if (fate !== undefined || done === undefined) return { name: 'expired', ...times };
    return 'failure' in done
      ? { name: 'failed', ...times, failure: done.failure }
      : { name: 'succeeded', ...times, output: done.output };
  }

  /** Removes the task from the queue. Returns false if the task is no longer queued. */
  cancel(): boolean {
    if (this.stage().name !== 'queued') return false;
    this.#record.canceledAt = this.#now();
    delete this.#record.job;
    this.#save();
    return true;
  }

  /** Waits for the work and stores its result. */
  async trackWork(work: Promise<CreateOutput<Output>>): Promise<void> {
    const record = this.#record;
    try {
      const createOutput = await work;
      const at = this.#now();
      if (record.canceledAt === undefined)
        record.done = { at, output: createOutput(Math.max(this.#endsAt, at)) };
    } catch (error) {
      record.done = { at: this.#now(), failure: failureFromError(error) };
    }
    delete record.job;
    this.#save();
  }

  get #startsAt(): number {
    return this.#record.fate === 'queued' ? Infinity : this.createdAt + this.#record.duration / 5;
  }

  get #endsAt(): number {
    const { fate, duration } = this.#record;
    return fate === 'never' || fate === 'queued' ? Infinity : this.createdAt + duration;
  }

  /** A task with a forced outcome has no work. */
  get #doneAt(): number {
    const { fate, done } = this.#record;
    return fate === undefined ? (done?.at ?? Infinity) : this.createdAt;
  }

  #progress(now: number): number {
    const share = (now - this.#startsAt) / (this.#endsAt - this.#startsAt);
    // The progress of work that exceeds its expected duration slows down but never stops.
    const isLate = this.#doneAt === Infinity && share > linearShare;
    const shown = isLate ? 1 - (1 - linearShare) * (linearShare / share) : share;
    return Math.max(1, Math.min(99, Math.floor(shown * 100)));
  }
}

function failureFromError(error: unknown): Failure {
  if (error instanceof TaskFailure) return { code: error.code, message: error.message };
  return { code: 'InternalError', message: 'The task failed inside the service' };
}

interface TaskBoardOptions<Output, Job> {
  storage: Storage;
  /** Name of the collection that stores the tasks. */
  name: string;
  /** Runs the work of a task. Can run again after a kill. */
  work: (job: Job, triggers: Triggers) => Promise<CreateOutput<Output>>;
  /** Milliseconds since the epoch. */
  now: () => number;
  /** Duration of a task in milliseconds. */
  taskDurationMs: number;
  /** Time after which a task is deleted, in milliseconds since its creation. */
  retentionMs: number;
}

/** The tasks of one protocol, stored on disk. A new process restarts unfinished work. */
export class TaskBoard<Request, Output, Job> {
  readonly #options: TaskBoardOptions<Output, Job>;
  readonly #records: Records<TaskRecord<Request, Output, Job>>;
  /** Sorted by creation time, the oldest first. */
  readonly #tasks = new Map<string, Task<Request, Output>>();

  constructor(options: TaskBoardOptions<Output, Job>) {
    this.#options = options;
    this.#records = options.storage.records(`${options.name} task`);
    for (const [id, record] of this.#records.all()) this.#open(id, record);
  }

  /** Creates a task and starts its work. The task is durable when this returns. */
  add({ id, job, lifetime = Infinity, ...task }: NewTask<Request, Job>): Task<Request, Output> {
    const { now, taskDurationMs } = this.#options;
    this.#dropOld();
    const record: TaskRecord<Request, Output, Job> = {
      ...task,
      lifetime,
      createdAt: now(),
      duration: taskDurationMs * (task.triggers.has('slow') ? 10 : 1),
      ...(task.fate === undefined && { job }),
    };
    this.#records.put(id, record);
    return this.#open(id, record);
  }

  /** Finds a task. Returns undefined for a task with the trigger `unknown`. */
  find(id: string): Task<Request, Output> | undefined {
    this.#dropOld();
    const task = this.#tasks.get(id);
    return task?.triggers.has('unknown') ? undefined : task;
  }

  /** Lists the tasks, the newest first. */
  list(): Task<Request, Output>[] {
    this.#dropOld();
    return Array.from(this.#tasks.values()).reverse();
  }

  remove(id: string): void {
    this.#tasks.delete(id);
    this.#records.delete([id]);
  }

  #open(id: string, record: TaskRecord<Request, Output, Job>): Task<Request, Output> {
    const { now, work } = this.#options;
    const save = () => {
      if (this.#tasks.has(id)) this.#records.put(id, record);
    };
    const task = new Task(id, record, { now, save });
    this.#tasks.set(id, task);
    // If saving fails, for example on a full disk, the next start repeats the work.
    if (record.job !== undefined) task.trackWork(work(record.job, record.triggers)).catch(() => {});
    return task;
  }

  #dropOld(): void {
    const oldest = this.#options.now() - this.#options.retentionMs;
    const old: string[] = [];
    for (const task of this.#tasks.values()) {
      if (task.createdAt > oldest) break;
      old.push(task.id);
    }
    for (const id of old) this.#tasks.delete(id);
    this.#records.delete(old);
  }
}

const letters = 'abcdefghijklmnopqrstuvwxyz0123456789';

/** Creates an id of the form `<prefix>-<YYYYMMDDhhmmss>-<5 characters>`. `time` is in milliseconds since the epoch. */
export function createTimestampedId(prefix: string, time: number): string {
  const stamp = new Date(time).toISOString().replace(/\D/g, '').slice(0, 14);
  const suffix = Array.from({ length: 5 }, () => letters[randomInt(letters.length)]).join('');
  return `${prefix}-${stamp}-${suffix}`;
}
