import type { Handler } from '../../http/handler.ts';
import { viewerOf } from '../../keys/caller.ts';
import { linksFor } from '../../providers/client-links.ts';
import { renderMusicTask } from '../../providers/sigma/render-music.ts';

/** Returns the caller's tasks with the given ids. */
export const fetchMusicTasks: Handler<'fetchMusicTasks'> = async (request, reply) => {
  const { gateway, caller, body } = request;
  const ids = [...new Set(body.ids)];
  const tasks = await gateway.tasks.readAll({ ids, ...viewerOf(caller), format: 'music' });
  const records = tasks.map((task) => renderMusicTask(task, linksFor(request)));
  const data = records.filter(({ action }) => body.action === undefined || action === body.action);
  reply.json(200, { code: 'success', message: '', data });
};
