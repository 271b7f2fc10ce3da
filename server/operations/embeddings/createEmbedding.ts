import { embed } from '../../calls/text/embed.ts';
import type { Handler } from '../../http/handler.ts';

/** Returns one vector per text. */
export const createEmbedding: Handler<'createEmbedding'> = (request, reply) => embed(request, reply);
