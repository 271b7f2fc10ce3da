import { matcher } from '../models/access.ts';
import { price } from '../models/usage.ts';
import type { Settings } from '../settings/settings.ts';

type PriceSettings = Pick<Settings, 'prices' | 'groups'>;

/** Quota per unit by model, times the group's ratio. */
export class Prices {
  #now: PriceList;

  constructor(prices: Settings['prices'], groups: Settings['groups']) {
    this.#now = new PriceList({ prices, groups });
  }

  /** From now on these hold. */
  apply(settings: PriceSettings): void {
    this.#now = new PriceList(settings);
  }

  /** What units of a model cost a group, in whole quota, rounded up: as it is now, and for as long as it is asked. */
  quoted(modelId: string, group: string): (units: number) => number {
    const now = this.#now;
    return (units) => price(units, now.price(modelId), now.ratio(group));
  }

  /** Quota for one unit of a model used by a group. */
  rate(modelId: string, group: string): number {
    return this.#now.price(modelId) * this.#now.ratio(group);
  }
}

class PriceList {
  readonly #rules: readonly { matches: (id: string) => boolean; perUnit: number }[];
  readonly #groups: Settings['groups'];
  readonly #perUnit = new Map<string, number>();

  /** Exact ids win over patterns, longer patterns over shorter ones. */
  constructor({ prices, groups }: PriceSettings) {
    const rank = (pattern: string) => (pattern.includes('*') ? pattern.length : Number.POSITIVE_INFINITY);
    this.#rules = Object.entries(prices)
      .sort(([left], [right]) => (rank(left) < rank(right) ? 1 : -1))
      .map(([pattern, perUnit]) => ({ matches: matcher([pattern]), perUnit }));
    this.#groups = groups;
  }

  ratio(group: string): number {
    return this.#groups[group]?.ratio ?? 1;
  }

  price(modelId: string): number {
    let perUnit = this.#perUnit.get(modelId);
    if (perUnit === undefined) {
      perUnit = this.#rules.find(({ matches }) => matches(modelId))?.perUnit ?? 1;
      this.#perUnit.set(modelId, perUnit);
    }
    return perUnit;
  }
}
