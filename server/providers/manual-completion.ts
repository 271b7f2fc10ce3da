import { invalid } from '../lib/failure.ts';
import type { TaskRecord } from '../store/queries/tasks.ts';
import { imageResult } from './imgjob/render-image-job.ts';
import type { NativeRecord } from './native/tasks.ts';
import type { MusicFacts, MusicResult } from './sigma/music.ts';
import type { VideoResult } from './video.ts';
import { videoResult } from './video-task.ts';

/**
 * Builds the result of a task that an admin completes. Undefined keeps the stored result. Only a video accepts a URL.
 * Throws Failure 400 when the result would miss a field that clients need.
 */
export function manualResult(
  task: TaskRecord,
  url: string | undefined,
): Readonly<Record<string, unknown>> | undefined {
  const isVideo = task.format !== 'music' && task.format !== 'image' && task.driver !== 'native_3d';
  if (isVideo && url !== undefined) return { ...videoResultAt(task, url) };
  if (isVideo && videoResult(task).video_url === undefined)
    throw invalid('url', 'is required, because the task has no result.');
  if (url !== undefined) throw invalid('url', 'is allowed for videos only.');
  if (!isVideo && !hasResult(task))
    throw invalid('outcome', 'must be failed, because the task has no result.');
  return undefined;
}

function videoResultAt(task: TaskRecord, url: string): VideoResult {
  const { source_url: _, ...kept } = videoResult(task);
  if (task.format !== 'native') return { ...kept, video_url: url };
  const { output, ...record }: NativeRecord = kept.native ?? {};
  return { ...kept, video_url: url, native: { ...record, output: { ...output, video_url: url } } };
}

function hasResult(task: TaskRecord): boolean {
  if (task.format === 'image') return imageResult(task).image_url !== undefined;
  if (task.format !== 'music') return false;
  const { action }: MusicFacts = task.facts;
  const { songs = [], lyrics }: MusicResult = task.result ?? {};
  if (action === 'LYRICS') return lyrics !== undefined;
  return songs.length > 0 && songs.every(({ status }) => status === 'complete');
}
