import { renderImageJob } from '../../formats/image-job.ts';
import { linksFor } from '../../formats/links-for.ts';
import type { Handler } from '../../http/handler.ts';

/** The caller's image jobs among some ids. */
export const listImageJobs: Handler<'listImageJobs'> = async (request, reply) => {
  const { gateway, caller, body } = request;
  const links = linksFor(request);
  const names = [...new Set(body.ids)].map((id) => ({ id, userId: caller.userId, format: 'image' as const }));
  const jobs = await Promise.all(names.map((name) => gateway.tasks.read(name)));
  reply.json(
    200,
    jobs.flatMap((job) => (job === undefined ? [] : [renderImageJob(job, links)])),
  );
};
