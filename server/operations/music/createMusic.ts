import type { Handler } from '../../http/handler.ts';
import { invalid } from '../../lib/failure.ts';
import { startMusic } from './start-music.ts';

/** Creates a song, in format A. */
export const createMusic: Handler<'createMusic'> = async (request, reply) => {
  const { input, custom_mode, notify_hook } = request.body;
  for (const name of ['callback_url', 'notify_hook'])
    if (name in input) throw invalid(`input.${name}`, 'is not called; put notify_hook beside input.');
  const song = { ...input, ...(custom_mode !== undefined && { custom_mode }) };
  const { id } = await startMusic(request, 'createMusic', {
    song,
    ...(notify_hook !== undefined && { callbackUrl: notify_hook, callbackField: 'notify_hook' }),
    prefix: 'input.',
  });
  reply.json(200, { code: 200, message: 'success', data: { task_id: id } });
};
