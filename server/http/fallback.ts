import type { NextFunction, Request, Response } from 'express';
import type { OperationId } from '../../generated/operations.ts';
import { NoChannelFailure } from '../lib/failure.ts';
import type { Gateway } from './gateway.ts';
import type { Handler } from './handler.ts';
import { recordFirstByte } from './record-request.ts';
import { type FallbackRunner, HttpReply, operationRequestOf } from './reply.ts';
import { newRequestId } from './request-context.ts';

/** Header with the model that served a request in place of the requested one. */
const servedModelHeader = 'x-unigate-model';

/** Whether a body is valid for an operation. */
type BodyTest = (operation: OperationId, body: unknown) => boolean;

/** Returns the configured fallbacks that the key may use and whose rules the body meets. */
function fallbacksOf(gateway: Gateway, request: Request, isValidBody: BodyTest): string[] {
  const { fallbacks } = gateway.settings;
  const { body, context } = request;
  const { caller, operation } = context;
  const model: unknown = body?.model;
  if (fallbacks === undefined || caller === undefined || operation === undefined || typeof model !== 'string')
    return [];
  if (!Object.hasOwn(fallbacks, model)) return [];
  return (fallbacks[model] ?? []).filter(
    (id) => gateway.access.allows(caller, id) && isValidBody(operation.id, { ...body, model: id }),
  );
}

/**
 * Runs the handler with the requested model, then with each fallback while no channel can serve the model before it. If
 * none can, runs it with the requested model again, which can then wait or use channels in a cool-down. Each run is a call
 * of its own in the log and reserves quota at the price of its model.
 */
async function runWithFallbacks(
  gateway: Gateway,
  request: Request,
  response: Response,
  next: NextFunction,
  { handler, fallbacks }: { handler: Handler<OperationId>; fallbacks: readonly string[] },
): Promise<void> {
  const { body, context } = request;
  const { began, operation } = context;
  const requested = { model: String(body.model), body: body as object };
  const runs = [requested.model, ...fallbacks, requested.model];
  for (const [index, model] of runs.entries()) {
    const isLast = index === runs.length - 1;
    const requestId = index === 0 ? context.requestId : newRequestId(gateway.clock());
    if (index > 0) response.setHeader('x-request-id', requestId);
    if (model === requested.model) response.removeHeader(servedModelHeader);
    else response.setHeader(servedModelHeader, model);
    try {
      const run = { requestId, requested, hasFallback: !isLast };
      const reply = new HttpReply(response, () => {
        if (operation !== undefined) recordFirstByte(began, operation);
      });
      const own = operationRequestOf<OperationId>(gateway, request, { ...body, model });
      await handler({ ...own, ...run }, reply);
      return;
    } catch (error) {
      if (!isLast && error instanceof NoChannelFailure && !response.headersSent) {
        const about = { model, next: runs[index + 1], served_request: requestId };
        gateway.logger.info(about, 'no channel can serve the model; its fallback follows');
        continue;
      }
      if (!response.headersSent) {
        response.setHeader('x-request-id', context.requestId);
        response.removeHeader(servedModelHeader);
      }
      next(error);
      return;
    }
  }
}

/** Returns a function that runs requests whose model has fallbacks. */
export function fallbackRunner(gateway: Gateway, isValidBody: BodyTest): FallbackRunner {
  return (request, response, next, handler) => {
    if (gateway.settings.fallbacks === undefined) return undefined;
    const fallbacks = fallbacksOf(gateway, request, isValidBody);
    if (fallbacks.length === 0) return undefined;
    return runWithFallbacks(gateway, request, response, next, { handler, fallbacks });
  };
}
