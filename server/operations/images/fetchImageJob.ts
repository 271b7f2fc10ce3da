import type { Handler } from '../../http/handler.ts';
import { renderImageJob } from '../../providers/imgjob/render-image-job.ts';
import { linksFor } from '../../providers/links-for.ts';
import { readImageJob } from './image-jobs.ts';

/** An image job as it is now. */
export const fetchImageJob: Handler<'fetchImageJob'> = async (request, reply) => {
  reply.json(200, renderImageJob(await readImageJob(request, request.path.id, 'id'), linksFor(request)));
};
