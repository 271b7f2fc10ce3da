import type { Handler } from '../../http/handler.ts';
import { createInFormat } from './generic-create.ts';

/** Creates a video with any model. Clients poll it at `/v1/videos/{task_id}`. */
export const createVideo: Handler<'createVideo'> = async (request, reply) => {
  reply.json(200, await createInFormat(request, 'createVideo', request.body));
};
