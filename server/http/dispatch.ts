import type { NextFunction, Request, Response } from 'express';
import type { OperationId } from '../../generated/operations.ts';
import type { Gateway } from '../gateway.ts';
import type { Handler, Handlers, OperationRequest } from './handler.ts';
import { replyOver } from './reply.ts';

/** Hands a request that has passed the contract to its operation. */
export function dispatch(gateway: Gateway, handlers: Handlers) {
  return (request: Request, response: Response, next: NextFunction): void => {
    const { call } = request;
    if (call.operation === undefined) {
      next();
      return;
    }
    // The registry pairs each id with its own handler; the union of all handlers cannot be called without this.
    const handler = handlers[call.operation.id] as Handler<OperationId>;
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
      query: request.query,
      headers: request.headers,
      signal: call.signal,
    } as unknown as OperationRequest<OperationId>;
    try {
      Promise.resolve(handler(operationRequest, replyOver(response))).catch(next);
    } catch (error) {
      next(error);
    }
  };
}
