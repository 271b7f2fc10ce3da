import { type CatalogueModel, models, type Protocol } from '../../generated/catalogue.ts';
import { invalidParameter, NativeError } from './http/native-error.ts';

const byId = new Map<string, CatalogueModel>(models.map((model) => [model.id, model]));

export function findModel(id: string): CatalogueModel | undefined {
  return byId.get(id);
}

/**
 * Returns the model that the request field `field` names. Throws a `NativeError`: 404 for an unknown model, 400 for a
 * model of another route.
 */
export function resolveModel(id: unknown, protocol: Protocol, field = 'model'): CatalogueModel {
  if (typeof id !== 'string' || id === '')
    throw invalidParameter(`${field} is required and must be a string`, field);
  const model = byId.get(id);
  if (!model) throw new NativeError(404, 'ModelNotFound', `Model ${id.slice(0, 100)} does not exist`);
  if (!model.protocols.includes(protocol)) {
    throw invalidParameter(
      `${field} ${id} is not served on this route; it is served by: ${model.protocols.join(', ')}`,
    );
  }
  return model;
}
