import { randomInt } from 'node:crypto';
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

/** How a task is meant to end. */
export type Fate = Failure | 'expired' | 'never' | undefined;

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

interface NewTask<Request, Output> {
  id: string;
  request: Request;
  triggers: Triggers;
  fate: Fate;
  /** Milliseconds after which an unfinished task expires. */
  lifetime?: number;
  /** Begins at once; the task does not end before it has. */
  work: () => Promise<Finish<Output>>;
}

/** A task whose stage follows from the clock, so that nothing has to run while it waits. */
export class Task<Request, Output> {
  readonly id: string;
  readonly request: Request;
  readonly triggers: Triggers;
  readonly createdAt: number;
  /** How often it has been looked up. */
  polls = 0;
  readonly #now: () => number;
  readonly #fate: Fate;
  readonly #startsAt: number;
  readonly #endsAt: number;
  readonly #expiresAt: number;
  #canceledAt: number | undefined;
  #work: { doneAt: number; finish: Finish<Output> } | { doneAt: number; failure: Failure } | undefined;
  #output: { value: Output } | undefined;

  /** `duration` is the time in milliseconds that it takes, a fifth of it in the queue. */
  constructor(task: NewTask<Request, Output>, now: () => number, duration: number) {
    this.id = task.id;
    this.request = task.request;
    this.triggers = task.triggers;
    this.#now = now;
    this.#fate = task.fate;
    this.createdAt = now();
    this.#startsAt = this.createdAt + duration / 5;
    this.#endsAt = task.fate === 'never' ? Infinity : this.createdAt + duration;
    this.#expiresAt = this.createdAt + (task.lifetime ?? Infinity);
    task.work().then(
      (finish) => {
        this.#work = { doneAt: now(), finish };
      },
      (error: unknown) => {
        this.#work = { doneAt: now(), failure: failureOf(error) };
      },
    );
  }

  stage(): Stage<Output> {
    const now = this.#now();
    const startedAt = this.#startsAt;
    if (this.#canceledAt !== undefined) return { name: 'canceled', endedAt: this.#canceledAt };
    if (now < startedAt) return { name: 'queued' };
    const endsAt = Math.max(this.#endsAt, this.#work?.doneAt ?? Infinity);
    if (now >= this.#expiresAt && this.#expiresAt < endsAt)
      return { name: 'expired', startedAt, endedAt: this.#expiresAt };
    if (now < endsAt || !this.#work) return { name: 'running', startedAt, progress: this.#progress(now) };
    if (this.#fate === 'expired') return { name: 'expired', startedAt, endedAt: endsAt };
    const failure =
      typeof this.#fate === 'object' ? this.#fate : 'failure' in this.#work && this.#work.failure;
    if (failure) return { name: 'failed', startedAt, endedAt: endsAt, failure };
    if (!this.#output && 'finish' in this.#work) this.#output = { value: this.#work.finish(endsAt) };
    return {
      name: 'succeeded',
      startedAt,
      endedAt: endsAt,
      output: (this.#output as { value: Output }).value,
    };
  }

  /** Takes the task out of the queue; false when it is not in it any more. */
  cancel(): boolean {
    if (this.stage().name !== 'queued') return false;
    this.#canceledAt = this.#now();
    return true;
  }

  #progress(now: number): number {
    const share = (now - this.#startsAt) / (this.#endsAt - this.#startsAt);
    return Math.max(1, Math.min(99, Math.floor(share * 100)));
  }
}

function failureOf(error: unknown): Failure {
  if (error instanceof TaskFailure) return { code: error.code, message: error.message };
  return { code: 'InternalError', message: 'The task failed inside the service' };
}

interface TaskBoardOptions {
  /** Milliseconds since the epoch. */
  now: () => number;
  /** Milliseconds that a task takes. */
  taskTime: number;
  /** Milliseconds for which a task is known. */
  retention: number;
}

/** The tasks of one protocol, in memory. */
export class TaskBoard<Request, Output> {
  readonly #options: TaskBoardOptions;
  /** The oldest first. */
  readonly #tasks = new Map<string, Task<Request, Output>>();

  constructor(options: TaskBoardOptions) {
    this.#options = options;
  }

  add(task: NewTask<Request, Output>): Task<Request, Output> {
    const { now, taskTime } = this.#options;
    this.#dropOld();
    const added = new Task(task, now, taskTime * (task.triggers.has('slow') ? 10 : 1));
    this.#tasks.set(added.id, added);
    return added;
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
  }

  #dropOld(): void {
    const oldest = this.#options.now() - this.#options.retention;
    for (const task of this.#tasks.values()) {
      if (task.createdAt > oldest) break;
      this.#tasks.delete(task.id);
    }
  }
}

const letters = 'abcdefghijklmnopqrstuvwxyz0123456789';

/** `<prefix>-<YYYYMMDDhhmmss>-<5 characters>`; `time` is in milliseconds since the epoch. */
export function stampedId(prefix: string, time: number): string {
  const stamp = new Date(time).toISOString().replace(/\D/g, '').slice(0, 14);
  const suffix = Array.from({ length: 5 }, () => letters[randomInt(letters.length)]).join('');
  return `${prefix}-${stamp}-${suffix}`;
}
