import { models, type Protocol, type Unit } from '../../generated/catalogue.ts';
import type { ChannelProtocol } from './channel-protocol.ts';
import { patternFinder } from './model-patterns.ts';
import type { FigureName, ModelPrice, PriceFields, PriceRule } from './price-rules.ts';
import { catalogueModels, sandboxModels, servesBeyondCatalogue } from './served-models.ts';

/** A model with the properties that price rules depend on. */
export interface PricedModel {
  id: string;
  unit: Unit;
  isVideo: boolean;
  protocols: readonly (Protocol | ChannelProtocol)[];
}

interface ServedModels {
  sandbox: boolean;
  channels: readonly { protocol: ChannelProtocol; models: readonly { id: string }[] }[];
}

const videoProtocols: ReadonlySet<string> = new Set(['native_video', 'official', 'eta']);

/** Returns the models that channels and the sandbox serve. A pattern of models outside the catalog stands for itself. */
function servedModels({ sandbox, channels }: ServedModels): PricedModel[] {
  const entries = channels.flatMap(({ protocol, models: served }) =>
    served.map(({ id }) => ({ protocol, pattern: id })),
  );
  const known = new Set([
    ...(sandbox ? sandboxModels() : []),
    ...entries.flatMap(({ protocol, pattern }) => catalogueModels(protocol, pattern)),
  ]);
  const others = entries.filter(({ protocol, pattern }) => servesBeyondCatalogue(protocol, pattern));
  return [
    ...models
      .filter(({ id }) => known.has(id))
      .map(({ id, unit, protocols }) => ({ id, unit, protocols, isVideo: protocols.some(isVideoProtocol) })),
    ...others.map(({ protocol, pattern }) => modelBeyondCatalogue(protocol, pattern)),
  ];
}

const isVideoProtocol = (protocol: string) => videoProtocols.has(protocol);

function modelBeyondCatalogue(protocol: ChannelProtocol, id: string): PricedModel {
  const isText = protocol === 'messages' || protocol === 'embeddings';
  return { id, unit: isText ? 'tokens' : 'seconds', isVideo: !isText, protocols: [protocol] };
}

/** Returns the models by the id or pattern that prices them. */
function modelsByPrice(
  prices: Readonly<Record<string, ModelPrice>>,
  served: readonly PricedModel[],
): ReadonlyMap<string, readonly PricedModel[]> {
  const patternOf = patternFinder(Object.keys(prices));
  return Map.groupBy(served, ({ id }) => patternOf(id) ?? '');
}

interface PriceLists {
  sandbox: boolean;
  prices: Readonly<Record<string, ModelPrice>>;
  channels: readonly (ServedModels['channels'][number] & {
    costs?: Readonly<Record<string, ModelPrice>> | undefined;
  })[];
}

/** A list of price rules with the served models that it prices. */
export interface RuleList {
  /** Path of the list in the configuration file. */
  at: (string | number)[];
  rules: readonly PriceRule[];
  models: readonly PricedModel[];
}

/** Returns the rule lists of the prices and of the costs of each channel. */
export function ruleLists({ sandbox, prices, channels }: PriceLists): RuleList[] {
  return [
    ...listsIn(prices, ['prices'], { sandbox, channels }),
    ...channels.flatMap((channel, index) =>
      listsIn(channel.costs ?? {}, ['channels', index, 'costs'], { sandbox: false, channels: [channel] }),
    ),
  ];
}

function listsIn(
  prices: Readonly<Record<string, ModelPrice>>,
  at: readonly (string | number)[],
  served: ServedModels,
): RuleList[] {
  const lists = Object.entries(prices).flatMap(([pattern, price]) =>
    typeof price === 'number' ? [] : [{ pattern, rules: price }],
  );
  if (lists.length === 0) return [];
  const byPrice = modelsByPrice(prices, servedModels(served));
  return lists.map(({ pattern, rules }) => ({
    at: [...at, pattern],
    rules,
    models: byPrice.get(pattern) ?? [],
  }));
}

const tokenFigures: readonly FigureName[] = [
  'input_tokens',
  'output_tokens',
  'cached_tokens',
  'cache_write_tokens',
];

/** Returns the figures that a rule prices and a usage of the model does not have. */
export function missingFigures({ per = {} }: PriceRule, { unit, isVideo }: PricedModel): FigureName[] {
  const known = new Set<FigureName>([
    'units',
    unit,
    ...(unit === 'tokens' ? tokenFigures : []),
    ...(isVideo ? (['completion_tokens'] as const) : []),
  ]);
  return (Object.keys(per) as FigureName[]).filter((figure) => !known.has(figure));
}

/** Returns the conditions of a rule on fields that no request for the model has. */
export function missingFields({ when = {} }: PriceRule, model: PricedModel): (keyof PriceFields)[] {
  const known = new Set<string>(fieldsOf(model));
  return (Object.keys(when) as (keyof PriceFields)[]).filter((field) => !known.has(field));
}

function fieldsOf({ isVideo, protocols, unit }: PricedModel): readonly (keyof PriceFields)[] {
  const has = (...names: readonly (Protocol | ChannelProtocol)[]) =>
    protocols.some((one) => names.includes(one));
  if (isVideo)
    return [
      'resolution',
      'ratio',
      'duration',
      'audio',
      'reference_video',
      ...(has('official') ? (['service_tier'] as const) : []),
    ];
  if (has('sigma')) return ['task'];
  if (has('imgjob')) return ['action'];
  return has('messages', 'embeddings', 'verification', 'native_3d') || unit === 'seconds' ? [] : ['voice'];
}
