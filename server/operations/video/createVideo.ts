import type { Handler } from '../../http/handler.ts';
import { createInFormat } from './generic-create.ts';

/** A video with any model, to be read at the `/v1/videos` paths. */
export const createVideo: Handler<'createVideo'> = async (request, reply) => {
  reply.json(200, await createInFormat(request, 'createVideo', request.body));
};
