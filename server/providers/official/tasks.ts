import { Failure, type TaskError } from '../../lib/failure.ts';
import {
  type AcceptedTask,
  type Snapshot,
  type TaskDriver,
  taskCanceled,
  taskExpired,
  type Upstream,
} from '../../tasks/driver.ts';
import { countField, defined, field, idField } from '../json.ts';
import { taskErrorFrom } from '../public-ids.ts';
import { invalidResponse, pollTask, rejected, requestTask, unchanged } from '../task-request.ts';
import { readSnapshot, secondsOf } from './snapshot.ts';

/** The protocol reports no progress. */
const assumedProgress = 50;
const path = '/api/v3/contents/generations/tasks';
const failed: TaskError = { code: 'video_generation_failed', message: 'The provider made no video.' };

/** Video tasks in the official protocol of the Seedance family. */
export const officialDriver: TaskDriver = {
  async submit(task, request, upstream) {
    const model = upstream.channel.upstreamModel(task.model);
    const body = { model, ...request };
    const upstreamId = idField(await requestTask(upstream, { method: 'POST', path, body }), 'id');
    if (upstreamId === undefined) throw invalidResponse();
    return { upstreamId };
  },

  poll(task, upstream) {
    return pollTask(upstream, pathOf(task), (answer) => snapshot(task, answer, upstream));
  },

  async cancel(task, upstream) {
    // The same call would delete a finished task and its paid result.
    const { state } = await pollTask(upstream, pathOf(task), (answer) => snapshot(task, answer, upstream));
    if (state === 'completed')
      throw rejected(new Failure(400, 'UnsupportedOperation', 'The task has already ended.'));
    await requestTask(upstream, { method: 'DELETE', path: pathOf(task) });
  },
};

function pathOf({ upstreamId }: AcceptedTask): string {
  return `${path}/${encodeURIComponent(upstreamId)}`;
}

function snapshot(task: AcceptedTask, answer: unknown, { channel }: Upstream): Snapshot {
  const status = field(answer, 'status');
  const result = { ...readSnapshot(answer) };
  switch (status) {
    case 'queued':
      return { state: 'queued', result };
    case 'running':
      return { state: 'in_progress', progress: assumedProgress, result };
    case 'succeeded':
      if (result.video_url === undefined) return { state: 'failed', error: failed, result };
      return { state: 'completed', result, ...usageOf(answer) };
    case 'failed':
      return { state: 'failed', error: taskErrorFrom(task, channel, field(answer, 'error'), failed), result };
    case 'expired':
      return { state: 'failed', error: taskExpired, result };
    case 'cancelled':
      return { state: 'failed', error: taskCanceled, result };
    default:
      return unchanged(task);
  }
}

/** Reads the usage. Without one, the reserved units are charged. */
function usageOf(answer: unknown) {
  const units = secondsOf(answer);
  if (units === undefined) return {};
  const outputTokens = countField(field(answer, 'usage'), 'completion_tokens');
  return { usage: { units, ...defined({ outputTokens }) } };
}
