import { Failure, type TaskError } from '../../lib/failure.ts';
import { countField, field, idField } from '../../lib/json.ts';
import {
  type AcceptedTask,
  type ProviderReport,
  type TaskDriver,
  taskCanceled,
  taskExpired,
} from '../../tasks/driver.ts';
import { taskErrorFrom } from '../public-ids.ts';
import { rejected, requestTask, taskDriver, unchanged } from '../task-request.ts';
import { videoUsage } from '../video.ts';
import { videoReport } from '../video-report.ts';
import { possibleValues } from '../video-values.ts';
import { readSnapshot, secondsOf } from './snapshot.ts';

/** The protocol reports no progress. */
const assumedProgress = 50;
const path = '/api/v3/contents/generations/tasks';
const failed: TaskError = { code: 'video_generation_failed', message: 'The provider made no video.' };

const taskPath = ({ upstreamId }: AcceptedTask) => `${path}/${encodeURIComponent(upstreamId)}`;

const driver = taskDriver({
  createPath: () => path,
  readId: (answer) => idField(answer, 'id'),
  taskPath,
  readTask(answer, task, channel) {
    const result = { ...readSnapshot(answer) };
    switch (field(answer, 'status')) {
      case 'queued':
        return { state: 'queued', result };
      case 'running':
        return { state: 'in_progress', progress: assumedProgress, result };
      case 'succeeded':
        if (result.video_url === undefined) return { state: 'failed', error: failed, result };
        return {
          state: 'completed',
          result,
          ...videoUsage(secondsOf(answer), countField(field(answer, 'usage'), 'completion_tokens')),
          ...reportOf(answer, task.model),
        };
      case 'failed': {
        const error = taskErrorFrom(task, channel, field(answer, 'error'), failed);
        return { state: 'failed', error, result };
      }
      case 'expired':
        return { state: 'failed', error: taskExpired, result };
      case 'cancelled':
        return { state: 'failed', error: taskCanceled, result };
      default:
        return unchanged(task);
    }
  },
});

function reportOf(answer: unknown, model: string): { report?: ProviderReport } {
  return videoReport(possibleValues({ id: model, protocols: ['official'] }), {
    resolution: field(answer, 'resolution'),
    size: field(answer, 'size'),
    ratio: field(answer, 'ratio'),
    audio: field(answer, 'generate_audio'),
    duration: field(answer, 'duration'),
  });
}

/** Video tasks in the official protocol of the Seedance family. */
export const officialDriver: TaskDriver = {
  ...driver,

  async cancel(task, upstream) {
    // The same call would delete a finished task and its paid result.
    const { state } = await driver.poll(task, upstream);
    if (state === 'completed')
      throw rejected(new Failure(400, 'UnsupportedOperation', 'The task has already ended.'));
    await requestTask(upstream, { method: 'DELETE', path: taskPath(task) });
  },
};
