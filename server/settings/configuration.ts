import { readFileSync } from 'node:fs';
import type { ErrorObject } from 'ajv';
import { type Document, isMap, isNode, LineCounter, parseDocument, visit } from 'yaml';
import type { ConfigurationFile } from '../../generated/settings.ts';
import { validateConfigurationFile } from '../../generated/settings-validator.js';
import { isRange } from './address-ranges.ts';
import { fallbackProblems } from './fallbacks.ts';
import { type FigureName, type PriceRule, ruleProblems } from './price-rules.ts';
import { missingFigures, type PricedModel, ruleLists } from './priced-models.ts';
import { isSandboxChannel } from './sandbox-names.ts';
import { type Environment, readSecret } from './secret-variables.ts';
import { SettingsError } from './settings-error.ts';

export type { ChannelProtocol } from './channel-protocol.ts';
export type { ConfigurationFile };

/** A configuration file and the locations of its values. */
export interface ParsedConfiguration {
  file: ConfigurationFile;
  /** Returns the line of a value, from 1. */
  lineOf(path: readonly (string | number)[]): number;
}

/**
 * Parses a configuration file. `${NAME}` in a string is replaced by that environment variable, or by the contents of the
 * file that `NAME_FILE` names.
 *
 * @throws SettingsError with one line `file:line: problem` for each error
 */
export function parseConfiguration(
  path: string,
  text: string,
  environment: Environment,
): ParsedConfiguration {
  const lines = new LineCounter();
  // Pretty errors would quote the file, which may contain secrets.
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const problems = document.errors.map(({ message, pos }) => ({
    offset: pos[0],
    message: unquoted(message),
  }));
  if (problems.length === 0) {
    problems.push(...expandVariables(document, environment));
    const value: unknown = problems.length === 0 ? (document.toJS() ?? {}) : {};
    if (problems.length === 0 && validateConfigurationFile(value)) {
      const found = [...contradictions(value), ...readKeyFiles(value), ...unusableChannels(value)];
      problems.push(...found.map(({ at, message }) => ({ offset: offsetOf(document, at), message })));
      const lineOf: ParsedConfiguration['lineOf'] = (at) => lines.linePos(offsetOf(document, at)).line;
      if (problems.length === 0) return { file: value, lineOf };
    }
    for (const error of problems.length === 0 ? (validateConfigurationFile.errors ?? []) : []) {
      problems.push({ offset: offsetOf(document, pointerParts(error)), message: describe(error) });
    }
  }
  const report = problems.map(({ offset, message }) => `${path}:${lines.linePos(offset).line}: ${message}`);
  throw new SettingsError(report.join('\n'));
}

/** Replaces `${NAME}` in every string. Returns unset variables and undefined anchors. */
function expandVariables(document: Document, environment: Environment) {
  const problems: { offset: number; message: string }[] = [];
  visit(document, {
    Scalar(_key, node) {
      if (typeof node.value !== 'string') return;
      node.value = node.value.replace(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g, (_all, name: string) => {
        const value = readVariable(environment, name);
        if (typeof value === 'string') return value;
        problems.push({ offset: node.range?.[0] ?? 0, ...value });
        return '';
      });
    },
    Alias(_key, node) {
      if (node.resolve(document) !== undefined) return;
      const message = 'an alias needs an earlier anchor; put a text that begins with * in quotes.';
      problems.push({ offset: node.range?.[0] ?? 0, message });
    },
  });
  return problems;
}

/** Returns the value of a variable, or the reason why it has none. */
function readVariable(environment: Environment, name: string): string | { message: string } {
  try {
    return readSecret(environment, name) ?? { message: `${name} is not set.` };
  } catch (error) {
    if (error instanceof SettingsError) return { message: error.message };
    throw error;
  }
}

interface Problem {
  /** Path of the value. */
  at: (string | number)[];
  message: string;
}

/** Finds errors that the schema cannot express. */
function contradictions(file: ConfigurationFile): Problem[] {
  const groups = new Set(Object.keys(file.groups ?? { default: {} }));
  const names = new Set<string>();
  const proxies = (file.trusted_proxies ?? []).flatMap((range, index) =>
    isRange(range) ? [] : [{ at: ['trusted_proxies', index], message: `${range} is no address or range.` }],
  );
  const channels = (file.channels ?? []).flatMap((channel, index) => {
    const problems: Problem[] = [];
    if (names.has(channel.name)) {
      problems.push({ at: ['channels', index, 'name'], message: `two channels are named ${channel.name}.` });
    }
    names.add(channel.name);
    if (isSandboxChannel(channel.name)) {
      const message = `${channel.name} is the name of a channel of the sandbox.`;
      problems.push({ at: ['channels', index, 'name'], message });
    }
    if (channel.key !== undefined && channel.key_file !== undefined) {
      problems.push({ at: ['channels', index, 'key_file'], message: 'key and key_file exclude each other.' });
    }
    for (const [position, group] of (channel.groups ?? []).entries()) {
      if (groups.has(group)) continue;
      problems.push({ at: ['channels', index, 'groups', position], message: `there is no group ${group}.` });
    }
    return problems;
  });
  return [
    ...proxies,
    ...channels,
    ...currencyProblems(file),
    ...priceProblems(file),
    ...fallbackProblems(file.fallbacks ?? {}),
  ];
}

