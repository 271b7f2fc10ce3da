import { readTask } from '../../calls/read-task.ts';
import type { Handler } from '../../http/handler.ts';
import { linksFor } from '../../providers/client-links.ts';
import { renderMusicState } from '../../providers/sigma/render-music.ts';

/** A music task in format A, in whichever format it was asked for. */
export const getMusic: Handler<'getMusic'> = async (request, reply) => {
  const data = renderMusicState(await readTask(request, 'music'), linksFor(request));
  reply.json(200, { code: 200, message: 'success', data });
};
