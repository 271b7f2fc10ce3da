import type { ChannelProtocol } from './configuration.ts';
import { effectivePrices, type PriceSettings } from './effective-prices.ts';
import { patternsOverlap } from './model-patterns.ts';
import { type ModelPrice, type PriceFields, type PriceRule, unreachableRules } from './price-rules.ts';
import { missingFields, type PricedModel, ruleLists } from './priced-models.ts';
import { catalogueModels, sandboxModels, servesBeyondCatalogue } from './served-models.ts';

interface Configured extends PriceSettings {
  groups: Readonly<Record<string, { models: readonly string[] }>>;
  /** `groups` undefined: every group. */
  channels: readonly (PriceSettings['channels'][number] & {
    groups: readonly string[] | undefined;
    costs?: Readonly<Record<string, ModelPrice>> | undefined;
  })[];
}

/** A likely mistake in a valid configuration file. */
export interface Warning {
  kind: WarningKind;
  /** Path of the value in the file. */
  at: (string | number)[];
  problem: string;
}

/** A channel without a cost for some of its models. The start does not warn of it. */
interface MissingCost extends Pick<Warning, 'at' | 'problem'> {
  kind: 'missing_cost';
}

type WarningKind =
  | 'group'
  | 'channel'
  /** A channel lists a model without a price. */
  | 'unpriced_model'
  /** No channel serves a model with the price. */
  | 'unused_price'
  /** A rule of a price or cost never applies. */
  | 'unreachable_rule'
  /** A condition of a rule has a value that no request has. */
  | 'impossible_value';

/** The models behind an id or pattern in the `models` of a channel. */
interface Entry {
  /** Ids of catalog models, and the pattern itself if it matches models outside the catalog. */
  models: readonly string[];
  /** Names of the groups that the channel is open to. */
  groups: readonly string[];
}

/** An id or pattern in the `models` of a configured channel. */
interface ChannelEntry extends Entry {
  at: (string | number)[];
  pattern: string;
  protocol: ChannelProtocol;
}

/** Finds models without a price in the configured channels, and names of models that no channel serves. */
export function configurationWarnings(configured: Configured): Warning[] {
  const { sandbox, groups, channels } = configured;
  const allGroups = Object.keys(groups);
  const ofSandbox: Entry[] = sandbox ? [{ models: sandboxModels(), groups: allGroups }] : [];
  const ofChannels = channels.flatMap((channel, index) =>
    channel.models.map(({ id: pattern }, position) => ({
      at: ['channels', index, 'models', position],
      pattern,
      protocol: channel.protocol,
      models: modelsOf(channel.protocol, pattern),
      groups: channel.groups ?? allGroups,
    })),
  );
  const served = [...ofSandbox, ...ofChannels];
  return [
    ...groupWarnings(configured, served),
    ...priceWarnings(configured, served),
    ...ruleWarnings(configured),
    ...channelWarnings(configured, ofChannels),
  ];
}

function modelsOf(protocol: ChannelProtocol, pattern: string): string[] {
  const beyond = servesBeyondCatalogue(protocol, pattern) ? [pattern] : [];
  return [...catalogueModels(protocol, pattern), ...beyond];
}

function groupWarnings({ groups }: Configured, served: readonly Entry[]): Warning[] {
  return Object.entries(groups).flatMap(([group, { models }]) => {
    const open = served.filter((entry) => entry.groups.includes(group)).flatMap((entry) => entry.models);
    return models.flatMap((pattern, position) => {
      if (pattern === '*' || overlapsAny(pattern, open)) return [];
      const at = ['groups', group, 'models', position];
      return [{ kind: 'group', at, problem: `no channel that is open to this group serves ${pattern}.` }];
    });
  });
}

function priceWarnings({ prices }: Configured, served: readonly Entry[]): Warning[] {
  const models = served.flatMap((entry) => entry.models);
  return Object.keys(prices)
    .filter((pattern) => pattern !== '*' && !overlapsAny(pattern, models))
    .map((pattern) => ({
      kind: 'unused_price',
      at: ['prices', pattern],
      problem: 'no channel serves such a model.',
    }));
}

/** Finds rules of prices and costs that never apply. */
function ruleWarnings(configured: Configured): Warning[] {
  return ruleLists(configured).flatMap(({ at, rules, models: priced }) => {
    const warn = (index: number, problem: string): Warning => ({
      kind: 'unreachable_rule',
      at: [...at, index],
      problem: `this rule never applies, because ${problem}.`,
    });
    return [
      ...unreachableRules(rules).map(({ index, by }) =>
        warn(index, `rule ${by + 1} applies to the same requests`),
      ),
      ...rules.flatMap((rule, index) => {
        const [missing] = priced.length === 0 ? [] : fieldsWithoutModel(rule, priced);
        return missing === undefined ? [] : [warn(index, `no request for such a model has ${missing}`)];
      }),
    ];
  });
}

/** Returns the fields of the conditions that no request for any of the models has. */
function fieldsWithoutModel(rule: PriceRule, priced: readonly PricedModel[]): (keyof PriceFields)[] {
  const missing = priced.map((model) => missingFields(rule, model));
  return (missing[0] ?? []).filter((field) => missing.every((fields) => fields.includes(field)));
}

function channelWarnings(configured: Configured, entries: readonly ChannelEntry[]): Warning[] {
  const prices = Object.keys(effectivePrices(configured));
  return entries.flatMap(({ at, pattern, protocol, models, groups }) => {
    const warn = (problem: string, kind: WarningKind = 'channel'): Warning => ({ kind, at, problem });
    const unknown = `the catalog has no ${protocol} model ${pattern}`;
    if (models.length === 0) return [warn(`${unknown}, so nothing is served.`)];
    const allowed = groups.flatMap((group) => configured.groups[group]?.models ?? []);
    const usable = models.filter((model) => overlapsAny(model, allowed));
    if (usable.length === 0) return [warn(`no group may use ${pattern}.`)];
    const unpriced = usable.filter((model) => !overlapsAny(model, prices));
    return [
      ...(protocol === 'native' && servesBeyondCatalogue(protocol, pattern)
        ? [warn(`${unknown}, so only the generic video routes serve it.`)]
        : []),
      ...(unpriced.length > 0
        ? [warn(`not served, because no price is set: ${unpriced.join(', ')}.`, 'unpriced_model')]
        : []),
    ];
  });
}

/** Finds models of channels for which the channel has no cost. */
export function missingCosts({
  channels,
}: {
  channels: readonly (Configured['channels'][number] & { name: string })[];
}): MissingCost[] {
  return channels.flatMap(({ name, protocol, models, costs = {} }, index) => {
    const known = Object.keys(costs);
    const without = new Set(
      models.flatMap(({ id }) => modelsOf(protocol, id)).filter((model) => !overlapsAny(model, known)),
    );
    if (without.size === 0) return [];
    const problem = `the channel ${name} has no cost for ${[...without].join(', ')}.`;
    return [{ kind: 'missing_cost', at: ['channels', index], problem }];
  });
}

function overlapsAny(pattern: string, others: readonly string[]): boolean {
  return others.some((other) => patternsOverlap(pattern, other));
}
