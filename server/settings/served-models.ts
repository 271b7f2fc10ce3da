import { models, type Protocol } from '../../generated/catalogue.ts';
import type { ChannelProtocol } from './channel-protocol.ts';
import { matcher } from './model-patterns.ts';

/** The protocols of catalog models that a channel of each protocol serves. */
const catalogueProtocols: Readonly<Record<ChannelProtocol, readonly Protocol[]>> = {
  native: [
    'synthesizer',
    'multimodal',
    'inference',
    'realtime',
    'customization',
    'native_video',
    'native_3d',
  ],
  official: ['official'],
  eta: ['eta'],
  sigma: ['sigma'],
  imgjob: ['imgjob'],
  verification: ['verification'],
  embeddings: ['embeddings'],
  messages: ['messages'],
};

/** Returns the ids of catalog models that a channel serves, by its protocol and an id or pattern of its `models`. */
export function catalogueModels(protocol: ChannelProtocol, pattern: string): string[] {
  const served = catalogueProtocols[protocol];
  const matches = matcher([pattern]);
  return models
    .filter(({ id, protocols }) => matches(id) && protocols.some((one) => served.includes(one)))
    .map(({ id }) => id);
}

/** Returns the ids of the models that the sandbox serves: the complete catalog. */
export function sandboxModels(): string[] {
  return models.map(({ id }) => id);
}

const catalogueIds: ReadonlySet<string> = new Set(models.map(({ id }) => id));

/** Protocols of channels whose models need not be in the catalog. */
const openProtocols: ReadonlySet<ChannelProtocol> = new Set(['official', 'eta', 'messages', 'embeddings']);

/** Whether an id or pattern in the `models` of a channel serves models outside the catalog. */
export function servesBeyondCatalogue(protocol: ChannelProtocol, pattern: string): boolean {
  if (pattern === '*' || catalogueIds.has(pattern)) return false;
  if (openProtocols.has(protocol)) return true;
  // The generic video routes take any model that a native channel names.
  return protocol === 'native' && catalogueModels(protocol, pattern).length === 0;
}

/** Returns the ids of models that channels or prices name, without patterns. */
export function namedModels({
  channels,
  prices,
}: {
  channels: readonly { models: readonly { id: string }[] }[];
  prices: Readonly<Record<string, unknown>>;
}): string[] {
  const ids = [
    ...Object.keys(prices),
    ...channels.flatMap(({ models: listed }) => listed.map(({ id }) => id)),
  ];
  return ids.filter((id) => !id.includes('*'));
}
