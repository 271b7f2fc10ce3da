import { type CatalogueModel, models, type Protocol } from '../../generated/catalogue.ts';
import { invalidParameter, NativeError } from './http/native-error.ts';

const byId = new Map<string, CatalogueModel>(models.map((model) => [model.id, model]));

/** The model a request names. Throws a `NativeError`: 404 for an unknown model, 400 for one of another route. */
export function requestedModel(id: unknown, protocol: Protocol): CatalogueModel {
  if (typeof id !== 'string' || id === '') throw invalidParameter('model is required and must be a string');
  const model = byId.get(id);
  if (!model) throw new NativeError(404, 'ModelNotFound', `Model ${id.slice(0, 100)} does not exist`);
  if (!model.protocols.includes(protocol)) {
    throw invalidParameter(
      `model ${id} is not served on this route; it is served by: ${model.protocols.join(', ')}`,
    );
  }
  return model;
}
