import type { components } from '../../../generated/http.ts';
import type { TaskError } from '../../lib/failure.ts';
import {
  type AcceptedTask,
  type Snapshot,
  type Submission,
  type TaskDriver,
  taskCanceled,
  type Upstream,
} from '../../tasks/driver.ts';
import { askForTask, badAnswer, pollForTask, taskLost } from '../ask-for-task.ts';
import { idField, objectField } from '../json.ts';
import { reportedError } from '../public-ids.ts';

type Output = Readonly<Record<string, unknown>>;

/** What one kind of native task makes: its path, and what a finished one brings. */
export interface NativeWork {
  path: string;
  /** Undefined: the answer has no result. */
  finished(output: Output, answer: unknown): Omit<Finished, 'state'> | undefined;
}

type Finished = Extract<Snapshot, { state: 'completed' }>;

/** What is kept of a native answer for the native poll: `native` of a `VideoResult`, without ids. */
export interface NativeRecord {
  output?: {
    orig_prompt?: string;
    actual_prompt?: string;
    video_url?: string;
    results?: components['schemas']['Model3dResults'];
  };
  usage?: components['schemas']['GammaUsage'];
}

/** The protocol reports no progress. */
const halfway = 50;
const asynchronous = { 'X-Native-Async': 'enable' };
const failed: TaskError = { code: 'InternalError', message: 'The provider could not finish the task.' };

/** Tasks in the native protocol, which differ in how they are made and what they bring; the polls are one. */
export function nativeDriver({ path, finished }: NativeWork): TaskDriver {
  return {
    async submit(task, request, upstream): Promise<Submission> {
      const body = { model: upstream.channel.upstreamModel(task.model), ...request };
      const answer = await askForTask(upstream, { method: 'POST', path, headers: asynchronous, body });
      const upstreamId = idField(objectField(answer, 'output'), 'task_id');
      if (upstreamId === undefined) throw badAnswer();
      return { upstreamId };
    },

    poll(task, upstream) {
      return pollForTask(upstream, taskPath(task), (answer) => snapshot(task, answer, upstream, finished));
    },

    async cancel(task, upstream) {
      await askForTask(upstream, { method: 'POST', path: `${taskPath(task)}/cancel` });
    },
  };
}

function snapshot(
  task: AcceptedTask,
  answer: unknown,
  { channel }: Upstream,
  finished: NativeWork['finished'],
): Snapshot {
  const output = objectField(answer, 'output');
  if (output === undefined) throw badAnswer();
  switch (output.task_status) {
    case 'PENDING':
    case 'SUSPENDED':
      return { state: 'queued' };
    case 'RUNNING':
      return { state: 'in_progress', progress: halfway };
    case 'SUCCEEDED': {
      const done = finished(output, answer);
      return done === undefined ? { state: 'failed', error: failed } : { state: 'completed', ...done };
    }
    case 'FAILED':
      return { state: 'failed', error: reportedError(task, channel, output, failed) };
    case 'CANCELED':
      return { state: 'failed', error: taskCanceled };
    case 'UNKNOWN':
      return { state: 'failed', error: taskLost };
    default:
      // A state that nobody knows is not the end.
      return { state: task.state === 'in_progress' ? 'in_progress' : 'queued' };
  }
}

function taskPath({ upstreamId }: AcceptedTask): string {
  return `/api/v1/tasks/${encodeURIComponent(upstreamId)}`;
}
