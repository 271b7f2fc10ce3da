import { Failure, type TaskError } from '../../lib/failure.ts';
import {
  type AcceptedTask,
  DriverError,
  type Snapshot,
  type TaskDriver,
  taskCanceled,
  taskExpired,
  type Upstream,
} from '../../tasks/driver.ts';
import { askForTask, badAnswer, pollForTask } from '../ask-for-task.ts';
import { countField, field, idField } from '../json.ts';
import { reportedError } from '../public-ids.ts';
import { readSnapshot, secondsOf } from './snapshot.ts';

/** The protocol reports no progress. */
const halfway = 50;
const path = '/api/v3/contents/generations/tasks';
const failed: TaskError = { code: 'video_generation_failed', message: 'The provider made no video.' };

/** Video tasks in the official protocol of the Seedance family. */
export const officialDriver: TaskDriver = {
  async submit(task, request, upstream) {
    const model = upstream.channel.upstreamModel(task.model);
    const body = { model, ...request };
    const upstreamId = idField(await askForTask(upstream, { method: 'POST', path, body }), 'id');
    if (upstreamId === undefined) throw badAnswer();
    return { upstreamId };
  },

  poll(task, upstream) {
    return pollForTask(upstream, pathOf(task), (answer) => snapshot(task, answer, upstream));
  },

  async cancel(task, upstream) {
    // The same call removes a finished task, and with it a result that was paid for.
    const { state } = await pollForTask(upstream, pathOf(task), (answer) => snapshot(task, answer, upstream));
    if (state === 'completed') throw tooLate();
    await askForTask(upstream, { method: 'DELETE', path: pathOf(task) });
  },
};

function tooLate(): DriverError {
  return new DriverError('rejected', new Failure(400, 'UnsupportedOperation', 'The task is done already.'));
}

function pathOf({ upstreamId }: AcceptedTask): string {
  return `${path}/${encodeURIComponent(upstreamId)}`;
}

/** What an answer says; a state that nobody knows changes nothing. */
function snapshot(task: AcceptedTask, answer: unknown, { channel }: Upstream): Snapshot {
  const status = field(answer, 'status');
  const result = { ...readSnapshot(answer) };
  switch (status) {
    case 'queued':
      return { state: 'queued', result };
    case 'running':
      return { state: 'in_progress', progress: halfway, result };
    case 'succeeded':
      if (result.video_url === undefined) return { state: 'failed', error: failed, result };
      return { state: 'completed', result, ...usageOf(answer) };
    case 'failed':
      return { state: 'failed', error: reportedError(task, channel, field(answer, 'error'), failed), result };
    case 'expired':
      return { state: 'failed', error: taskExpired, result };
    case 'cancelled':
      return { state: 'failed', error: taskCanceled, result };
    default:
      return { state: task.state === 'in_progress' ? 'in_progress' : 'queued' };
  }
}

/** Undefined parts are not reported: what was reserved is charged then. */
function usageOf(answer: unknown) {
  const units = secondsOf(answer);
  if (units === undefined) return {};
  const outputTokens = countField(field(answer, 'usage'), 'completion_tokens');
  return { usage: { units, ...(outputTokens !== undefined && { outputTokens }) } };
}
