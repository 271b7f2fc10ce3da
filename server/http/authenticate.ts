import type { IncomingHttpHeaders } from 'node:http';
import type { NextFunction, Request, Response } from 'express';
import { requireCallRight } from '../keys/caller.ts';
import type { RateLimiter } from '../keys/rate-limiter.ts';
import { Failure } from '../lib/failure.ts';
import type { Gateway } from './gateway.ts';

/** Checks the key before a byte of the body is read. Operations without security pass. */
export function authenticate({
  keys,
  addressOf,
}: Pick<Gateway, 'addressOf'> & { keys: Pick<Gateway['keys'], 'getCached' | 'authenticate'> }) {
  return (request: Request, _response: Response, next: NextFunction): void => {
    const { operation } = request.context;
    if (operation === undefined || operation.security === 'none') {
      next();
      return;
    }
    const key = readKey(request, operation.security === 'bearer_or_api_key');
    const address = addressOf(request);
    const known = keys.getCached(key, address);
    if (known !== undefined) {
      request.context.caller = known;
      next();
      return;
    }
    keys.authenticate(key, address).then((caller) => {
      request.context.caller = caller;
      next();
    }, next);
  };
}

/** Rejects keys without admin access on operations that require it, before the body is read. */
export function requireAdmin(request: Request, _response: Response, next: NextFunction): void {
  const { operation, caller } = request.context;
  if (operation?.role === 'admin' && caller?.isAdmin !== true)
    throw new Failure(403, 'access_denied', 'This operation requires a key with the scope admin.');
  next();
}

/** Rejects keys of billing members on operations that are not for them, before the body is read. */
export function requireMemberRole(request: Request, _response: Response, next: NextFunction): void {
  const { operation, caller } = request.context;
  if (caller !== undefined && operation?.billing !== true) requireCallRight(caller);
  next();
}

/** Rejects the requests of a key beyond its limit. Operations without a key have no limit. */
export function limitRate(limit: RateLimiter) {
  return (request: Request, _response: Response, next: NextFunction): void => {
    const { caller } = request.context;
    const waiting = caller === undefined ? undefined : limit.acquire(caller);
    if (waiting === undefined) next();
    else waiting.then(() => next(), next);
  };
}

/** The key of an `Authorization: Bearer` header. */
export function bearerKey({ authorization }: IncomingHttpHeaders): string | undefined {
  return authorization === undefined ? undefined : /^Bearer +(\S+) *$/i.exec(authorization)?.[1];
}

/** @throws Failure 401 when there is no key, or two different ones. */
function readKey(request: Request, apiKeyHeader: boolean): string {
  const bearer = bearerKey(request.headers);
  const header = apiKeyHeader ? request.headers['x-api-key'] || undefined : undefined;
  if (bearer !== undefined && header !== undefined && header !== bearer)
    throw new Failure(401, 'invalid_api_key', 'authorization and x-api-key carry different keys; send one.');
  const key = bearer ?? header;
  if (typeof key === 'string') return key;
  const names = `"Authorization: Bearer <API_KEY>"${apiKeyHeader ? ' or "x-api-key"' : ''}`;
  throw new Failure(401, 'invalid_api_key', `authorization: send your API key in ${names}.`);
}
