import type { Handler } from '../../http/handler.ts';
import { callbackOf, executionTime, isFormatA, startMusic } from './start-music.ts';

/** Creates a song, a continuation or stems. */
export const submitMusic: Handler<'submitMusic'> = async (request, reply) => {
  const { body } = request;
  const { title, prompt } = body;
  const { id } = await startMusic(request, 'submitMusic', { song: body, ...callbackOf(body) });
  const exec_time = executionTime(request);
  if (!isFormatA(request)) {
    reply.json(200, { code: 'success', msg: '', data: id, exec_time });
    return;
  }
  const fields = { ...(title !== undefined && { title }), ...(prompt !== undefined && { prompt }) };
  reply.json(200, { code: 200, msg: 'success', data: [{ task_id: id, status: 1, ...fields }], exec_time });
};
