import type { components } from '../../generated/http.ts';
import type { CallOptions, Reply } from '../call.ts';

/** What every kind of task reports. */
export interface TaskState {
  /** In the words of its protocol. */
  status: string;
  /** 0 to 100, where the protocol reports it. */
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

/** How one kind of task is made and read. */
export interface TaskMaker<Request, Created, Task, Done extends Task> extends TaskReader<Task, Done> {
  create(body: Request, options: CallOptions): Promise<Created>;
}

/** The same of a task with one file. */
export interface TaskProtocol<Request, Created, Task, Done extends Task>
  extends TaskMaker<Request, Created, Task, Done> {
  idOf(created: Created): string;
  /** The address of what the task made. */
  urlOf(task: Task): string | undefined;
}

export type VideoTask = components['schemas']['VideoTask'];

/** A generic task with its video. */
export type CompletedVideo = VideoTask & { status: 'completed'; video_url: string };

export function isCompletedVideo(task: VideoTask): task is CompletedVideo {
  return task.status === 'completed';
}

export function videoState({ status, progress, error }: VideoTask): TaskState {
  const failure = { code: 'video_generation_failed', message: 'The task has failed.', ...error };
  return { status, percent: progress, failure: status === 'failed' ? failure : undefined };
}

interface RecordFacts {
  status: string;
  /** For example `50%`. */
  progress?: string | undefined;
}

/** The state of a record with a percent as text, which ends in `SUCCESS` or `FAILURE`. */
export function recordState({ status, progress }: RecordFacts, reason: string | null | undefined): TaskState {
  const percent = progress === undefined ? undefined : Number.parseInt(progress, 10);
  const failure = { code: status, message: reason || 'The task has failed.' };
  return { status, percent, failure: status === 'FAILURE' ? failure : undefined };
}
