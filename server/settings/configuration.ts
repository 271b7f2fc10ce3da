import { readFileSync } from 'node:fs';
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { type Document, isMap, isNode, LineCounter, parseDocument, visit } from 'yaml';
import { isRange } from './address-ranges.ts';
import schema from './settings.schema.json' with { type: 'json' };
import { SettingsError } from './settings-error.ts';

/** The protocol an upstream account speaks. */
export type ChannelProtocol =
  | 'native'
  | 'official'
  | 'eta'
  | 'sigma'
  | 'imgjob'
  | 'messages'
  | 'embeddings'
  | 'verification';

/** The configuration file as written, after the check against its schema. */
export interface ConfigurationFile {
  sandbox?: boolean | { task_seconds?: number; song_seconds?: number; draft?: boolean };
  groups?: Record<string, { models: string[]; ratio?: number }>;
  prices?: Record<string, number>;
  channels?: {
    name: string;
    protocol: ChannelProtocol;
    base_url: string;
    ws_url?: string;
    key?: string;
    key_file?: string;
    models: (string | { id: string; upstream: string })[];
    groups?: string[];
    priority?: number;
    weight?: number;
    voices?: string[];
    profile?: { headers?: Record<string, string>; paths?: Record<string, string> };
    custom_domains?: string[];
    private_files?: boolean;
    relay_media?: boolean;
    trace_context?: boolean;
  }[];
  database?: {
    connections?: number;
    connect_timeout_ms?: number;
    statement_timeout_ms?: number;
    idle_in_transaction_timeout_ms?: number;
  };
  callbacks?: { allow_private?: boolean; secret?: string };
  stop?: { delay_seconds?: number };
  books?: { keep_days?: number };
  trusted_proxies?: string[];
  limits?: {
    body_mb?: number;
    body_mb_per_key?: number;
    keys_per_key?: number;
    requests_per_minute?: number;
    sockets_per_key?: number;
    speech_seconds?: number;
  };
}

let compiled: ValidateFunction<ConfigurationFile> | undefined;

/** Compiled for the first file: a gateway without one starts faster. */
function fileCheck(): ValidateFunction<ConfigurationFile> {
  compiled ??= new Ajv({ allowUnionTypes: true, allErrors: true }).compile<ConfigurationFile>(schema);
  return compiled;
}

/** A configuration file and the places of its values. */
export interface ParsedConfiguration {
  file: ConfigurationFile;
  /** The line of a value, from 1. */
  lineOf(path: readonly (string | number)[]): number;
}

/**
 * Reads the text of a configuration file; `${NAME}` in a string stands for that environment variable.
 *
 * @throws SettingsError with a line `file:line: what is wrong` for each error.
 */
export function parseConfiguration(
  path: string,
  text: string,
  environment: Readonly<Record<string, string | undefined>>,
): ParsedConfiguration {
  const lines = new LineCounter();
  const check = fileCheck();
  // Prettier errors would quote the file, and what stands in it may be a secret.
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const problems = document.errors.map(({ message, pos }) => ({
    offset: pos[0],
    message: unquoted(message),
  }));
  if (problems.length === 0) {
    problems.push(...fillIn(document, environment));
    const value: unknown = problems.length === 0 ? (document.toJS() ?? {}) : {};
    if (problems.length === 0 && check(value)) {
      const wrong = [...contradictions(value), ...fillInKeys(value), ...unusableChannels(value)];
      problems.push(...wrong.map(({ at, message }) => ({ offset: offsetOf(document, at), message })));
      const lineOf: ParsedConfiguration['lineOf'] = (at) => lines.linePos(offsetOf(document, at)).line;
      if (problems.length === 0) return { file: value, lineOf };
    }
    for (const error of problems.length === 0 ? (check.errors ?? []) : []) {
      problems.push({ offset: offsetOf(document, pointerParts(error)), message: explain(error) });
    }
  }
  const report = problems.map(({ offset, message }) => `${path}:${lines.linePos(offset).line}: ${message}`);
  throw new SettingsError(report.join('\n'));
}

/** Replaces `${NAME}` in every string; tells which variables are not set, and which anchors are not there. */
function fillIn(document: Document, environment: Readonly<Record<string, string | undefined>>) {
  const problems: { offset: number; message: string }[] = [];
  visit(document, {
    Scalar(_key, node) {
      if (typeof node.value !== 'string') return;
      node.value = node.value.replace(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g, (_all, name: string) => {
        const value = environment[name];
        if (value === undefined)
          problems.push({ offset: node.range?.[0] ?? 0, message: `${name} is not set.` });
        return value ?? '';
      });
    },
    Alias(_key, node) {
      if (node.resolve(document) !== undefined) return;
      const message = 'a * refers to an anchor before it; a text that begins with one stands in quotes.';
      problems.push({ offset: node.range?.[0] ?? 0, message });
    },
  });
  return problems;
}

interface Problem {
  /** Where the value stands. */
  at: (string | number)[];
  message: string;
}

/** What the schema cannot say. */
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
    if (channel.key !== undefined && channel.key_file !== undefined) {
      problems.push({ at: ['channels', index, 'key_file'], message: 'key and key_file exclude each other.' });
    }
    for (const [position, group] of (channel.groups ?? []).entries()) {
      if (groups.has(group)) continue;
      problems.push({ at: ['channels', index, 'groups', position], message: `there is no group ${group}.` });
    }
    return problems;
  });
  return [...proxies, ...channels];
}

/** Puts the keys that stand in files of their own where keys stand. */
function fillInKeys({ channels = [] }: ConfigurationFile): Problem[] {
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

/** What no connection could be made with. */
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

/** Without what the parser repeats of the text behind a colon. */
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

function explain(error: ErrorObject): string {
  const at = pointerParts(error).join('.') || 'the file';
  if (error.keyword === 'additionalProperties') return `${at} is not a known setting.`;
  const allowed = error.keyword === 'enum' ? `: ${(error.params.allowedValues as string[]).join(', ')}` : '';
  return `${at} ${error.message ?? 'is not valid'}${allowed}.`;
}

/** Where a value stands in the file; for an unknown key, where the key stands. */
function offsetOf(document: Document, parts: readonly (string | number)[]): number {
  const parent = parts.length === 0 ? document.contents : document.getIn(parts.slice(0, -1), true);
  if (isMap(parent)) {
    const pair = parent.items.find(({ key }) => isNode(key) && String(key) === String(parts.at(-1)));
    if (pair !== undefined && isNode(pair.key)) return pair.key.range?.[0] ?? 0;
  }
  const node = document.getIn(parts, true);
  return isNode(node) ? (node.range?.[0] ?? 0) : isNode(parent) ? (parent.range?.[0] ?? 0) : 0;
}
