import type { components } from '../../generated/http.ts';
import type { NativeRecord } from '../providers/native/tasks.ts';
import type { VideoFacts, VideoResult } from '../providers/video.ts';
import type { TaskRecord } from '../store/queries/tasks.ts';
import { taskCanceled } from '../tasks/driver.ts';

type Schemas = components['schemas'];
type NativeOutput = NonNullable<NativeRecord['output']>;

/** What the create calls of native tasks answer. */
export function submittedTask({ id }: TaskRecord, requestId: string): Schemas['NativeTaskSubmittedReply'] {
  return { output: { task_id: id, task_status: 'PENDING' }, request_id: requestId };
}

/** A task as the native poll shows it. */
export function renderNativeTask(task: TaskRecord, requestId: string): Schemas['NativeTask'] {
  const { native: record = {} }: VideoResult = task.result ?? {};
  const { output = {}, usage }: NativeRecord = record;
  return {
    request_id: requestId,
    output: outputOf(task, output),
    ...(task.state === 'completed' && usage !== undefined ? { usage } : {}),
  };
}

function outputOf(task: TaskRecord, reported: NativeOutput): Schemas['NativeTaskOutput'] {
  const { id: task_id, state, error } = task;
  const { createdAt, startedAt, completedAt, updatedAt } = task;
  const begun = {
    task_id,
    submit_time: nativeTime(createdAt),
    ...(startedAt === null ? {} : { scheduled_time: nativeTime(startedAt) }),
  };
  const ended = { ...begun, end_time: nativeTime(completedAt ?? updatedAt) };
  switch (state) {
    case 'queued':
      return { ...begun, task_status: 'PENDING' };
    case 'in_progress':
      return { ...begun, task_status: 'RUNNING' };
    case 'completed':
      return { ...ended, ...madeOf(task, reported), task_status: 'SUCCEEDED' };
    case 'failed':
      return error?.code === taskCanceled.code
        ? { ...ended, task_status: 'CANCELED' }
        : { ...ended, ...(error ?? { code: '', message: '' }), task_status: 'FAILED' };
  }
}

function madeOf({ facts }: TaskRecord, { orig_prompt, actual_prompt, video_url, results }: NativeOutput) {
  const { prompt }: VideoFacts = facts;
  const asked = orig_prompt ?? prompt;
  return {
    ...(asked === undefined ? {} : { orig_prompt: asked }),
    ...(actual_prompt === undefined ? {} : { actual_prompt }),
    ...(video_url === undefined ? {} : { video_url }),
    ...(results === undefined ? {} : { results }),
  };
}

/** `YYYY-MM-DD HH:MM:SS.mmm` in UTC, of epoch milliseconds. */
function nativeTime(time: number): string {
  return new Date(time).toISOString().replace('T', ' ').replace('Z', '');
}
