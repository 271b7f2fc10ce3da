import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { NextFunction, Request, Response } from 'express';
import type { OperationId } from '../../generated/operations.ts';
import type { Pieces } from '../outbound/answer-body.ts';
import type { Gateway } from './gateway.ts';
import type { Handler, Handlers, OperationRequest, PassHooks, Reply } from './handler.ts';
import { merged } from './merged.ts';
import { recordFirstByte } from './record-request.ts';

type Headers = Readonly<Record<string, string>>;

/** Bytes of a body that are worth copying, so that they leave together with the headers. */
const small = 16 * 1024;

/** Proxies on the way must neither store nor collect events. */
function streamHeaders(contentType: string): Headers {
  return contentType.startsWith('text/event-stream')
    ? { 'cache-control': 'no-cache', 'x-accel-buffering': 'no' }
    : {};
}

/**
 * The ways to answer over an HTTP response. A class, since an object literal with getters gets a hidden class of its own, which lives,
 * with all of its request, until the next full collection.
 */
export class HttpReply implements Reply<OperationId> {
  readonly #response: Response;
  readonly #firstByte: () => void;

  /** `firstByte`: the first piece of a passed-on body goes out. */
  constructor(response: Response, firstByte: () => void = () => {}) {
    this.#response = response;
    this.#firstByte = firstByte;
  }

  get behind(): boolean {
    return this.#response.writableLength > 0;
  }

  get headersOnly(): boolean {
    return this.#response.req.method === 'HEAD';
  }

  json(status: number, body: unknown): void {
    this.#response.status(status).json(body);
  }

  empty(status: number): void {
    this.#response.statusCode = status;
    this.#response.end();
  }

  bytes(status: number, contentType: string, body: Buffer | string, headers?: Headers): void {
    this.#start(status, contentType, headers);
    // A text leaves in one piece with the headers; of Latin 1 each character is a byte.
    if (typeof body === 'string' || body.length > small) this.#response.end(body);
    else this.#response.end(body.toString('latin1'), 'latin1');
  }

  pass(
    status: number,
    contentType: string | (() => string),
    body: Pieces,
    { take, finish }: PassHooks,
    headers?: Headers,
  ): Promise<void> {
    const response = this.#response;
    let begun = false;
    const begin = () => {
      if (begun) return;
      const type = typeof contentType === 'string' ? contentType : contentType();
      this.#start(status, type, { ...headers, ...streamHeaders(type) });
      begun = true;
    };
    // Listeners and not an iterator: a stream of small pieces would spend its time between promises.
    return new Promise((resolve, reject) => {
      /** What came in this tick. */
      let pieces: Buffer[] = [];
      let over = false;
      const send = (parts: readonly Buffer[], sent: () => void = () => {}): boolean => {
        if (parts.length > 0 && !begun) this.#firstByte();
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
  }

  async stream(
    status: number,
    contentType: string,
    body: AsyncIterable<Uint8Array>,
    headers?: Headers,
  ): Promise<void> {
    const response = this.#response;
    this.#start(status, contentType, { ...headers, ...streamHeaders(contentType) });
    if (contentType.startsWith('text/event-stream')) response.flushHeaders();
    let begun = false;
    for await (const chunk of body) {
      if (response.destroyed) throw new Error('the client left');
      // The headers are all that a HEAD is after.
      if (this.headersOnly) break;
      if (!begun) this.#firstByte();
      begun = true;
      if (!response.write(chunk)) await drained(response);
    }
    response.end();
  }

  #start(status: number, contentType: string, headers: Headers = {}): void {
    this.#response.statusCode = status;
    for (const [name, value] of Object.entries(headers)) this.#response.setHeader(name, value);
    this.#response.setHeader('content-type', contentType);
  }
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
      caller: call.caller,
      body: request.body,
      path: call.params,
      query: call.query,
      headers: request.headers,
      route: call.route,
      address: gateway.addressOf(request),
      signal: call.signal,
    } as unknown as OperationRequest<OperationId>;
    try {
      const reply = new HttpReply(response, () => recordFirstByte(began, operation));
      Promise.resolve(handler(operationRequest, reply)).catch(next);
    } catch (error) {
      next(error);
    }
  };
}
