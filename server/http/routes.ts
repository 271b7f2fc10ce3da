import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { NextFunction, Request, Response } from 'express';
import {
  type OperationFacts,
  type OperationId,
  operationIds,
  operations,
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

interface Node {
  literal: Map<string, Node>;
  parameter: Node | undefined;
  methods: Map<string, Route>;
  /** Whether the parameter that ends here may hold slashes. */
  isMultiSegment: boolean;
}

const emptyNode = (): Node => ({
  literal: new Map(),
  parameter: undefined,
  methods: new Map(),
  isMultiSegment: false,
});

const root = emptyNode();

/** Every path of every operation, aliases included. */
export const routes: readonly Route[] = operationIds.flatMap((id) => {
  const operation: Operation = { ...operations[id], id };
  return [operation.path, ...operation.aliases].map((path) => ({
    operation,
    path,
    names: [...path.matchAll(/\{([^}]+)\}/g)].map(([, name = '']) => name),
  }));
});

for (const route of routes) {
  let node = root;
  for (const segment of segments(route.path)) node = child(node, segment);
  node.methods.set(route.operation.method, route);
  node.isMultiSegment ||= route.operation.multiSegment === true;
}

/**
 * Finds the operations of a path in one walk over its segments. Literal segments win over parameters, and a trailing
 * slash is ignored. The parameter of a multi-segment route matches the rest of the path.
 */
export function findRoute(path: string): Match | undefined {
  const values: string[] = [];
  const node = walk(root, segments(path), 0, values);
  return node === undefined ? undefined : { methods: node.methods, values };
}

function walk(node: Node, path: readonly string[], index: number, values: string[]): Node | undefined {
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

function child(node: Node, segment: string): Node {
  if (segment.startsWith('{')) {
    node.parameter ??= emptyNode();
    return node.parameter;
  }
  const next = node.literal.get(segment) ?? emptyNode();
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
  if (match === undefined) {
    throw new Failure(
      404,
      'path_not_found',
      `${request.method} ${request.path.slice(0, 200)} is not part of this API.`,
    );
  }
  const found = match.methods.get(request.method === 'HEAD' ? 'get' : request.method.toLowerCase());
  if (found === undefined) {
    const allowed = [...match.methods.keys()].map((method) => method.toUpperCase()).join(', ');
    response.setHeader('allow', allowed);
    throw new Failure(405, 'method_not_allowed', `${request.method} is not allowed here; use ${allowed}.`);
  }
  const { operation } = found;
  renameAliases(request.headers, operation.headerAliases);
  request.context.operation = operation;
  request.context.route = found.path;
  setDeprecation(response, operation);
  // Clients of the messages API read this header.
  if (operation.errorFamily === 'messages') response.setHeader('request-id', request.context.requestId);
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
