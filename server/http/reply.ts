import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { NextFunction, Request, Response } from 'express';
import type { OperationId } from '../../generated/operations.ts';
import type { Gateway } from '../gateway.ts';
import type { Handler, Handlers, OperationRequest, Reply } from './handler.ts';
import { merged } from './merged.ts';
import { queryOf } from './query.ts';
import { recordFirstByte } from './record-request.ts';

/** Bytes of a body that are worth copying, so that they leave together with the headers. */
const small = 16 * 1024;

/** Proxies on the way must neither store nor collect events. */
function streamHeaders(contentType: string): Readonly<Record<string, string>> {
  return contentType.startsWith('text/event-stream')
    ? { 'cache-control': 'no-cache', 'x-accel-buffering': 'no' }
    : {};
}

/** The ways to answer over an HTTP response. `firstByte`: the first piece of a passed-on body goes out. */
export function replyOver(response: ServerResponse, firstByte: () => void = () => {}): Reply<OperationId> {
  const start = (
    status: number,
    contentType: string,
    headers: Readonly<Record<string, string>> = {},
  ): void => {
    response.statusCode = status;
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    response.setHeader('content-type', contentType);
  };
  const startStream: typeof start = (status, contentType, headers) => {
    start(status, contentType, { ...headers, ...streamHeaders(contentType) });
    if (contentType.startsWith('text/event-stream')) response.flushHeaders();
  };
  return {
    get behind() {
      return response.writableLength > 0;
    },
    get headersOnly() {
      return response.req.method === 'HEAD';
    },
    json(status, body) {
      start(status, 'application/json; charset=utf-8');
      response.end(JSON.stringify(body));
    },
    empty(status) {
      response.statusCode = status;
      response.end();
    },
    bytes(status, contentType, body, headers) {
      start(status, contentType, headers);
      // A text leaves in one piece with the headers; of Latin 1 each character is a byte.
      if (typeof body === 'string' || body.length > small) response.end(body);
      else response.end(body.toString('latin1'), 'latin1');
    },
    pass(status, contentType, body, { take, finish }, headers) {
      let begun = false;
      const begin = () => {
        if (begun) return;
        const type = typeof contentType === 'string' ? contentType : contentType();
        start(status, type, { ...headers, ...streamHeaders(type) });
        begun = true;
      };
      // Listeners and not an iterator: a stream of small pieces would spend its time between promises.
      return new Promise((resolve, reject) => {
        /** What came in this tick. */
        let pieces: Buffer[] = [];
        let over = false;
        const send = (parts: readonly Buffer[], sent: () => void = () => {}): boolean => {
          if (parts.length > 0 && !begun) firstByte();
          if (parts.length > 0) begin();
          else sent();
          let more = true;
          for (const [index, part] of parts.entries())
            more = index === parts.length - 1 ? response.write(part, sent) : response.write(part);
          return more;
        };
        const flush = (): boolean => {
          if (pieces.length === 0) return true;
          const { bytes, release } = merged(pieces);
          pieces = [];
          return send(take(bytes), release);
        };
        const leave = () => fail(new Error('the client left'));
        const fail = (error: unknown) => {
          over = true;
          response.off('close', leave);
          body.destroy();
          reject(error);
        };
        const flushTick = () => {
          try {
            if (!over && !flush()) body.pause();
          } catch (error) {
            fail(error);
          }
        };
        response.on('close', leave);
        response.on('drain', () => body.resume());
        body.flow({
          take(piece) {
            // An upstream's events come one by one, but many in a tick, and to look at them together costs far less.
            if (pieces.push(piece) === 1) process.nextTick(flushTick);
          },
          fail(error) {
            flushTick();
            fail(error);
          },
          end() {
            flushTick();
            if (over) return;
            finish().then((rest) => {
              response.off('close', leave);
              begin();
              send(rest);
              response.end();
              resolve();
            }, fail);
          },
        });
      });
    },
    async stream(status, contentType, body, headers) {
      startStream(status, contentType, headers);
      let begun = false;
      for await (const chunk of body) {
        if (response.destroyed) throw new Error('the client left');
        // The headers are all that a HEAD is after.
        if (response.req.method === 'HEAD') break;
        if (!begun) firstByte();
        begun = true;
        if (!response.write(chunk)) await drained(response);
      }
      response.end();
    },
  };
}

/** Resolves when the response takes more; rejects when it is gone, so that nobody waits for a client that left. */
async function drained(response: ServerResponse): Promise<void> {
  const gone = new AbortController();
  const leave = () => gone.abort(new Error('the client left'));
  response.once('close', leave);
  try {
    await once(response, 'drain', { signal: gone.signal });
  } finally {
    response.off('close', leave);
  }
}

/** Hands a request that has passed the contract to its operation. */
export function dispatch(gateway: Gateway, handlers: Handlers) {
  return (request: Request, response: Response, next: NextFunction): void => {
    const { call } = request;
    const { operation, began } = call;
    if (operation === undefined) {
      next();
      return;
    }
    // The registry pairs each id with its own handler; the union of all handlers cannot be called without this.
    const handler = handlers[operation.id] as Handler<OperationId>;
    const operationRequest = {
      gateway,
      requestId: call.requestId,
      startedAt: call.startedAt,
      get caller() {
        if (call.caller === undefined)
          throw new Error(`${call.operation?.id} needs no key and has no caller`);
        return call.caller;
      },
      body: request.body,
      path: call.params,
      query: queryOf(request),
      headers: request.headers,
      route: call.route,
      address: gateway.addressOf(request),
      signal: call.signal,
    } as unknown as OperationRequest<OperationId>;
    try {
      const reply = replyOver(response, () => recordFirstByte(began, operation));
      Promise.resolve(handler(operationRequest, reply)).catch(next);
    } catch (error) {
      next(error);
    }
  };
}
