import type { components } from '../../generated/http.ts';
import { defined } from '../lib/json.ts';
import type { FileLinks } from '../media/file-links.ts';
import type { TaskRecord } from '../store/queries/tasks.ts';
import { publicFileUrls } from './client-links.ts';
import type { VideoFacts, VideoResult } from './video.ts';

export type VideoTask = components['schemas']['VideoTask'];

/** Renders the generic task object, which create and poll return for every model. */
export function renderVideoTask(task: TaskRecord, links: FileLinks): VideoTask {
  const { id, state, error } = task;
  const facts: VideoFacts = task.facts;
  const result = publicResult(task, links);
  const completed = state === 'completed';
  const seconds = secondsOf(facts, result);
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
    ...(task.completedAt !== null && { completed_at: unixTime(task.completedAt) }),
    ...(completed && task.expiresAt !== null && { expires_at: unixTime(task.expiresAt) }),
    ...defined({ seconds, size }),
    ...(completed && filesOf(id, result, links.baseUrl)),
    ...defined({ metadata: result.metadata }),
    ...queueOf(task),
    error,
  };
}

/** The place of a waiting task in its queue, as every format renders it. */
export function queueOf({ queue }: Pick<TaskRecord, 'queue'>): {
  queue?: components['schemas']['TaskQueue'];
} {
  if (queue === undefined) return {};
  const { position, estimatedStartAt: at } = queue;
  return { queue: { position, ...(at !== null && { estimated_start_at: unixTime(at) }) } };
}

export function videoResult({ result }: TaskRecord): VideoResult {
  return result ?? {};
}

/** Returns the fields with the charge of a completed task in their usage. */
export function withCharge<Fields extends { usage?: object }>(fields: Fields, task: TaskRecord): Fields {
  const { usage } = chargeOf(task);
  return usage === undefined ? fields : { ...fields, usage: { ...fields.usage, ...usage } };
}

/** Returns the charge of a completed task, as every format renders it. */
export function chargeOf({ state, charged }: TaskRecord): { usage?: { cost: number } } {
  return state === 'completed' && charged !== null ? { usage: { cost: charged } } : {};
}

/** The result with URLs for the client. A URL under the operator's own domain stays. */
export function publicResult(task: TaskRecord, links: FileLinks): VideoResult {
  const { metadata: reported, ...result } = videoResult(task);
  const { usage = reported } = chargeOf(task);
  const metadata = usage && withCharge({ ...reported }, task);
  return {
    ...result,
    ...(result.source_url === undefined && publicFileUrls(result, ['video_url'], task, links)),
    ...(metadata !== undefined && {
      metadata: {
        ...metadata,
        ...publicFileUrls(metadata, ['url', 'last_frame_url'], task, links),
      },
    }),
  };
}

/** The requested seconds, or the length of the video if the model chose it. */
function secondsOf({ seconds }: VideoFacts, { metadata }: VideoResult): string | undefined {
  if (seconds !== undefined && seconds !== '-1') return seconds;
  return metadata?.duration === undefined ? seconds : String(metadata.duration);
}

function filesOf(id: string, { video_url: url, metadata }: VideoResult, baseUrl: string | undefined) {
  if (url === undefined) return {};
  const frame = metadata?.last_frame_url;
  return {
    url,
    video_url: url,
    ...(baseUrl !== undefined && { content_url: `${baseUrl}/v1/videos/${id}/content` }),
    output: [
      { type: 'video' as const, url },
      ...(frame === undefined ? [] : [{ type: 'last_frame' as const, url: frame }]),
    ],
  };
}

export function unixTime(ms: number | null): number {
  return Math.floor((ms ?? 0) / 1000);
}
