import { matcher } from '../models/access.ts';
import { price } from '../models/usage.ts';
import type { Settings } from '../settings/settings.ts';

/** Quota per unit by model, times the group's ratio. */
export class Prices {
  readonly #rules: readonly { matches: (id: string) => boolean; perUnit: number }[];
  readonly #groups: Settings['groups'];
  readonly #perUnit = new Map<string, number>();

  /** Exact ids win over patterns, longer patterns over shorter ones. */
  constructor(prices: Settings['prices'], groups: Settings['groups']) {
    const rank = (pattern: string) => (pattern.includes('*') ? pattern.length : Number.POSITIVE_INFINITY);
    this.#rules = Object.entries(prices)
      .sort(([left], [right]) => (rank(left) < rank(right) ? 1 : -1))
      .map(([pattern, perUnit]) => ({ matches: matcher([pattern]), perUnit }));
    this.#groups = groups;
  }

  /** Quota for `units` of a model used by a group: a whole number, rounded up. */
  quota(modelId: string, group: string, units: number): number {
    return price(units, this.#price(modelId), this.#groups[group]?.ratio ?? 1);
  }

  /** Quota for one unit of a model used by a group. */
  rate(modelId: string, group: string): number {
    return this.#price(modelId) * (this.#groups[group]?.ratio ?? 1);
  }

  #price(modelId: string): number {
    let perUnit = this.#perUnit.get(modelId);
    if (perUnit === undefined) {
      perUnit = this.#rules.find(({ matches }) => matches(modelId))?.perUnit ?? 1;
      this.#perUnit.set(modelId, perUnit);
    }
    return perUnit;
  }
}
