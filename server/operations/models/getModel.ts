import type { Handler } from '../../http/handler.ts';
import { Failure } from '../../lib/failure.ts';
import { quoted } from '../../models/catalogue.ts';
import { usableModels } from './usable-models.ts';

/** Returns a model that the caller's key may use and a channel serves. */
export const getModel: Handler<'getModel'> = async (request, reply) => {
  const id = request.path.model;
  const [model] = await usableModels(request, id);
  if (model === undefined)
    throw new Failure(404, 'model_not_found', `model: ${quoted(id)} does not exist, or not for this key.`);
  reply.json(200, model);
};
