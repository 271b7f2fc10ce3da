import { modelNotFound } from '../models/catalogue.ts';
import { price } from '../models/usage.ts';
import { matcher } from '../settings/model-patterns.ts';
import type { Settings } from '../settings/settings.ts';

type PriceSettings = Pick<Settings, 'prices' | 'groups' | 'revision'>;

/** The price of a model for a group at one moment. */
export interface PriceTerms {
  /** Quota per unit, before the group's ratio. */
  readonly unitPrice: number;
  readonly groupRatio: number;
  readonly group: string;
  /** Revision of the configuration that set them. */
  readonly configRevision: string;
}

/** Quota per unit by model, times the group's ratio. Its `prices` are the effective ones. */
export class Prices {
  #revision = '';
  #rules: readonly { matches: (id: string) => boolean; perUnit: number }[] = [];
  #groups: Settings['groups'] = {};
  readonly #perUnit = new Map<string, number>();

  constructor(settings: PriceSettings) {
    this.apply(settings);
  }

  /** Exact ids win over patterns, longer patterns over shorter ones. */
  apply({ prices, groups, revision }: PriceSettings): void {
    const rank = (pattern: string) => (pattern.includes('*') ? pattern.length : Number.POSITIVE_INFINITY);
    this.#rules = Object.entries(prices)
      .sort(([left], [right]) => (rank(left) < rank(right) ? 1 : -1))
      .map(([pattern, perUnit]) => ({ matches: matcher([pattern]), perUnit }));
    this.#groups = groups;
    this.#revision = revision;
    this.#perUnit.clear();
  }

  /**
   * Returns the current price of a model for a group. Later configuration changes do not alter it.
   *
   * @throws Failure 404 when the model has no price
   */
  terms(modelId: string, group: string): PriceTerms {
    return {
      unitPrice: this.#price(modelId),
      groupRatio: this.#groups[group]?.ratio ?? 1,
      group,
      configRevision: this.#revision,
    };
  }

  #price(modelId: string): number {
    let perUnit = this.#perUnit.get(modelId);
    if (perUnit === undefined) {
      perUnit = this.#rules.find(({ matches }) => matches(modelId))?.perUnit;
      // A reload may have removed the price after the request was admitted.
      if (perUnit === undefined) throw modelNotFound(modelId);
      this.#perUnit.set(modelId, perUnit);
    }
    return perUnit;
  }
}

/** Returns the quota for `units`, a whole number, rounded up. @throws RangeError when it has no price */
export function costOf(
  units: number,
  { unitPrice, groupRatio }: Pick<PriceTerms, 'unitPrice' | 'groupRatio'>,
): number {
  return price(units, unitPrice, groupRatio);
}