/** Finds currencies that do not exist. */
function currencyProblems({ display, groups = {} }: ConfigurationFile): Problem[] {
  const displays = [
    { at: ['display'], display },
    ...Object.entries(groups).map(([name, group]) => ({
      at: ['groups', name, 'display'],
      display: group.display,
    })),
  ];
  const isKnown = (currency: string) => Intl.supportedValuesOf('currency').includes(currency);
  return displays.flatMap(({ at, display }) =>
    display === undefined || isKnown(display.currency)
      ? []
      : [
          problemAt(
            [...at, 'currency'],
            `${display.currency} is no ISO 4217 code of a currency, such as EUR.`,
          ),
        ],
  );
}

/** Finds mistakes in price rules, and prices of figures that a usage of the model does not have. */
function priceProblems({ prices = {}, channels = [], sandbox = false }: ConfigurationFile): Problem[] {
  const accounts = channels.map(({ protocol, models, costs }) => ({
    protocol,
    models: models.map((model) => (typeof model === 'string' ? { id: model } : model)),
    costs,
  }));
  const lists = ruleLists({ prices, sandbox: sandbox !== false, channels: accounts });
  return lists.flatMap(({ at, rules, models }) => [
    ...ruleProblems(rules).map((problem) => problemAt([...at, ...problem.at], problem.message)),
    ...rules.flatMap((rule, index) => figureProblems(rule, models, [...at, index])),
  ]);
}

function figureProblems(
  rule: PriceRule,
  priced: readonly PricedModel[],
  place: readonly (string | number)[],
): Problem[] {
  const found = new Map<FigureName, PricedModel>();
  for (const model of priced)
    for (const figure of missingFigures(rule, model)) if (!found.has(figure)) found.set(figure, model);
  return [...found].map(([figure, { id, unit }]) =>
    problemAt([...place, 'per', figure], `the usage of ${id} has no such figure; it is metered in ${unit}.`),
  );
}

function problemAt(at: (string | number)[], message: string): Problem {
  return { at, message: `${at.join('.')}: ${message}` };
}

/** Reads the keys in `key_file` into `key`. */
function readKeyFiles({ channels = [] }: ConfigurationFile): Problem[] {
  return channels.flatMap((channel, index) => {
    const { key_file: path, key } = channel;
    if (path === undefined || key !== undefined) return [];
    const at = ['channels', index, 'key_file'];
    try {
      channel.key = readFileSync(path, 'utf8').trim();
    } catch (error) {
      return [{ at, message: `cannot read ${path} (${(error as NodeJS.ErrnoException).code}).` }];
    }
    return channel.key === '' ? [{ at, message: `${path} is empty.` }] : [];
  });
}

/** Finds addresses and keys that cannot be used for a connection. */
function unusableChannels({ channels = [] }: ConfigurationFile): Problem[] {
  return channels.flatMap(({ key = '', key_file, ...channel }, index) => {
    const addresses = (['base_url', 'ws_url'] as const).flatMap((field) =>
      channel[field] === undefined || URL.canParse(channel[field])
        ? []
        : [{ at: ['channels', index, field], message: `channels.${index}.${field} is no address.` }],
    );
    if (/^[\x20-\x7e]*$/.test(key)) return addresses;
    const at = ['channels', index, key_file === undefined ? 'key' : 'key_file'];
    return [...addresses, { at, message: `the key of ${channel.name} has characters that no header takes.` }];
  });
}

/** Removes the quoted text that follows a colon in messages of the parser. */
function unquoted(message: string): string {
  return message.replace(/(?<=\S):\s[\s\S]*$/, '');
}

function pointerParts(error: ErrorObject): (string | number)[] {
  const parts = error.instancePath
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((part) => (/^\d+$/.test(part) ? Number(part) : part));
  return error.keyword === 'additionalProperties'
    ? [...parts, String(error.params.additionalProperty)]
    : parts;
}

function describe(error: ErrorObject): string {
  const at = pointerParts(error).join('.') || 'the file';
  if (error.keyword === 'additionalProperties') return `${at} is not a known setting.`;
  const allowed = error.keyword === 'enum' ? `: ${(error.params.allowedValues as string[]).join(', ')}` : '';
  return `${at} ${error.message ?? 'is not valid'}${allowed}.`;
}

/** Returns the offset of a value in the file, or of its key. */
function offsetOf(document: Document, parts: readonly (string | number)[]): number {
  const parent = parts.length === 0 ? document.contents : document.getIn(parts.slice(0, -1), true);
  if (isMap(parent)) {
    const pair = parent.items.find(({ key }) => isNode(key) && String(key) === String(parts.at(-1)));
    if (pair !== undefined && isNode(pair.key)) return pair.key.range?.[0] ?? 0;
  }
  const node = document.getIn(parts, true);
  return isNode(node) ? (node.range?.[0] ?? 0) : isNode(parent) ? (parent.range?.[0] ?? 0) : 0;
}
