import {
  deref,
  isObject,
  type JsonObject,
  type Operation,
  objects,
  operationsOf,
  strings,
  text,
} from './document.ts';
import { header, literal } from './source-text.ts';

/** The source of generated/operations.ts: one entry an operation; a copy under another prefix is an alias. */
export function operationsSource(openapi: JsonObject): string {
  const all = operationsOf(openapi);
  const table: Record<string, unknown> = {};
  for (const operation of all.filter(({ aliasOf }) => !aliasOf)) {
    const aliases = all.filter(({ aliasOf }) => aliasOf === operation.id).map(({ path }) => path);
    table[operation.id] = facts(openapi, operation, aliases);
  }
  return `${header}
export interface OperationFacts {
  readonly method: 'get' | 'put' | 'post' | 'delete' | 'options' | 'head' | 'patch' | 'trace';
  /** Path template with \`{name}\` parameters. */
  readonly path: string;
  /** The operation's first tag, the name of its folder. */
  readonly area: string;
  readonly summary: string;
  /** Path templates under which the same operation answers too. */
  readonly aliases: readonly string[];
  /** Every documented status. */
  readonly statuses: readonly number[];
  readonly mediaTypes: {
    /** Empty when the operation takes no body. */
    readonly request: readonly string[];
    /** By status; empty when the response has no body. */
    readonly response: Readonly<Record<number, readonly string[]>>;
  };
  readonly errorFamily: 'generic' | 'native' | 'management' | 'messages';
  /** Not part of the interface. */
  readonly extension: boolean;
  readonly security: 'none' | 'bearer' | 'bearer_or_api_key';
  /** The scope that the key must have. Undefined if every key may call the operation. */
  readonly role?: 'admin';
  /** Largest request body in megabytes; undefined when the operation takes none. */
  readonly bodyLimitMb?: number;
  /** Largest part of it that is no inline media, in megabytes; undefined when none may stand in it. */
  readonly textLimitMb?: number;
  /** True when the last path parameter also holds the segments that follow it: its value may contain slashes. */
  readonly multiSegment?: true;
  /** Headers that are taken in the place of others: name sent -> name in the contract. */
  readonly headerAliases?: Readonly<Record<string, string>>;
}

export const operations = ${literal(table)} as const satisfies Readonly<Record<string, OperationFacts>>;

export type OperationId = keyof typeof operations;

export const operationIds = Object.keys(operations) as OperationId[];
`;
}

function facts(openapi: JsonObject, { method, path, node }: Operation, aliases: string[]) {
  const statuses = Object.keys(isObject(node.responses) ? node.responses : {}).map(Number);
  return {
    method,
    path,
    area: strings(node.tags)[0] ?? '',
    summary: node.summary ?? '',
    aliases,
    statuses,
    mediaTypes: {
      request: mediaTypes(openapi, node.requestBody),
      response: Object.fromEntries(
        objects(node.responses).map(([status, response]) => [status, mediaTypes(openapi, response)]),
      ),
    },
    errorFamily: node['x-error-family'],
    extension: node['x-extension'] === true,
    security: security(openapi, node),
    role: node['x-role'],
    bodyLimitMb: node['x-body-limit-mb'],
    textLimitMb: node['x-text-limit-mb'],
    multiSegment: hasMultiSegment(openapi, node) ? true : undefined,
    headerAliases: headerAliases(openapi, node),
  };
}

/** From `x-multi-segment` of path parameters. */
function hasMultiSegment(openapi: JsonObject, node: JsonObject): boolean {
  const parameters = Array.isArray(node.parameters) ? node.parameters : [];
  return parameters.some((parameter) => deref(openapi, parameter)['x-multi-segment'] === true);
}

/** From `x-aliases` of header parameters. Undefined when there are none. */
function headerAliases(openapi: JsonObject, node: JsonObject): Record<string, string> | undefined {
  const parameters = Array.isArray(node.parameters) ? node.parameters : [];
  const aliases = parameters
    .map((parameter) => deref(openapi, parameter))
    .filter((parameter) => parameter.in === 'header')
    .flatMap((parameter) => strings(parameter['x-aliases']).map((alias) => [alias, text(parameter.name)]));
  return aliases.length === 0 ? undefined : Object.fromEntries(aliases);
}

const mediaTypes = (openapi: JsonObject, node: JsonObject[string] | undefined) =>
  objects(deref(openapi, node).content).map(([type]) => type);

function security(openapi: JsonObject, node: JsonObject): string {
  const requirements = node.security ?? openapi.security;
  const schemes = (Array.isArray(requirements) ? requirements : []).flatMap((requirement) =>
    Object.keys(isObject(requirement) ? requirement : {}),
  );
  const components = isObject(openapi.components) ? openapi.components : {};
  const known = new Map(objects(components.securitySchemes));
  const kinds = schemes.flatMap((name) => {
    const scheme = known.get(name);
    if (scheme?.type !== 'apiKey') return ['bearer'];
    // A key in a subprotocol is read by the handshake alone.
    return scheme.name === 'x-api-key' ? ['api_key'] : [];
  });
  return [...new Set(kinds)].sort().reverse().join('_or_') || 'none';
}
