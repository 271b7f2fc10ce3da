import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { NextFunction, Request, Response } from 'express';
import {
  type OperationFacts,
  type OperationId,
  operationIds,
  operations,
  unsupportedRoutes,
} from '../../generated/operations.ts';
import { Failure, invalid } from '../lib/failure.ts';
import { setDeprecation } from './deprecation.ts';

export type Operation = OperationFacts & { readonly id: OperationId };

/** An operation under one of its paths. */
export interface Route {
  readonly operation: Operation;
  /** Path template as in the contract. */
  readonly path: string;
  readonly names: readonly string[];
}

export interface Match {
  /** By method in lower case. */
  readonly methods: ReadonlyMap<string, Route>;
  /** Raw values of the path parameters, in order. */
  readonly values: readonly string[];
}

type ErrorFamily = Operation['errorFamily'];

/** A segment of a path template. `Target` is what a method of the complete path leads to. */
interface Node<Target> {
  literal: Map<string, Node<Target>>;
  parameter: Node<Target> | undefined;
  methods: Map<string, Target>;
  /** Whether the parameter that ends here may hold slashes. */
  isMultiSegment: boolean;
  /** Error families of the operations at and below this node. */
  families: Set<ErrorFamily>;
}

const emptyNode = <Target>(): Node<Target> => ({
  literal: new Map(),
  parameter: undefined,
  methods: new Map(),
  isMultiSegment: false,
  families: new Set(),
});

const root = emptyNode<Route>();
/** Messages of the unsupported routes. */
const unsupportedRoot = emptyNode<string>();

/** Every path of every operation, aliases included. */
export const routes: readonly Route[] = operationIds.flatMap((id) => {
  const operation: Operation = { ...operations[id], id };
  return [operation.path, ...operation.aliases].map((path) => ({
    operation,
    path,
    names: [...path.matchAll(/\{([^}]+)\}/g)].map(([, name = '']) => name),
  }));
});

/** Results of `findRoute` for paths without parameters, by path. */
const literalMatches = new Map<string, Match>();

for (const route of routes) {
  const { method, multiSegment, errorFamily } = route.operation;
  let node = root;
  for (const segment of segments(route.path)) {
    node.families.add(errorFamily);
    node = child(node, segment);
  }
  node.families.add(errorFamily);
  node.methods.set(method, route);
  node.isMultiSegment ||= multiSegment === true;
  if (route.names.length === 0) literalMatches.set(route.path, { methods: node.methods, values: [] });
}

for (const { method, path, message } of unsupportedRoutes) {
  const node = segments(path).reduce(child<string>, unsupportedRoot);
  node.methods.set(method, message);
}

/**
 * Finds the operations of a path in one walk over its segments. Literal segments win over parameters, and a trailing
 * slash is ignored. The parameter of a multi-segment route matches the rest of the path.
 */
export function findRoute(path: string): Match | undefined {
  const literal = literalMatches.get(path);
  if (literal !== undefined) return literal;
  const values: string[] = [];
  const node = walk(root, segments(path), 0, values);
  return node === undefined ? undefined : { methods: node.methods, values };
}

/**
 * Returns the error family of a path: that of all operations below its longest known part. Generic if they have several
 * families.
 */
export function errorFamilyNear(path: string): ErrorFamily {
  let node = root;
  for (const segment of segments(path)) {
    const next = node.literal.get(segment) ?? node.parameter;
    if (next === undefined) break;
    node = next;
  }
  const [family = 'generic', ...others] = node.families;
  return others.length === 0 ? family : 'generic';
}

function walk<Target>(
  node: Node<Target>,
  path: readonly string[],
  index: number,
  values: string[],
): Node<Target> | undefined {
  const segment = path[index];
  if (segment === undefined) return node.methods.size > 0 ? node : undefined;
  const literal = node.literal.get(segment);
  const found = literal === undefined ? undefined : walk(literal, path, index + 1, values);
  if (found !== undefined || node.parameter === undefined || segment === '') return found;
  values.push(segment);
  const below = walk(node.parameter, path, index + 1, values);
  if (below !== undefined) return below;
  values.pop();
  const rest = path.slice(index);
  if (!node.parameter.isMultiSegment || rest.includes('')) return undefined;
  values.push(rest.join('/'));
  return node.parameter;
}

