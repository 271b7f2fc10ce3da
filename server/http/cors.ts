import corsMiddleware from 'cors';
import type { NextFunction, Request, Response } from 'express';
import { operations } from '../../generated/operations.ts';

/**
 * Allows every origin and every request header, because keys are sent in headers and never in cookies. A preflight
 * request needs no key.
 */
const allowEveryOrigin = corsMiddleware({
  methods: [...new Set(Object.values(operations).map(({ method }) => method.toUpperCase()))].join(', '),
  exposedHeaders: [
    'x-request-id',
    'x-unigate-cost',
    'x-unigate-model',
    'request-id',
    'retry-after',
    'retry-after-ms',
    'x-should-retry',
    'content-range',
    'etag',
    'accept-ranges',
    'content-disposition',
    'deprecation',
    'sunset',
  ].join(', '),
  maxAge: 7200,
});

/** Adds the CORS headers to responses for web pages, and answers their preflight requests. */
export function cors(request: Request, response: Response, next: NextFunction): void {
  if (request.headers.origin === undefined) next();
  else allowEveryOrigin(request, response, next);
}
