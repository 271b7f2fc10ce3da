import { startTask } from '../../calls/start-task.ts';
import type { Handler } from '../../http/handler.ts';
import { sigmaLyrics } from '../../providers/sigma/music-request.ts';
import { findTaskModel } from '../../tasks/task-model.ts';
import { callbackOf, executionTime, inFormatA } from './start-music.ts';

/** Lyrics from a description, to be read with the fetch calls. */
export const submitLyrics: Handler<'submitLyrics'> = async (request, reply) => {
  const { gateway, caller, body, address } = request;
  const model = findTaskModel(gateway, caller, 'sigma_lyrics', ['sigma']);
  const plan = { model, format: 'music' as const, ...sigmaLyrics(body), ...callbackOf(body) };
  const { id } = await startTask(request, 'submitLyrics', plan);
  // On a socket of both families, an address of the older one has the newer one's form.
  const ip = address.replace(/^::ffff:(?=\d+\.)/, '');
  const told = inFormatA(request)
    ? { code: 200 as const, msg: 'success' }
    : { code: 'success' as const, msg: '' };
  reply.json(200, {
    ...told,
    data: id,
    message: told.msg,
    exec_time: executionTime(request),
    ...(ip !== '' && { ip }),
  });
};
