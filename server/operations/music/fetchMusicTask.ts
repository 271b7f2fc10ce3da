import { readTask } from '../../calls/read-task.ts';
import type { Handler } from '../../http/handler.ts';
import { linksFor } from '../../providers/client-links.ts';
import { renderMusicTask } from '../../providers/sigma/render-music.ts';

/** Returns a music or lyrics task of either format. */
export const fetchMusicTask: Handler<'fetchMusicTask'> = async (request, reply) => {
  const data = renderMusicTask(await readTask(request, 'music'), linksFor(request));
  reply.json(200, { code: 'success', message: '', data });
};
