import type { Handler } from '../../http/handler.ts';
import { createInFormat } from './generic-create.ts';

/** Creates a video with any model. Clients poll it at `/v1/video/generations/{task_id}`. */
export const createGenericVideo: Handler<'createGenericVideo'> = async (request, reply) => {
  reply.json(200, await createInFormat(request, 'createGenericVideo', request.body));
};
