import { imageModel, readImageJob, startImageJob } from '../../calls/image-jobs.ts';
import { findRepeatedTask } from '../../calls/start-task.ts';
import type { Handler } from '../../http/handler.ts';
import { invalid } from '../../lib/failure.ts';
import { actionOf, type ImageFacts } from '../../providers/imgjob/image-job.ts';
import { imageFacts, imageResult, renderSubmitted } from '../../providers/imgjob/render-image-job.ts';
import type { TaskRecord } from '../../store/queries/tasks.ts';

/** Presses a button of a finished job. This creates a new job at the provider of the first one. */
export const submitImageAction: Handler<'submitImageAction'> = async (request, reply) => {
  const { notifyHook, state, taskId, ...rest } = request.body;
  const { customId } = rest;
  const model = imageModel(request);
  let source: TaskRecord;
  try {
    source = await readImageJob(request, taskId, 'taskId');
  } catch (error) {
    const earlier = await findRepeatedTask(request, 'submitImageAction', { model, format: 'image' });
    if (earlier === undefined) throw error;
    reply.json(200, renderSubmitted(earlier));
    return;
  }
  const upstreamId = requireButton(source, customId);
  const { prompt } = imageFacts(source);
  const facts: ImageFacts = {
    action: actionOf(customId),
    custom_id: customId,
    ...(prompt !== undefined && { prompt }),
    ...(state !== undefined && { state }),
  };
  const task = await startImageJob(request, 'submitImageAction', {
    model,
    body: { ...rest, taskId: upstreamId },
    facts,
    notifyHook,
    source: { channel: source.channel, field: 'taskId', id: taskId },
    clientRequest: request.body,
  });
  reply.json(200, renderSubmitted(task));
};

/**
 * Returns the provider's id of a job that shows the button. Other buttons could belong to jobs of other users.
 *
 * @throws Failure 400 when the job is not finished or does not show the button
 */
function requireButton(source: TaskRecord, customId: string): string {
  const { state, upstreamId } = source;
  if (state === 'failed') throw invalid('taskId', 'the job has failed and has no buttons.');
  if (state !== 'completed' || upstreamId === null)
    throw invalid(
      'taskId',
      'the job has no buttons yet; query it until it is finished.',
      'task_not_completed',
    );
  const { buttons = [] } = imageResult(source);
  if (!buttons.some((button) => button.customId === customId))
    throw invalid('customId', 'is no button of this job; use one that the job shows.');
  return upstreamId;
}
