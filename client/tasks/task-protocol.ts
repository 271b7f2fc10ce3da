import type { components } from '../../generated/http.ts';
import type { CallOptions, CallResult } from '../call.ts';

/** State of a task of any kind. */
export interface TaskState {
  /** Status of the protocol. */
  status: string;
  /** 0 to 100, if the protocol reports it. */
  percent?: number;
  /** Set if the task ended without a result. */
  failure?: { code: string; message: string };
}

/** Reads tasks of one kind. */
export interface TaskReader<Task, Done extends Task> {
  read(id: string, options: CallOptions): Promise<CallResult<Task>>;
  stateOf(task: Task): TaskState;
  /** Whether the task ended with a result. */
  isDone(task: Task): task is Done;
}

/** Creates and reads tasks of one kind. */
export interface TaskProtocol<Request, Created, Task, Done extends Task> extends TaskReader<Task, Done> {
  create(body: Request, options: CallOptions): Promise<Created>;
}

/** Creates and reads tasks with one result file. */
export interface FileTaskProtocol<Request, Created, Task, Done extends Task>
  extends TaskProtocol<Request, Created, Task, Done> {
  idOf(created: Created): string;
  /** Returns the URL of the result file. */
  urlOf(task: Task): string | undefined;
}

export type VideoTask = components['schemas']['VideoTask'];

/** A generic task with its video. */
export type CompletedVideo = VideoTask & { status: 'completed'; video_url: string };

export function isCompletedVideo(task: VideoTask): task is CompletedVideo {
  return task.status === 'completed';
}

export function videoState({ status, progress, error }: VideoTask): TaskState {
  const failure = { code: 'video_generation_failed', message: 'The task failed.', ...error };
  return { status, percent: progress, failure: status === 'failed' ? failure : undefined };
}

interface RecordFields {
  status: string;
  /** For example `50%`. */
  progress?: string | undefined;
}

/** Returns the state of a record that ends in `SUCCESS` or `FAILURE`, with its progress as text. */
export function recordState(
  { status, progress }: RecordFields,
  reason: string | null | undefined,
): TaskState {
  const percent = progress === undefined ? undefined : Number.parseInt(progress, 10);
  const failure = { code: status, message: reason || 'The task failed.' };
  return { status, percent, failure: status === 'FAILURE' ? failure : undefined };
}
