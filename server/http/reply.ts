import { once } from 'node:events';
import type { NextFunction, Request, Response } from 'express';
import type { OperationId } from '../../generated/operations.ts';
import type { ChunkSource } from '../outbound/response-body.ts';
import type { Gateway } from './gateway.ts';
import type { ForwardHooks, Handler, Handlers, OperationRequest, Reply } from './handler.ts';
import { recordFirstByte } from './record-request.ts';

type Headers = Readonly<Record<string, string>>;

const chargeHeader = 'x-unigate-cost';

/** Bodies up to this size are copied so that they are sent in one packet with the headers, in bytes. */
const maxCopiedBytes = 16 * 1024;

/** Headers that keep proxies from caching or buffering an event stream. */
function streamHeaders(contentType: string): Headers {
  return contentType.startsWith('text/event-stream')
    ? { 'cache-control': 'no-cache', 'x-accel-buffering': 'no' }
    : {};
}

/**
 * Sends an HTTP response. A class, because V8 keeps the hidden class of an object literal with getters, and the
 * request that it refers to, until the next full garbage collection.
 */
export class HttpReply implements Reply<OperationId> {
  readonly #response: Response;
  readonly #firstByte: () => void;
  #chargeTrailer: 'none' | 'allowed' | 'declared' = 'none';

  /** `firstByte` is called when the first chunk of a forwarded body is sent. */
  constructor(response: Response, firstByte: () => void = () => {}) {
    this.#response = response;
    this.#firstByte = firstByte;
  }

  get hasUnsentOutput(): boolean {
    return this.#response.writableLength > 0;
  }

  get headersOnly(): boolean {
    return this.#response.req.method === 'HEAD';
  }

  deferCharge(): void {
    this.#chargeTrailer = 'allowed';
  }

