import type { Request } from 'express';

const none: Request['query'] = {};

/** The parameters in a request's address, which is taken apart only where it has some. */
export function queryOf(request: Request): Request['query'] {
  return request.url.includes('?') || Object.hasOwn(request, 'query') ? request.query : none;
}
