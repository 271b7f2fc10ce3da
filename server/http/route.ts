import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { NextFunction, Request, Response } from 'express';
import { Failure, invalid } from '../failure.ts';
import { findRoute, type Operation } from './routes.ts';

/** Finds the operation once; everything after it reads `request.call.operation`. */
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
  takeAliases(request.headers, operation.headerAliases);
  request.call.operation = operation;
  request.call.params = Object.fromEntries(
    found.names.map((name, index) => [name, decode(match.values[index] ?? '')]),
  );
  next();
}

/**
 * Whoever stands between client and gateway may believe another one of two hosts.
 *
 * @throws Failure 400
 */
export function requireOneHost({ rawHeaders }: IncomingMessage): void {
  const hosts = rawHeaders.filter((name, index) => index % 2 === 0 && /^host$/i.test(name));
  if (hosts.length > 1) throw invalid('host', 'must be sent once.');
}

/** Gives headers that came under another name the name that the contract has for them. */
export function takeAliases(headers: IncomingHttpHeaders, aliases: Operation['headerAliases'] = {}): void {
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