  reportCharge(quota: number | undefined): void {
    if (quota === undefined) return;
    if (!this.#response.headersSent) this.#response.setHeader(chargeHeader, String(quota));
    else if (this.#chargeTrailer === 'declared')
      this.#response.addTrailers({ [chargeHeader]: String(quota) });
  }

  json(status: number, body: unknown, headers: Headers = {}): void {
    for (const [name, value] of Object.entries(headers)) this.#response.setHeader(name, value);
    this.#response.status(status).json(body);
  }

  empty(status: number): void {
    this.#response.statusCode = status;
    this.#response.end();
  }

  notModified(headers: Headers): void {
    this.#response.setHeaders(new Map(Object.entries(headers)));
    this.empty(304);
  }

  bytes(status: number, contentType: string, body: Buffer | string, headers?: Headers): void {
    this.#start(status, contentType, headers);
    // Node sends a string in one packet with the headers. In Latin-1 each character is a byte.
    if (typeof body === 'string' || body.length > maxCopiedBytes) this.#response.end(body);
    else this.#response.end(body.toString('latin1'), 'latin1');
  }

  forward(
    status: number,
    contentType: string | (() => string),
    body: ChunkSource,
    { transform, end: finish, abort = () => [] }: ForwardHooks,
    headers?: Headers,
  ): Promise<void> {
    const response = this.#response;
    let begun = false;
    const begin = () => {
      if (begun) return;
      const type = typeof contentType === 'string' ? contentType : contentType();
      this.#startParts(status, type, { ...headers, ...streamHeaders(type) });
      begun = true;
    };
    // Listeners instead of an iterator: promises would dominate the cost of a stream of small chunks.
    return new Promise((resolve, reject) => {
      /** Chunks of this tick. */
      let chunks: Buffer[] = [];
      let isOver = false;
      const send = (parts: readonly Buffer[]): boolean => {
        if (parts.length > 0) {
          if (!begun) this.#firstByte();
          begin();
        }
        let hasRoom = true;
        for (const part of parts) hasRoom = response.write(part);
        return hasRoom;
      };
      const flush = (): boolean => {
        const [first] = chunks;
        if (first === undefined) return true;
        const bytes = chunks.length === 1 ? first : Buffer.concat(chunks);
        chunks = [];
        return send(transform(bytes));
      };
      const onClose = () => fail(new Error('the client disconnected'));
      const fail = (error: unknown) => {
        isOver = true;
        response.off('close', onClose);
        body.destroy();
        if (!response.destroyed) send(abort());
        reject(error);
      };
      const flushTick = () => {
        try {
          if (!isOver && !flush()) body.pause();
        } catch (error) {
          fail(error);
        }
      };
      response.on('close', onClose);
      response.on('drain', () => body.resume());
      body.pipe({
        write(chunk) {
          // Many small events arrive in one tick. Processing them together is much cheaper.
          if (chunks.push(chunk) === 1) process.nextTick(flushTick);
        },
        fail(error) {
          flushTick();
          fail(error);
        },
        end() {
          flushTick();
          if (isOver) return;
          finish().then((rest) => {
            response.off('close', onClose);
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
    this.#startParts(status, contentType, { ...headers, ...streamHeaders(contentType) });
    if (contentType.startsWith('text/event-stream')) response.flushHeaders();
    let begun = false;
    for await (const chunk of body) {
      if (response.destroyed) throw new Error('the client disconnected');
      if (this.headersOnly) break;
      if (!begun) this.#firstByte();
      begun = true;
      if (!response.write(chunk)) await once(response, 'drain', { signal: response.req.context.signal });
    }
    response.end();
  }

  /** Starts a response that is sent in parts, with the charge as a trailer if the client accepts one. */
  #startParts(status: number, contentType: string, headers: Headers): void {
    const { req } = this.#response;
    const hasTrailer =
      this.#chargeTrailer === 'allowed' &&
      /\btrailers\b/i.test(String(req.headers.te)) &&
      req.httpVersion === '1.1' &&
      !this.headersOnly &&
      !this.#response.hasHeader(chargeHeader);
    if (!hasTrailer) {
      this.#start(status, contentType, headers);
      return;
    }
    this.#chargeTrailer = 'declared';
    // A response with a length cannot have a trailer.
    const { 'content-length': _, ...others } = headers;
    this.#start(status, contentType, { ...others, trailer: chargeHeader });
  }

  #start(status: number, contentType: string, headers: Headers = {}): void {
    this.#response.statusCode = status;
    for (const [name, value] of Object.entries(headers)) this.#response.setHeader(name, value);
    this.#response.setHeader('content-type', contentType);
  }
}

/** Returns the request of a handler. The caller knows that it is validated and belongs to the operation. */
export function operationRequestOf<Op extends OperationId>(
  gateway: Gateway,
  request: Request,
  body: unknown = request.body,
): OperationRequest<Op> {
  const { context } = request;
  return {
    gateway,
    requestId: context.requestId,
    startedAt: context.startedAt,
    caller: context.caller,
    body,
    path: context.params,
    query: context.query,
    headers: request.headers,
    route: context.route,
    address: gateway.addressOf(request),
    baseUrl: gateway.baseUrlOf(request),
    signal: context.signal,
  } as unknown as OperationRequest<Op>;
}

/** Runs the handler if the requested model has fallbacks. Returns undefined otherwise. */
export type FallbackRunner = (
  request: Request,
  response: Response,
  next: NextFunction,
  handler: Handler<OperationId>,
) => Promise<void> | undefined;

/** Calls the handler of the operation. `runFallbacks`: undefined without fallbacks. */
export function dispatch(gateway: Gateway, handlers: Handlers, runFallbacks?: FallbackRunner) {
  return (request: Request, response: Response, next: NextFunction): void => {
    const { context } = request;
    const { operation, began } = context;
    if (operation === undefined) {
      next();
      return;
    }
    // The registry pairs each id with its own handler; the union of all handlers cannot be called without this.
    const handler = handlers[operation.id] as Handler<OperationId>;
    const withFallbacks = runFallbacks?.(request, response, next, handler);
    if (withFallbacks !== undefined) return;
    const operationRequest = operationRequestOf<OperationId>(gateway, request);
    try {
      const reply = new HttpReply(response, () => recordFirstByte(began, operation));
      Promise.resolve(handler(operationRequest, reply)).catch(next);
    } catch (error) {
      next(error);
    }
  };
}
