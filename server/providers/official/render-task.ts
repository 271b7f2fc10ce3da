import type { components } from '../../../generated/http.ts';
import type { FileLinks } from '../../media/file-links.ts';
import type { TaskRecord } from '../../store/queries/tasks.ts';
import { taskCanceled, taskExpired } from '../../tasks/driver.ts';
import { publicFileUrls } from '../client-links.ts';
import { publicResult, queueOf, unixTime, withCharge } from '../video-task.ts';

type OfficialTask = components['schemas']['OfficialTask'];

/** Renders the official task object for poll, list and callbacks. All ids in it are public. */
export function renderOfficialTask(task: TaskRecord, links: FileLinks): OfficialTask {
  const status = officialStatus(task);
  const { video_url: url, native: reported } = publicResult(task, links);
  const native = publicContent(task, reported, links);
  const { draft_task_id, safety_identifier } = task.facts;
  return {
    ...(typeof safety_identifier === 'string' && { safety_identifier }),
    // Values of the provider override those of the request.
    ...withCharge(native, task),
    ...(typeof draft_task_id === 'string' && { draft_task_id }),
    ...queueOf(task),
    id: task.id,
    model: task.model,
    status,
    error: status === 'failed' ? task.error : null,
    ...(status === 'succeeded' && url !== undefined && filesOf(url, native)),
    created_at: unixTime(task.createdAt),
    updated_at: unixTime(task.updatedAt),
  };
}

export function officialStatus({ state, error }: TaskRecord): OfficialTask['status'] {
  if (state === 'queued') return 'queued';
  if (state === 'in_progress') return 'running';
  if (state === 'completed') return 'succeeded';
  if (error?.code === taskExpired.code) return 'expired';
  return error?.code === taskCanceled.code ? 'cancelled' : 'failed';
}

function publicContent(task: TaskRecord, native: OfficialTask | object = {}, links: FileLinks) {
  if (!('content' in native)) return native;
  return { ...native, content: publicFileUrls(native.content, ['last_frame_url', 'file_url'], task, links) };
}

function filesOf(url: string, native: OfficialTask | object) {
  const content = 'content' in native ? native.content : {};
  return { content: { ...content, video_url: url }, video_url: url, outputs: [url] };
}
