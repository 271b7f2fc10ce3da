import type { NextFunction, Request, Response } from 'express';
import { operations } from '../../generated/operations.ts';

const allowedMethods = [...new Set(Object.values(operations).map(({ method }) => method.toUpperCase()))].join(
  ', ',
);

const allowedHeaders = [
  'authorization',
  'content-type',
  'x-api-key',
  'compat-version',
  'compat-beta',
  'anthropic-version',
  'anthropic-beta',
  'x-request-id',
  'x-native-sse',
  'x-native-async',
  'range',
  'idempotency-key',
  ...[
    'lang',
    'package-version',
    'os',
    'arch',
    'runtime',
    'runtime-version',
    'retry-count',
    'timeout',
    'helper-method',
  ].map((name) => `x-stainless-${name}`),
];

const exposedHeaders = [
  'x-request-id',
  'request-id',
  'retry-after',
  'retry-after-ms',
  'x-should-retry',
  'content-range',
  'accept-ranges',
  'content-disposition',
].join(', ');

/**
 * Allows requests from every origin: keys are sent in headers, never in cookies. A preflight needs no key. It also allows
 * every `x-stainless-*` header of the SDKs.
 */
export function cors(request: Request, response: Response, next: NextFunction): void {
  if (request.headers.origin === undefined) {
    next();
    return;
  }
  response.setHeader('access-control-allow-origin', '*');
  response.setHeader('access-control-expose-headers', exposedHeaders);
  if (request.method !== 'OPTIONS' || request.headers['access-control-request-method'] === undefined) {
    next();
    return;
  }
  const asked = (request.headers['access-control-request-headers'] ?? '')
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
    .filter((name) => /^x-stainless-[a-z0-9-]+$/.test(name));
  response.setHeader('access-control-allow-methods', allowedMethods);
  response.setHeader('access-control-allow-headers', [...new Set([...allowedHeaders, ...asked])].join(', '));
  response.setHeader('access-control-max-age', '7200');
  response.statusCode = 204;
  response.end();
}
