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
import { idField, objectField } from '../json.ts';
import { taskErrorFrom } from '../public-ids.ts';
import { invalidResponse, pollTask, requestTask, taskLost, unchanged } from '../task-request.ts';

type Output = Readonly<Record<string, unknown>>;

/** A kind of native task: its path and its result. */
export interface NativeTaskKind {
  path: string;
  /** Reads the result of a completed task. Undefined without one. */
  readResult(output: Output, answer: unknown): Omit<Finished, 'state'> | undefined;
}

type Finished = Extract<Snapshot, { state: 'completed' }>;

/** `native` of a `VideoResult`: stored fields for the native poll, without ids. */
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
const assumedProgress = 50;
const asyncHeaders = { 'X-Native-Async': 'enable' };
const failed: TaskError = { code: 'InternalError', message: 'The provider could not finish the task.' };

/** Creates the driver for a kind of task in the native protocol. All kinds have a common poll. */
export function nativeDriver({ path, readResult }: NativeTaskKind): TaskDriver {
  return {
    async submit(task, request, upstream): Promise<Submission> {
      const body = { model: upstream.channel.upstreamModel(task.model), ...request };
      const answer = await requestTask(upstream, { method: 'POST', path, headers: asyncHeaders, body });
      const upstreamId = idField(objectField(answer, 'output'), 'task_id');
      if (upstreamId === undefined) throw invalidResponse();
      return { upstreamId };
    },

    poll(task, upstream) {
      return pollTask(upstream, taskPath(task), (answer) => snapshot(task, answer, upstream, readResult));
    },

    async cancel(task, upstream) {
      await requestTask(upstream, { method: 'POST', path: `${taskPath(task)}/cancel` });
    },
  };
}

function snapshot(
  task: AcceptedTask,
  answer: unknown,
  { channel }: Upstream,
  readResult: NativeTaskKind['readResult'],
): Snapshot {
  const output = objectField(answer, 'output');
  if (output === undefined) throw invalidResponse();
  switch (output.task_status) {
    case 'PENDING':
    case 'SUSPENDED':
      return { state: 'queued' };
    case 'RUNNING':
      return { state: 'in_progress', progress: assumedProgress };
    case 'SUCCEEDED': {
      const result = readResult(output, answer);
      return result === undefined ? { state: 'failed', error: failed } : { state: 'completed', ...result };
    }
    case 'FAILED':
      return { state: 'failed', error: taskErrorFrom(task, channel, output, failed) };
    case 'CANCELED':
      return { state: 'failed', error: taskCanceled };
    case 'UNKNOWN':
      return { state: 'failed', error: taskLost };
    default:
      return unchanged(task);
  }
}

function taskPath({ upstreamId }: AcceptedTask): string {
  return `/api/v1/tasks/${encodeURIComponent(upstreamId)}`;
}
