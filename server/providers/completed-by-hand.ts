import { invalid } from '../lib/failure.ts';
import type { TaskRecord } from '../store/queries/tasks.ts';
import { imageResult } from './imgjob/render-image-job.ts';
import type { NativeRecord } from './native/tasks.ts';
import type { MusicFacts, MusicResult } from './sigma/music.ts';
import type { VideoResult } from './video.ts';
import { videoResult } from './video-task.ts';

/**
 * The result with which a task that has not ended can be shown as completed in its format; undefined: what is kept of it
 * already. Only the result of a video, which is one file, can be given by its address.
 *
 * @throws Failure 400 when it would be shown without what clients look for
 */
export function completedByHand(
  task: TaskRecord,
  url: string | undefined,
): Readonly<Record<string, unknown>> | undefined {
  if (isVideo(task)) return url === undefined ? keptVideo(task) : { ...videoAt(task, url) };
  if (url !== undefined) throw invalid('url', 'only the result of a video can be given.');
  if (!hasResult(task))
    throw invalid('outcome', 'the task has no result that could be shown, so it can only be failed.');
  return undefined;
}

function isVideo({ format, driver }: TaskRecord): boolean {
  return format !== 'music' && format !== 'image' && driver !== 'native_3d';
}

function keptVideo(task: TaskRecord): undefined {
  if (videoResult(task).video_url === undefined)
    throw invalid('url', 'is missing: the task has no result of its own.');
}

/** In the places where all formats look for it. */
function videoAt(task: TaskRecord, url: string): VideoResult {
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
