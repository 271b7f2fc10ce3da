import type { components } from '../../generated/http.ts';
import type { TaskState } from './task-protocol.ts';

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
