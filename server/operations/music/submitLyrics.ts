import { startTask } from '../../calls/start-task.ts';
import type { Handler } from '../../http/handler.ts';
import { sigmaLyrics } from '../../providers/sigma/music-request.ts';
import { findTaskModel } from '../../tasks/task-model.ts';
import { callbackOf, executionTime, isFormatA } from './start-music.ts';

/** Creates lyrics from a description. */
export const submitLyrics: Handler<'submitLyrics'> = async (request, reply) => {
  const { gateway, caller, body, address } = request;
  const model = findTaskModel(gateway, caller, 'sigma_lyrics', ['sigma']);
  const plan = { model, format: 'music' as const, ...sigmaLyrics(body), ...callbackOf(body) };
  const { id } = await startTask(request, 'submitLyrics', plan);
  // A dual-stack socket reports IPv4 addresses as IPv4-mapped IPv6 addresses.
  const ip = address.replace(/^::ffff:(?=\d+\.)/, '');
  const msg = isFormatA(request) ? 'success' : '';
  const status = isFormatA(request) ? { code: 200 as const, msg } : { code: 'success' as const, msg };
  const exec_time = executionTime(request);
  reply.json(200, { ...status, data: id, message: msg, exec_time, ...(ip !== '' && { ip }) });
};
