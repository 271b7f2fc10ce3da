import type { Usage } from '../models/usage.ts';
import { patternFinder } from '../settings/model-patterns.ts';
import type { ModelPrice, PriceFields } from '../settings/price-rules.ts';
import type { ChannelSettings } from '../settings/settings.ts';
import { chooseRule } from './price-rules.ts';
import { type CostTerms, costOf } from './prices.ts';

interface CostList {
  costs: Readonly<Record<string, ModelPrice>>;
  patternOf: (id: string) => string | undefined;
}

/** Costs of calls and tasks at the providers, by channel and model. Clients never see them. */
export class VendorCosts {
  #lists: ReadonlyMap<string, CostList> = new Map();

  constructor(channels: readonly Pick<ChannelSettings, 'name' | 'costs'>[]) {
    this.apply(channels);
  }

  apply(channels: readonly Pick<ChannelSettings, 'name' | 'costs'>[]): void {
    this.#lists = new Map(
      channels.flatMap(({ name, costs }) =>
        costs === undefined ? [] : [[name, { costs, patternOf: patternFinder(Object.keys(costs)) }] as const],
      ),
    );
  }

  /** Whether the cost of a model can depend on the fields of a request. */
  dependsOnRequest(modelId: string): boolean {
    return [...this.#lists.values()].some((list) => typeof (priceIn(list, modelId) ?? 0) !== 'number');
  }

  /** Returns the cost terms of a request. Undefined: the channel has no cost for the model. */
  termsOf(channel: string, modelId: string, fields: () => PriceFields): CostTerms | undefined {
    const list = this.#lists.get(channel);
    const price = list && priceIn(list, modelId);
    if (price === undefined) return undefined;
    if (typeof price === 'number') return { unitPrice: price, rule: null, groupRatio: 1 };
    const rule = chooseRule(price, fields());
    return rule && { unitPrice: null, rule, rules: price, groupRatio: 1 };
  }

  /** Returns the cost of a usage, a whole number, rounded up. Null: the channel has no cost for the model, or it exceeds 2^53. */
  costOf(channel: string, modelId: string, usage: Usage, fields: () => PriceFields): number | null {
    const terms = this.termsOf(channel, modelId, fields);
    if (terms === undefined) return null;
    try {
      return costOf(usage, terms);
    } catch (error) {
      if (error instanceof RangeError) return null;
      throw error;
    }
  }
}

function priceIn({ costs, patternOf }: CostList, modelId: string): ModelPrice | undefined {
  const pattern = patternOf(modelId);
  return pattern === undefined ? undefined : costs[pattern];
}
