import type { components } from '../../generated/http.ts';
import type { FileLinks } from '../media/file-links.ts';
import type { TaskRecord } from '../store/queries/tasks.ts';
import { shownFiles } from './links-for.ts';
import type { VideoFacts, VideoResult } from './video.ts';

export type VideoTask = components['schemas']['VideoTask'];

/** The generic task object: what create and poll tell of a task of any model. */
export function renderVideoTask(task: TaskRecord, links: FileLinks): VideoTask {
  const { id, state, error } = task;
  const facts: VideoFacts = task.facts;
  const result = shownResult(task, links);
  const completed = state === 'completed';
  const seconds = lengthOf(facts, result);
  const size = facts.size ?? result.metadata?.resolution;
  return {
    id,
    task_id: id,
    object: 'video',
    status: state,
    model: task.model,
    progress: task.progress,
    created_at: unixTime(task.createdAt),
    updated_at: unixTime(task.updatedAt),
    ...(task.completedAt === null ? {} : { completed_at: unixTime(task.completedAt) }),
    ...(completed && task.expiresAt !== null ? { expires_at: unixTime(task.expiresAt) } : {}),
    ...(seconds === undefined ? {} : { seconds }),
    ...(size === undefined ? {} : { size }),
    ...(completed ? filesOf(id, result, links.baseUrl) : {}),
    ...(result.metadata === undefined ? {} : { metadata: result.metadata }),
    error,
  };
}

/** What the driver keeps of the video; every driver of a video model keeps this. */
export function videoResult({ result }: TaskRecord): VideoResult {
  return result ?? {};
}

/** The same with the addresses that a client is shown. An address under the operator's own host name stays. */
export function shownResult(task: TaskRecord, links: FileLinks): VideoResult {
  const { metadata, ...result } = videoResult(task);
  return {
    ...result,
    ...(result.source_url === undefined && shownFiles(result, ['video_url'], task, links)),
    ...(metadata !== undefined && {
      metadata: { ...metadata, ...shownFiles(metadata, ['url', 'last_frame_url'], task, links) },
    }),
  };
}

/** As the client asked; where the model chose, as long as the video is. */
function lengthOf({ seconds }: VideoFacts, { metadata }: VideoResult): string | undefined {
  if (seconds !== undefined && seconds !== '-1') return seconds;
  return metadata?.duration === undefined ? seconds : String(metadata.duration);
}

function filesOf(id: string, { video_url: url, metadata }: VideoResult, address: string | undefined) {
  if (url === undefined) return {};
  const frame = metadata?.last_frame_url;
  return {
    url,
    video_url: url,
    ...(address === undefined ? {} : { content_url: `${address}/v1/videos/${id}/content` }),
    output: [
      { type: 'video' as const, url },
      ...(frame === undefined ? [] : [{ type: 'last_frame' as const, url: frame }]),
    ],
  };
}

/** Whole seconds of epoch milliseconds. */
export function unixTime(ms: number): number {
  return Math.floor(ms / 1000);
}
