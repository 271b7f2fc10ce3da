import type { Unit } from '../../generated/catalogue.ts';
import { modelNotFound } from '../models/catalogue.ts';
import { price, type Usage } from '../models/usage.ts';
import { patternFinder } from '../settings/model-patterns.ts';
import type { ChosenRule, ModelPrice, PriceFields, PriceRule } from '../settings/price-rules.ts';
import type { Settings } from '../settings/settings.ts';
import { boundFigures, chooseRule, ruleCost, usageBounds, usageFigures } from './price-rules.ts';

type PriceSettings = Pick<Settings, 'prices' | 'groups' | 'revision'>;

/** The price of a request at one moment. */
export interface PriceTerms {
  /** Quota per unit, before the group's ratio. Null: the rule has the prices. */
  readonly unitPrice: number | null;
  /** The rule that applies to the request. Null: every unit has the same price. */
  readonly rule: ChosenRule | null;
  /** The rules of the model, which a report of the provider can choose from. Absent: `rule` is final. */
  readonly rules?: readonly PriceRule[];
  readonly groupRatio: number;
  readonly group: string;
  /** Revision of the configuration that set them. */
  readonly configRevision: string;
}

/** The part of the terms that decides a cost. */
export type CostTerms = Pick<PriceTerms, 'unitPrice' | 'rule' | 'rules' | 'groupRatio'>;

/** The price list of a model for a group. */
export interface PriceOffer {
  readonly price: ModelPrice;
  readonly groupRatio: number;
}

/** Prices by model, times the group's ratio. Its `prices` are the effective ones. */
export class Prices {
  #revision = '';
  #prices: Settings['prices'] = {};
  #patternOf: (id: string) => string | undefined = () => undefined;
  #groups: Settings['groups'] = {};
  readonly #byModel = new Map<string, ModelPrice>();

  constructor(settings: PriceSettings) {
    this.apply(settings);
  }

  /** Exact ids win over patterns, longer patterns over shorter ones. */
  apply({ prices, groups, revision }: PriceSettings): void {
    this.#prices = prices;
    this.#patternOf = patternFinder(Object.keys(prices));
    this.#groups = groups;
    this.#revision = revision;
    this.#byModel.clear();
  }

  /**
   * Returns the current price of a request for a model. Later configuration changes do not alter it. `fields` is called only if
   * the model has price rules.
   *
   * @throws Failure 404 when the model has no price
   */
  terms(modelId: string, group: string, fields: () => PriceFields = noFields): PriceTerms {
    const { price: found, groupRatio } = this.offer(modelId, group);
    const common = { groupRatio, group, configRevision: this.#revision };
    if (typeof found === 'number') return { unitPrice: found, rule: null, ...common };
    const rule = chooseRule(found, fields());
    if (rule === undefined) throw modelNotFound(modelId);
    return { unitPrice: null, rule, rules: found, ...common };
  }

  /** Whether the price of a model depends on a field of the request. */
  dependsOn(modelId: string, field: keyof PriceFields): boolean {
    const found = this.#price(modelId);
    return typeof found !== 'number' && found.some(({ when }) => when?.[field] !== undefined);
  }

  /** Returns the current price list of a model for a group. @throws Failure 404 when the model has no price */
  offer(modelId: string, group: string): PriceOffer {
    return { price: this.#price(modelId), groupRatio: this.#groups[group]?.ratio ?? 1 };
  }

  #price(modelId: string): ModelPrice {
    let found = this.#byModel.get(modelId);
    if (found === undefined) {
      const pattern = this.#patternOf(modelId);
      found = pattern === undefined ? undefined : this.#prices[pattern];
      // A reload may have removed the price after the request was admitted.
      if (found === undefined) throw modelNotFound(modelId);
      this.#byModel.set(modelId, found);
    }
    return found;
  }
}

const noFields = (): PriceFields => ({});

/** Returns the cost of a usage, a whole number, rounded up. No units cost nothing. @throws RangeError when it has no price */
export function costOf(usage: Usage, { unitPrice, rule, groupRatio }: CostTerms): number {
  if (rule === null) return price(usage.units, unitPrice ?? 0, groupRatio);
  return usage.units === 0 ? 0 : ruleCost(rule, usageFigures(rule, usage), groupRatio);
}

/** The upper bounds of a request. */
export interface ExpectedUsage {
  unit: Unit;
  units: number;
  /** For a video, its completion tokens. Undefined: no bound of their own. */
  maxOutputTokens?: number | undefined;
}

/** Returns the cost of the most expensive usage within the bounds. @throws RangeError when it has no price */
export function highestCost(
  { unit, units, maxOutputTokens }: ExpectedUsage,
  { unitPrice, rule, groupRatio }: CostTerms,
): number {
  if (rule === null) return price(units, unitPrice ?? 0, groupRatio);
  return ruleCost(rule, boundFigures(rule, usageBounds(unit, units, maxOutputTokens)), groupRatio);
}
