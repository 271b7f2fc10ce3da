import { readImageJob } from '../../calls/image-jobs.ts';
import type { Handler } from '../../http/handler.ts';
import { type Failure, invalid } from '../../lib/failure.ts';
import { imageResult } from '../../providers/imgjob/render-image-job.ts';
import { checkCallbackUrl } from '../../tasks/callbacks/callback-url.ts';

/** Sends the mask and prompt that a job waits for. The same job continues. */
export const submitImageModal: Handler<'submitImageModal'> = async (request, reply) => {
  const { gateway, body } = request;
  const { notifyHook, state, taskId, ...rest } = body;
  const task = await readImageJob(request, taskId, 'taskId');
  const { upstreamId, facts } = task;
  if (upstreamId === null || !imageResult(task).waiting) throw notWaiting();
  const callbackUrl =
    notifyHook === undefined
      ? undefined
      : checkCallbackUrl(notifyHook, 'notifyHook', gateway.settings.callbacks);
  const prompt = rest.prompt === undefined ? {} : { prompt: rest.prompt };
  const resumed = await gateway.tasks.resume(
    { ...task, upstreamId },
    {
      request: rest,
      facts: { ...facts, ...prompt, ...(state !== undefined && { state }) },
      ...(callbackUrl !== undefined && { callbackUrl }),
    },
  );
  if (resumed === undefined) throw notWaiting();
  reply.json(200, { code: 1, description: 'Submit success', result: resumed.id, properties: {} });
};

function notWaiting(): Failure {
  return invalid('taskId', 'the job does not wait for input; press its button first, and call this once.');
}
