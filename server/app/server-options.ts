import type { IncomingMessage, ServerOptions } from 'node:http';
import type { Express } from 'express';
import { nodeHttp } from '../lib/node-http.ts';

/**
 * Makes a server create its requests and responses with the prototypes of an Express application. Express would set
 * the prototype of each request otherwise, which makes every later property access slower.
 */
export function withExpressPrototypes(app: Express): ServerOptions {
  class Request extends nodeHttp.IncomingMessage {}
  class Response<Incoming extends IncomingMessage> extends nodeHttp.ServerResponse<Incoming> {}
  Object.setPrototypeOf(Request.prototype, app.request);
  Object.setPrototypeOf(Response.prototype, app.response);
  // Mounting replaces the parent of these prototypes, so `app` must be their own property.
  const own = { value: app, configurable: true, enumerable: true, writable: true };
  app.request = Object.defineProperty(Request.prototype, 'app', own) as unknown as Express['request'];
  app.response = Object.defineProperty(Response.prototype, 'app', own) as unknown as Express['response'];
  return { IncomingMessage: Request, ServerResponse: Response };
}
