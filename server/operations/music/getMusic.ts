import { readTask } from '../../calls/read-task.ts';
import type { Handler } from '../../http/handler.ts';
import { linksFor } from '../../providers/client-links.ts';
import { renderMusicState } from '../../providers/sigma/render-music.ts';

/** Returns a music task of either format, rendered in format A. */
export const getMusic: Handler<'getMusic'> = async (request, reply) => {
  const data = renderMusicState(await readTask(request, 'music'), linksFor(request));
  reply.json(200, { code: 200, message: 'success', data });
};
