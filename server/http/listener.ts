import { IncomingMessage, type RequestListener } from 'node:http';
import express, { type Request, type Response } from 'express';
import type { Step } from './in-order.ts';

/** What a server is made with. */
export interface Listener {
  /** Its requests are express's from the beginning: changed one by one, each would be slow for all that reads it. */
  IncomingMessage: typeof IncomingMessage;
  listen: RequestListener;
}

/** Takes requests by one way. Of express it needs how a request is read, and not how a way is found. */
export function listener(way: Step): Listener {
  const app = express();
  app.set('query parser', 'simple');
  class ExpressRequest extends IncomingMessage {
    get originalUrl(): string | undefined {
      return this.url;
    }
  }
  Object.setPrototypeOf(ExpressRequest.prototype, app.request);
  const end = (response: Response) => () => void response.destroy();
  return {
    IncomingMessage: ExpressRequest,
    listen(request, response) {
      way(request as Request, response as Response, end(response as Response));
    },
  };
}
