import { randomInt } from 'node:crypto';
import type { Records, Storage } from '../storage.ts';
import type { Triggers } from '../triggers.ts';

/** Why a task failed, in the words of its protocol. */
interface Failure {
  code: string;
  message: string;
}

/** Thrown by the work of a task that is at fault itself, for example because a URL leads nowhere. */
export class TaskFailure extends Error implements Failure {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** Share of a task's time up to which its progress goes by the clock alone. */
const steady = 0.8;

/** How a task is meant to end. */
export type Fate = Failure | 'expired' | 'never' | 'queued' | undefined;

/** Where a task stands. Times are milliseconds since the epoch, `progress` is a percentage below 100. */
type Stage<Output> =
  | { name: 'queued' }
  | { name: 'running'; startedAt: number; progress: number }
  | { name: 'succeeded'; startedAt: number; endedAt: number; output: Output }
  | { name: 'failed'; startedAt: number; endedAt: number; failure: Failure }
  | { name: 'expired'; startedAt: number; endedAt: number }
  | { name: 'canceled'; endedAt: number };

/** What the work of a task leads to: its output, given the end of the task in milliseconds since the epoch. */
export type Finish<Output> = (endedAt: number) => Output;

interface NewTask<Request, Job> {
  id: string;
  request: Request;
  triggers: Triggers;
  fate: Fate;
  /** Milliseconds after which an unfinished task expires. */
  lifetime?: number;
  /** What there is to do. It begins at once, and the task does not end before it is done. */
  job: Job;
}

/** A task as it is kept. Times are milliseconds since the epoch. */
interface TaskRecord<Request, Output, Job> {
  readonly request: Request;
  readonly triggers: Triggers;
  readonly fate: Fate;
  readonly createdAt: number;
  /** Milliseconds that it takes, a fifth of them in the queue. */
  readonly duration: number;
  readonly lifetime: number;
  /** Until it is done. */
  job?: Job;
  done?: { at: number; output: Output } | { at: number; failure: Failure };
  canceledAt?: number;
}

/** A task whose stage follows from the clock, so that nothing has to run while it waits. */
export class Task<Request, Output> {
  readonly id: string;
  /** How often it has been looked up. */
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

  /** Takes the task out of the queue; false when it is not in it any more. */
  cancel(): boolean {
    if (this.stage().name !== 'queued') return false;
    this.#record.canceledAt = this.#now();
    delete this.#record.job;
    this.#save();
    return true;
  }

  /** Waits for the work, and keeps what it leads to. */
  async follow(work: Promise<Finish<Output>>): Promise<void> {
    const record = this.#record;
    try {
      const finish = await work;
      const at = this.#now();
      if (record.canceledAt === undefined) record.done = { at, output: finish(Math.max(this.#endsAt, at)) };
    } catch (error) {
      record.done = { at: this.#now(), failure: failureOf(error) };
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

  /** With a fate nothing is done. */
  get #doneAt(): number {
    const { fate, done } = this.#record;
    return fate === undefined ? (done?.at ?? Infinity) : this.createdAt;
  }

  #progress(now: number): number {
    const share = (now - this.#startsAt) / (this.#endsAt - this.#startsAt);
    // Work that lasts longer than was foreseen slows down, and does not stand still.
    const isLate = this.#doneAt === Infinity && share > steady;
    const shown = isLate ? 1 - (1 - steady) * (steady / share) : share;
    return Math.max(1, Math.min(99, Math.floor(shown * 100)));
  }
}

function failureOf(error: unknown): Failure {
  if (error instanceof TaskFailure) return { code: error.code, message: error.message };
  return { code: 'InternalError', message: 'The task failed inside the service' };
}

interface TaskBoardOptions<Output, Job> {
  storage: Storage;
  /** Whose tasks they are, other than those of all other boards. */
  name: string;
  /** Does what a task is for, and may have to do it again after a kill. */
  work: (job: Job, triggers: Triggers) => Promise<Finish<Output>>;
  /** Milliseconds since the epoch. */
  now: () => number;
  /** Milliseconds that a task takes. */
  taskTime: number;
  /** Milliseconds for which a task is known. */
  retention: number;
}

/** The tasks of one protocol. They are kept; what the last start left undone is begun again. */
export class TaskBoard<Request, Output, Job> {
  readonly #options: TaskBoardOptions<Output, Job>;
  readonly #records: Records<TaskRecord<Request, Output, Job>>;
  /** The oldest first. */
  readonly #tasks = new Map<string, Task<Request, Output>>();

  constructor(options: TaskBoardOptions<Output, Job>) {
    this.#options = options;
    this.#records = options.storage.records(`${options.name} task`);
    for (const [id, record] of this.#records.all()) this.#open(id, record);
  }

  /** The task is on disk when this returns. */
  add({ id, job, lifetime = Infinity, ...task }: NewTask<Request, Job>): Task<Request, Output> {
    const { now, taskTime } = this.#options;
    this.#dropOld();
    const record: TaskRecord<Request, Output, Job> = {
      ...task,
      lifetime,
      createdAt: now(),
      duration: taskTime * (task.triggers.has('slow') ? 10 : 1),
      ...(task.fate === undefined && { job }),
    };
    this.#records.put(id, record);
    return this.#open(id, record);
  }

  /** Undefined also for a task with the trigger `unknown`. */
  find(id: string): Task<Request, Output> | undefined {
    this.#dropOld();
    const task = this.#tasks.get(id);
    return task?.triggers.has('unknown') ? undefined : task;
  }

  /** The newest first. */
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
    // What cannot be saved now, on a full disk, is done again at the next start.
    if (record.job !== undefined) task.follow(work(record.job, record.triggers)).catch(() => {});
    return task;
  }

  #dropOld(): void {
    const oldest = this.#options.now() - this.#options.retention;
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

/** `<prefix>-<YYYYMMDDhhmmss>-<5 characters>`; `time` is in milliseconds since the epoch. */
export function stampedId(prefix: string, time: number): string {
  const stamp = new Date(time).toISOString().replace(/\D/g, '').slice(0, 14);
  const suffix = Array.from({ length: 5 }, () => letters[randomInt(letters.length)]).join('');
  return `${prefix}-${stamp}-${suffix}`;
}
