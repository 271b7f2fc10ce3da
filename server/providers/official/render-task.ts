import type { components } from '../../../generated/http.ts';
import type { FileLinks } from '../../media/file-links.ts';
import type { TaskRecord } from '../../store/queries/tasks.ts';
import { taskCanceled, taskExpired } from '../../tasks/driver.ts';
import { shownFiles } from '../links-for.ts';
import { shownResult, unixTime } from '../video-task.ts';

type OfficialTask = components['schemas']['OfficialTask'];

/** The official task object: what poll, list and callbacks show. All ids in it are the gateway's own. */
export function renderOfficialTask(task: TaskRecord, links: FileLinks): OfficialTask {
  const status = officialStatus(task);
  const { video_url: url, native: reported } = shownResult(task, links);
  const native = shownContent(task, reported, links);
  const { draft_task_id, safety_identifier } = task.facts;
  return {
    ...(typeof safety_identifier === 'string' && { safety_identifier }),
    // What the provider reports wins over what was asked for.
    ...native,
    ...(typeof draft_task_id === 'string' && { draft_task_id }),
    id: task.id,
    model: task.model,
    status,
    error: status === 'failed' ? task.error : null,
    ...(status === 'succeeded' && url !== undefined && filesOf(url, native)),
    created_at: unixTime(task.createdAt),
    updated_at: unixTime(task.updatedAt),
  };
}

/** The task's state in the official words. */
export function officialStatus({ state, error }: TaskRecord): OfficialTask['status'] {
  if (state === 'queued') return 'queued';
  if (state === 'in_progress') return 'running';
  if (state === 'completed') return 'succeeded';
  if (error?.code === taskExpired.code) return 'expired';
  return error?.code === taskCanceled.code ? 'cancelled' : 'failed';
}

/** The files beside the video. */
function shownContent(task: TaskRecord, native: OfficialTask | object = {}, links: FileLinks) {
  if (!('content' in native)) return native;
  return { ...native, content: shownFiles(native.content, ['last_frame_url', 'file_url'], task, links) };
}

/** The address of the video in all the places where clients look for it. */
function filesOf(url: string, native: OfficialTask | object) {
  const content = 'content' in native ? native.content : {};
  return { content: { ...content, video_url: url }, video_url: url, outputs: [url] };
}
