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

/** Renders generated/operations.ts, with one entry per operation. A copy under another prefix is an alias. */
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
  /** First tag of the operation, which is the name of its folder. */
  readonly area: string;
  readonly summary: string;
  /** Further path templates of the same operation. */
  readonly aliases: readonly string[];
  /** All documented statuses. */
  readonly statuses: readonly number[];
  readonly mediaTypes: {
    /** Empty if the operation has no request body. */
    readonly request: readonly string[];
    /** By status. Empty if the response has no body. */
    readonly response: Readonly<Record<number, readonly string[]>>;
  };
  readonly errorFamily: 'generic' | 'native' | 'management' | 'messages';
  /** True if the operation is not part of the interface. */
  readonly extension: boolean;
  readonly security: 'none' | 'bearer' | 'bearer_or_api_key';
  /** The scope that the key must have. Undefined if every key may call the operation. */
  readonly role?: 'admin';
  /** Maximum size of the request body in megabytes. Undefined without a request body. */
  readonly bodyLimitMb?: number;
  /** Maximum size of the body without inline media, in megabytes. Undefined if it cannot contain media. */
  readonly textLimitMb?: number;
  /** True if the last path parameter contains all following segments, so that its value may contain slashes. */
  readonly multiSegment?: true;
  /** True if the operation has no parameters and no request body. */
  readonly noInput?: true;
  /** True if members with the role billing may call the operation. */
  readonly billing?: true;
  /** When a deprecated operation was deprecated, and after which date it may be removed, as \`YYYY-MM-DD\`. */
  readonly sunset?: { readonly since: string; readonly date: string };
  /** Header aliases: alias -> name in the contract. */
  readonly headerAliases?: Readonly<Record<string, string>>;
}

export const operations = ${literal(table)} as const satisfies Readonly<Record<string, OperationFacts>>;

export type OperationId = keyof typeof operations;

export const operationIds = Object.keys(operations) as OperationId[];

/** Routes of common clients that the gateway answers with 404 and the message. */
export const unsupportedRoutes: readonly {
  readonly method: string;
  readonly path: string;
  readonly message: string;
}[] = ${literal(unsupportedRoutes(openapi))};
`;
}

/** Reads `x-unsupported-routes`. */
function unsupportedRoutes(openapi: JsonObject): Record<string, string>[] {
  const routes = openapi['x-unsupported-routes'];
  return (Array.isArray(routes) ? routes.filter(isObject) : []).map(({ method, path, message }) => ({
    method: text(method),
    path: text(path),
    message: text(message),
  }));
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
    billing: node['x-billing'] === true ? true : undefined,
    bodyLimitMb: node['x-body-limit-mb'],
    textLimitMb: node['x-text-limit-mb'],
    multiSegment: hasMultiSegment(openapi, node) ? true : undefined,
    noInput: hasInput(path, node) ? undefined : true,
    sunset: sunset(node),
    headerAliases: headerAliases(openapi, node),
  };
}

function hasInput(path: string, { parameters, requestBody }: JsonObject): boolean {
  return (
    path.includes('{') || requestBody !== undefined || (Array.isArray(parameters) && parameters.length > 0)
  );
}

/** Reads `x-multi-segment` of path parameters. */
function hasMultiSegment(openapi: JsonObject, node: JsonObject): boolean {
  const parameters = Array.isArray(node.parameters) ? node.parameters : [];
  return parameters.some((parameter) => deref(openapi, parameter)['x-multi-segment'] === true);
}

/** Reads `x-sunset`. Undefined if the operation is not deprecated. */
function sunset(node: JsonObject): { since: string; date: string } | undefined {
  if (!isObject(node['x-sunset'])) return undefined;
  const { since, date } = node['x-sunset'];
  return { since: text(since), date: text(date) };
}

/** Reads `x-aliases` of header parameters. Undefined without aliases. */
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
    // Only the handshake reads a key in a subprotocol.
    return scheme.name === 'x-api-key' ? ['api_key'] : [];
  });
  return [...new Set(kinds)].sort().reverse().join('_or_') || 'none';
}
