import { imageModel, startImageJob } from '../../calls/image-jobs.ts';
import type { Handler } from '../../http/handler.ts';
import type { ImageFacts } from '../../providers/imgjob/image-job.ts';
import { renderSubmitted } from '../../providers/imgjob/render-image-job.ts';

/** Creates a grid of images from a prompt. */
export const submitImagine: Handler<'submitImagine'> = async (request, reply) => {
  const { notifyHook, state, ...body } = request.body;
  const facts: ImageFacts = { action: 'IMAGINE', prompt: body.prompt, ...(state !== undefined && { state }) };
  const task = await startImageJob(request, 'submitImagine', {
    model: imageModel(request),
    body,
    facts,
    notifyHook,
  });
  reply.json(200, renderSubmitted(task));
};
