import type { components } from '../../../generated/http.ts';
import { defined } from '../../lib/json.ts';
import type { FileLinks } from '../../media/file-links.ts';
import type { TaskRecord } from '../../store/queries/tasks.ts';
import { taskCanceled } from '../../tasks/driver.ts';
import { publicFileUrls } from '../client-links.ts';
import type { VideoFacts, VideoResult } from '../video.ts';
import { queueOf, withCharge } from '../video-task.ts';
import { modelFiles } from './model3d.ts';
import type { NativeRecord } from './tasks.ts';

type Schemas = components['schemas'];
type NativeOutput = NonNullable<NativeRecord['output']>;

export function submittedTask({ id }: TaskRecord, requestId: string): Schemas['NativeTaskSubmittedReply'] {
  return { output: { task_id: id, task_status: 'PENDING' }, request_id: requestId };
}

export function renderNativeTask(
  task: TaskRecord,
  requestId: string,
  links: FileLinks,
): Schemas['NativeTask'] {
  const { native: record = {} }: VideoResult = task.result ?? {};
  const { output = {}, usage }: NativeRecord = record;
  return {
    request_id: requestId,
    output: outputOf(task, output, links),
    ...withCharge(defined({ usage: task.state === 'completed' ? usage : undefined }), task),
  };
}

function outputOf(task: TaskRecord, reported: NativeOutput, links: FileLinks): Schemas['NativeTaskOutput'] {
  const { id: task_id, state, error } = task;
  const { createdAt, startedAt, completedAt, updatedAt } = task;
  const common = {
    task_id,
    submit_time: millisecondTime(createdAt),
    ...(startedAt !== null && { scheduled_time: millisecondTime(startedAt) }),
  };
  const ended = { ...common, end_time: millisecondTime(completedAt ?? updatedAt) };
  switch (state) {
    case 'queued':
      return { ...common, ...queueOf(task), task_status: 'PENDING' };
    case 'in_progress':
      return { ...common, task_status: 'RUNNING' };
    case 'completed':
      return { ...ended, ...resultOf(task, reported, links), task_status: 'SUCCEEDED' };
    case 'failed':
      return error?.code === taskCanceled.code
        ? { ...ended, task_status: 'CANCELED' }
        : { ...ended, ...(error ?? { code: '', message: '' }), task_status: 'FAILED' };
  }
}

function resultOf(task: TaskRecord, output: NativeOutput, links: FileLinks) {
  const { orig_prompt, actual_prompt, results } = output;
  const { prompt }: VideoFacts = task.facts;
  return {
    ...defined({ orig_prompt: orig_prompt ?? prompt, actual_prompt }),
    ...publicFileUrls(output, ['video_url'], task, links),
    ...(results && { results: publicFileUrls(results, modelFiles, task, links) }),
  };
}

/** Formats epoch milliseconds as `YYYY-MM-DD HH:MM:SS.mmm` in UTC. */
function millisecondTime(time: number): string {
  return new Date(time).toISOString().replace('T', ' ').replace('Z', '');
}
