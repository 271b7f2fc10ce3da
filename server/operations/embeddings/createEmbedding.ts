import { embed } from '../../calls/text/embed.ts';
import type { Handler } from '../../http/handler.ts';

/** One vector for each text, from whichever provider serves the model. */
export const createEmbedding: Handler<'createEmbedding'> = (request, reply) => embed(request, reply);
