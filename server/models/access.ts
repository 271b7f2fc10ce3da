import { type CatalogueModel, models } from '../../generated/catalogue.ts';
import { Failure } from '../lib/failure.ts';
import { matcher } from '../settings/model-patterns.ts';
import type { Settings } from '../settings/settings.ts';
import { modelNotFound } from './catalogue.ts';

/** The part of a key that decides which models it may use. */
interface ModelGrant {
  group: string;
  /** Model patterns of the key itself. Null: the group alone decides. */
  modelLimits: readonly string[] | null;
}

/** The groups with their models, and the effective prices. A model without a price is not served. */
type OfferedModels = Pick<Settings, 'groups' | 'prices'>;

/** Decides which models a caller may use, by price, group and the limits of the key. */
export class ModelAccess {
  #groups: ReadonlyMap<string, (id: string) => boolean> = new Map();
  #isPriced: (modelId: string) => boolean = () => false;

  constructor(offered: OfferedModels) {
    this.apply(offered);
  }

  apply({ groups, prices }: OfferedModels): void {
    this.#groups = new Map(Object.entries(groups).map(([name, { models }]) => [name, matcher(models)]));
    this.#isPriced = matcher(Object.keys(prices));
  }

  allows(grant: ModelGrant, modelId: string): boolean {
    return this.#allowedTo(grant)(modelId);
  }

  /** @throws Failure 404 when the model has no price, 403 when the caller may not use it. */
  require(grant: ModelGrant, model: { id: string }): void {
    if (!this.#isPriced(model.id)) throw modelNotFound(model.id);
    if (this.allows(grant, model.id)) return;
    throw new Failure(403, 'access_denied', `model: this key may not use ${model.id}.`);
  }

  /** Models of the catalog that a caller may use. */
  list(grant: ModelGrant): CatalogueModel[] {
    const allowed = this.#allowedTo(grant);
    return models.filter(({ id }) => allowed(id));
  }

  #allowedTo({ group, modelLimits }: ModelGrant): (modelId: string) => boolean {
    const inGroup = this.#groups.get(group) ?? (() => false);
    const inLimits = modelLimits === null ? () => true : matcher(modelLimits);
    return (modelId) => inGroup(modelId) && inLimits(modelId) && this.#isPriced(modelId);
  }
}