function child<Target>(node: Node<Target>, segment: string): Node<Target> {
  if (segment.startsWith('{')) {
    node.parameter ??= emptyNode<Target>();
    return node.parameter;
  }
  const next = node.literal.get(segment) ?? emptyNode<Target>();
  node.literal.set(segment, next);
  return next;
}

function segments(path: string): string[] {
  const parts = path.split('/');
  parts.shift();
  if (parts.length > 1 && parts.at(-1) === '') parts.pop();
  return parts;
}

/** Routes the request: sets `context.operation`, `route` and `params`. */
export function route(request: Request, response: Response, next: NextFunction): void {
  requireOneHost(request);
  const match = findRoute(request.path);
  const found = match?.methods.get(request.method === 'HEAD' ? 'get' : request.method.toLowerCase());
  if (match === undefined || found === undefined) {
    const unsupported = unsupportedMessage(request);
    if (unsupported !== undefined) throw new Failure(404, 'path_not_found', unsupported);
    if (match === undefined) {
      const called = `${request.method} ${request.path.slice(0, 200)}`;
      const meant = pathAtOtherBase(request);
      const hint = meant === undefined ? '' : ` ${request.method} ${meant} is: check the base address.`;
      throw new Failure(404, 'path_not_found', `${called} is not part of this API.${hint}`);
    }
    const allowed = [...match.methods.keys()].map((method) => method.toUpperCase()).join(', ');
    response.setHeader('allow', allowed);
    throw new Failure(405, 'method_not_allowed', `${request.method} is not allowed here; use ${allowed}.`);
  }
  const { operation } = found;
  renameAliases(request.headers, operation.headerAliases);
  request.context.operation = operation;
  request.context.route = found.path;
  setDeprecation(response, operation);
  setFamilyHeaders(response, operation.errorFamily, request.context.requestId);
  if (found.names.length > 0)
    request.context.params = Object.fromEntries(
      found.names.map((name, index) => [name, decode(match.values[index] ?? '')]),
    );
  next();
}

/**
 * Rejects two `Host` headers, because proxies could disagree on which one counts (request smuggling).
 *
 * @throws Failure 400
 */
export function requireOneHost({ rawHeaders }: IncomingMessage): void {
  let hosts = 0;
  for (let index = 0; index < rawHeaders.length; index += 2)
    if (rawHeaders[index]?.length === 4 && /^host$/i.test(rawHeaders[index] ?? '')) hosts += 1;
  if (hosts > 1) throw invalid('host', 'must be sent once.');
}

/** Returns the message of the contract for an unsupported route. Undefined for any other route. */
function unsupportedMessage({ method, path }: Request): string | undefined {
  return walk(unsupportedRoot, segments(path), 0, [])?.methods.get(method.toLowerCase());
}

/** Returns the path that a client meant whose base address has `/v1` but should not, or the reverse. */
function pathAtOtherBase({ method, path }: Request): string | undefined {
  const other = path.startsWith('/v1/v1/') ? path.slice('/v1'.length) : `/v1${path}`;
  return findRoute(other)?.methods.has(method.toLowerCase()) ? other : undefined;
}

/** Sets the header that clients of the messages API read. */
export function setFamilyHeaders(response: Response, family: ErrorFamily, requestId: string): void {
  if (family === 'messages') response.setHeader('request-id', requestId);
}

/** Copies headers with an alternative name to the name in the contract. */
function renameAliases(headers: IncomingHttpHeaders, aliases: Operation['headerAliases'] = {}): void {
  for (const [alias, name] of Object.entries(aliases)) {
    if (headers[name] === undefined && headers[alias] !== undefined) headers[name] = headers[alias];
  }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (cause) {
    throw new Failure(400, 'invalid_request', 'path: has a malformed percent escape.', { cause });
  }
}
