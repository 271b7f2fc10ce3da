import type { CallOptions, Reply } from '../call.ts';

/** What every kind of task tells of itself. */
export interface TaskState {
  /** In the words of its protocol. */
  status: string;
  /** 0 to 100, where the protocol tells it. */
  percent?: number;
  /** Why it has ended without a result. */
  failure?: { code: string; message: string };
}

/** How one kind of task is read. */
export interface TaskReader<Task, Done extends Task> {
  read(id: string, options: CallOptions): Promise<Reply<Task>>;
  stateOf(task: Task): TaskState;
  /** Whether it has ended with a result. */
  isDone(task: Task): task is Done;
}

/** How one kind of task is made, read and fetched. */
export interface TaskProtocol<Request, Created, Task, Done extends Task> extends TaskReader<Task, Done> {
  create(body: Request, options: CallOptions): Promise<Created>;
  idOf(created: Created): string;
  /** The address of what the task made. */
  urlOf(task: Task): string | undefined;
}
