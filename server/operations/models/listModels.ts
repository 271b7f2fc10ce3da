import type { Handler } from '../../http/handler.ts';
import { usableModels } from './usable-models.ts';

/** The models of the caller's key that some channel serves. */
export const listModels: Handler<'listModels'> = async (request, reply) => {
  const data = await usableModels(request);
  const ends = { first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null };
  reply.json(200, { object: 'list', data, has_more: false, ...ends });
};
