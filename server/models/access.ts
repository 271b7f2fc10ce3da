import { type CatalogueModel, models } from '../../generated/catalogue.ts';
import type { Caller } from '../accounts/caller.ts';
import { Failure } from '../failure.ts';
import type { Settings } from '../settings/settings.ts';
import { matcher } from './pattern.ts';

/** Says which models a caller may use, by group and by the key's own limits. */
export class ModelAccess {
  readonly #groups: ReadonlyMap<string, (id: string) => boolean>;

  constructor(groups: Settings['groups']) {
    this.#groups = new Map(Object.entries(groups).map(([name, { models }]) => [name, matcher(models)]));
  }

  allows(caller: Caller, modelId: string): boolean {
    return this.#allowedTo(caller)(modelId);
  }

  /** @throws Failure 403 when the caller may not use the model. */
  require(caller: Caller, model: { id: string }): void {
    if (this.allows(caller, model.id)) return;
    throw new Failure(403, 'access_denied', `model: this key may not use ${model.id}.`);
  }

  /** The catalogue models a caller may use. */
  list(caller: Caller): CatalogueModel[] {
    const allowed = this.#allowedTo(caller);
    return models.filter(({ id }) => allowed(id));
  }

  #allowedTo({ group, modelLimits }: Caller): (modelId: string) => boolean {
    const inGroup = this.#groups.get(group) ?? (() => false);
    const inLimits = modelLimits === null ? () => true : matcher(modelLimits);
    return (modelId) => inGroup(modelId) && inLimits(modelId);
  }
}
