import type { Handler } from '../../http/handler.ts';
import { viewerOf } from '../../keys/caller.ts';
import { linksFor } from '../../providers/client-links.ts';
import { renderImageJob } from '../../providers/imgjob/render-image-job.ts';

/** Returns the caller's image jobs with the given ids. */
export const listImageJobs: Handler<'listImageJobs'> = async (request, reply) => {
  const { gateway, caller, body } = request;
  const links = linksFor(request);
  const ids = [...new Set(body.ids)];
  const tasks = await gateway.tasks.readAll({ ids, ...viewerOf(caller), format: 'image' });
  const jobs = new Map(tasks.map((task) => [task.id, renderImageJob(task, links)]));
  reply.json(
    200,
    ids.flatMap((id) => jobs.get(id) ?? []),
  );
};
