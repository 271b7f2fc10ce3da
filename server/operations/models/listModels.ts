import type { Handler } from '../../http/handler.ts';
import { usableModels } from './usable-models.ts';

/** Lists the models that the caller's key may use and a channel serves. */
export const listModels: Handler<'listModels'> = async (request, reply) => {
  const data = await usableModels(request);
  const ends = { first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null };
  reply.json(200, { object: 'list', data, has_more: false, ...ends });
};
