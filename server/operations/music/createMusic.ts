import type { Handler, OperationRequest } from '../../http/handler.ts';
import { invalid } from '../../lib/failure.ts';
import { type MusicOrder, startMusic } from './start-music.ts';

/** Creates a song, in format A. */
export const createMusic: Handler<'createMusic'> = async (request, reply) => {
  const { notify_hook } = request.body;
  const { id } = await startMusic(request, 'createMusic', {
    song: songOf(request.body),
    ...(notify_hook !== undefined && { callbackUrl: notify_hook, callbackField: 'notify_hook' }),
    prefix: 'input.',
  });
  reply.json(200, { code: 200, message: 'success', data: { task_id: id } });
};

/** Returns the song of a request. @throws Failure 400 for a callback URL that would not be called */
export function songOf({ input, custom_mode }: OperationRequest<'createMusic'>['body']): MusicOrder['song'] {
  for (const name of ['callback_url', 'notify_hook'])
    if (name in input) throw invalid(`input.${name}`, 'is not called; put notify_hook beside input.');
  return { ...input, ...(custom_mode !== undefined && { custom_mode }) };
}
