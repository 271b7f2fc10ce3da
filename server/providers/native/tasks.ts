import type { components } from '../../../generated/http.ts';
import type { TaskError } from '../../lib/failure.ts';
import { idField, objectField } from '../../lib/json.ts';
import { type AcceptedTask, type Snapshot, type TaskDriver, taskCanceled } from '../../tasks/driver.ts';
import { taskErrorFrom } from '../public-ids.ts';
import { invalidResponse, requestTask, taskDriver, taskLost, unchanged } from '../task-request.ts';

export interface NativeTaskKind {
  path: string;
  /** Reads the result of a completed task. Undefined without one. */
  readResult(output: Readonly<Record<string, unknown>>, answer: unknown): NativeResult | undefined;
}

type NativeResult = Omit<Extract<Snapshot, { state: 'completed' }>, 'state'>;

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
const failed: TaskError = { code: 'InternalError', message: 'The provider could not finish the task.' };
const taskPath = ({ upstreamId }: AcceptedTask) => `/api/v1/tasks/${encodeURIComponent(upstreamId)}`;

/** Creates the driver for a kind of task in the native protocol. All kinds have a common poll. */
export function nativeDriver({ path, readResult }: NativeTaskKind): TaskDriver {
  const driver = taskDriver({
    createPath: () => path,
    createHeaders: { 'X-Native-Async': 'enable' },
    readId: (answer) => idField(objectField(answer, 'output'), 'task_id'),
    taskPath,
    readTask(answer, task, channel) {
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
          if (result === undefined) return { state: 'failed', error: failed };
          return { state: 'completed', ...result };
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
    },
  });
  return {
    ...driver,
    async cancel(task, upstream) {
      await requestTask(upstream, { method: 'POST', path: `${taskPath(task)}/cancel` });
    },
  };
}
