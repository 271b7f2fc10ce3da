import { viewerOf } from '../../accounts/caller.ts';
import { linksFor } from '../../formats/links-for.ts';
import { renderMusicTask } from '../../formats/music.ts';
import type { Handler } from '../../http/handler.ts';

/** Those of the named tasks that are the caller's. */
export const fetchMusicTasks: Handler<'fetchMusicTasks'> = async (request, reply) => {
  const { gateway, caller, body } = request;
  const ids = [...new Set(body.ids)];
  const tasks = await gateway.tasks.readAll({ ids, ...viewerOf(caller), format: 'music' });
  const records = tasks.map((task) => renderMusicTask(task, linksFor(request)));
  const data = records.filter(({ action }) => body.action === undefined || action === body.action);
  reply.json(200, { code: 'success', message: '', data });
};
