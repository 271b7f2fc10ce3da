import type { components } from '../../../generated/http.ts';
import type { FileLinks } from '../../media/file-links.ts';
import type { TaskRecord } from '../../store/queries/tasks.ts';
import type { VideoFacts } from '../video.ts';
import { publicResult, unixTime } from '../video-task.ts';
import { renderOfficialTask } from './render-task.ts';

type FamilyRecord = components['schemas']['FamilyRecord'];
type Status = FamilyRecord['data']['status'];

export function renderFamilyRecord(task: TaskRecord, links: FileLinks): FamilyRecord {
  const { id, error } = task;
  const { prompt }: VideoFacts = task.facts;
  const { video_url } = publicResult(task, links);
  const status = recordStatus(task);
  return {
    code: 'success',
    message: '',
    data: {
      task_id: id,
      status,
      ...(status === 'SUCCESS' && video_url !== undefined && { result_url: video_url }),
      ...(status === 'FAILURE' && { fail_reason: error?.message ?? '' }),
      progress: `${progressOf(task)}%`,
      submit_time: unixTime(task.createdAt),
      start_time: unixTime(task.startedAt),
      finish_time: unixTime(task.completedAt),
      created_at: unixTime(task.createdAt),
      updated_at: unixTime(task.updatedAt),
      action: 'generate',
      platform: 'seedance',
      ...(prompt !== undefined && { properties: { input: prompt } }),
      data: renderOfficialTask(task, links),
    },
  };
}

export function recordStatus({ state, upstreamId }: TaskRecord): Status {
  if (state === 'completed') return 'SUCCESS';
  if (state === 'failed') return 'FAILURE';
  if (state === 'in_progress') return 'IN_PROGRESS';
  return upstreamId === null ? 'SUBMITTED' : 'QUEUED';
}

/** Percent in steps, because the provider reports no progress. */
function progressOf({ state, progress }: TaskRecord): number {
  if (state === 'completed' || state === 'failed') return 100;
  return Math.max(progress, state === 'queued' ? 10 : 50);
}
