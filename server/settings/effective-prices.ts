import type { ChannelProtocol } from './configuration.ts';
import { matcher } from './model-patterns.ts';
import type { ModelPrice } from './price-rules.ts';
import { catalogueModels, sandboxModels } from './served-models.ts';

/** The part of the settings that decides which models have a price. */
export interface PriceSettings {
  /** Whether the embedded sandbox runs. */
  sandbox: boolean;
  /** Prices by model id or pattern, as configured. */
  prices: Readonly<Record<string, ModelPrice>>;
  channels: readonly { protocol: ChannelProtocol; models: readonly { id: string }[] }[];
}

/** Quota per unit of a model that only the sandbox serves and the configuration file does not price. */
const sandboxPrice = 1;

/**
 * Returns the prices by model id or pattern: the configured ones, and the sandbox's price for models that only the
 * sandbox serves. A model that matches none of them has no price and is not served.
 */
export function effectivePrices({ sandbox, prices, channels }: PriceSettings): PriceSettings['prices'] {
  if (!sandbox) return prices;
  const isPriced = matcher(Object.keys(prices));
  const ofChannels = new Set(
    channels.flatMap(({ protocol, models }) => models.flatMap(({ id }) => catalogueModels(protocol, id))),
  );
  const unpriced = sandboxModels().filter((id) => !isPriced(id) && !ofChannels.has(id));
  return { ...prices, ...Object.fromEntries(unpriced.map((id) => [id, sandboxPrice])) };
}
