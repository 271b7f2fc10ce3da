import { startTask, type TaskPlan } from '../../calls/start-task.ts';
import type { Handler, OperationRequest } from '../../http/handler.ts';
import { sigmaLyrics } from '../../providers/sigma/music-request.ts';
import { findTaskModel } from '../../tasks/task-model.ts';
import { callbackOf, executionTime, isFormatA } from './start-music.ts';

/** Creates lyrics from a description. */
export const submitLyrics: Handler<'submitLyrics'> = async (request, reply) => {
  const { body, address } = request;
  const plan = { ...planLyrics(request), ...callbackOf(body) };
  const { id } = await startTask(request, 'submitLyrics', plan);
  // A dual-stack socket reports IPv4 addresses as IPv4-mapped IPv6 addresses.
  const ip = address.replace(/^::ffff:(?=\d+\.)/, '');
  const msg = isFormatA(request) ? 'success' : '';
  const status = isFormatA(request) ? { code: 200 as const, msg } : { code: 'success' as const, msg };
  const exec_time = executionTime(request);
  reply.json(200, { ...status, data: id, message: msg, exec_time, ...(ip !== '' && { ip }) });
};

/** Translates a request. @throws Failure as `findTaskModel` */
export function planLyrics({ gateway, caller, body }: OperationRequest<'submitLyrics'>): TaskPlan {
  const model = findTaskModel(gateway, caller, 'sigma_lyrics', ['sigma']);
  return { model, format: 'music', ...sigmaLyrics(body) };
}
