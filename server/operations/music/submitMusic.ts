import type { Handler } from '../../http/handler.ts';
import { callbackOf, executionTime, inFormatA, startMusic } from './start-music.ts';

/** A song, a continuation or stems, to be read with the fetch calls or in format A. */
export const submitMusic: Handler<'submitMusic'> = async (request, reply) => {
  const { body } = request;
  const { title, prompt } = body;
  const { id } = await startMusic(request, 'submitMusic', { request: body, ...callbackOf(body) });
  const exec_time = executionTime(request);
  if (!inFormatA(request)) {
    reply.json(200, { code: 'success', msg: '', data: id, exec_time });
    return;
  }
  const asked = { ...(title !== undefined && { title }), ...(prompt !== undefined && { prompt }) };
  reply.json(200, { code: 200, msg: 'success', data: [{ task_id: id, status: 1, ...asked }], exec_time });
};
