import { type CatalogueModel, models } from '../../generated/catalogue.ts';
import type { Caller } from '../accounts/caller.ts';
import { Failure } from '../failure.ts';
import type { Settings } from '../settings/settings.ts';

/** Says which models a caller may use, by group and by the key's own limits. */
export class ModelAccess {
  #groups: ReadonlyMap<string, (id: string) => boolean>;

  constructor(groups: Settings['groups']) {
    this.#groups = compiled(groups);
  }

  /** From now on these hold. */
  apply({ groups }: Pick<Settings, 'groups'>): void {
    this.#groups = compiled(groups);
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

function compiled(groups: Settings['groups']): ReadonlyMap<string, (id: string) => boolean> {
  return new Map(Object.entries(groups).map(([name, { models }]) => [name, matcher(models)]));
}

/** Compiles model patterns, in which `*` stands for any run of characters, into one test. */
export function matcher(patterns: readonly string[]): (id: string) => boolean {
  const exact = new Set(patterns.filter((pattern) => !pattern.includes('*')));
  const wild = patterns.filter((pattern) => pattern.includes('*')).map(glob);
  return (id) => exact.has(id) || wild.some((matches) => matches(id));
}

/** For a pattern with a star: each part between stars is looked for once, so that no pattern takes long. */
function glob(pattern: string): (id: string) => boolean {
  const [first = '', ...parts] = pattern.split('*');
  const last = parts.pop() ?? '';
  const inner = parts.filter((part) => part !== '');
  return (id) => {
    const end = id.length - last.length;
    if (end < first.length || !id.startsWith(first) || !id.endsWith(last)) return false;
    let at = first.length;
    // The earliest place leaves the most for what comes after: there is nothing to try again.
    for (const part of inner) {
      const found = id.indexOf(part, at);
      if (found < 0) return false;
      at = found + part.length;
    }
    return at <= end;
  };
}
