import { readImageJob } from '../../calls/image-jobs.ts';
import type { Handler } from '../../http/handler.ts';
import { linksFor } from '../../providers/client-links.ts';
import { renderImageJob } from '../../providers/imgjob/render-image-job.ts';

/** Returns the current state of an image job. */
export const fetchImageJob: Handler<'fetchImageJob'> = async (request, reply) => {
  reply.json(200, renderImageJob(await readImageJob(request, request.path.id, 'id'), linksFor(request)));
};
