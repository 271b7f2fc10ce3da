import type { NextFunction, Request, Response } from 'express';
import type { OperationFacts } from '../../generated/operations.ts';
import { Failure, ProviderFailure, ProviderOutage } from '../lib/failure.ts';
import type { Logger } from '../telemetry/logger.ts';
import { logFields } from '../telemetry/telemetry-context.ts';
import { bodyPacer, maxUnpacedBytes } from './body-pacer.ts';
import { errorFamilyNear, setFamilyHeaders } from './routes.ts';

/** Longest body that the gateway reads and drops to keep the connection, in bytes. */
const maxDroppedBytes = 16 * 1024 * 1024;

type Family = OperationFacts['errorFamily'];

/** Error types of the messages API, by HTTP status. */
const messagesTypes: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  500: 'api_error',
  502: 'api_error',
  503: 'overloaded_error',
  504: 'timeout_error',
};

/** Longest time for which the rest of a refused request is read and dropped, in milliseconds. */
const lingerMs = 2_000;

/** Error middleware: sends the error body of the operation's family. */
export function renderFailure(logger: Logger) {
  return (error: unknown, request: Request, response: Response, _next: NextFunction): void => {
    const { context } = request;
    const { requestId, operation, signal } = context;
    if (signal.aborted) return;
    const failure = asFailure(error);
    const about = {
      ...logFields(context),
      operation: operation?.id,
      status: failure.status,
      code: failure.code,
    };
    if (failure.status === 500) logger.error({ ...about, err: failure.cause ?? error }, failure.message);
    else logger.debug(about, failure.message);
    if (response.headersSent) {
      // The status was sent already, so only a broken connection can report the failure. Node.js sends the chunks that
      // were written in this turn on the next tick.
      process.nextTick(() => response.destroy());
      return;
    }
    if (failure.retryAfter !== undefined) response.setHeader('retry-after', String(failure.retryAfter));
    if (failure.contentRange !== undefined) response.setHeader('content-range', failure.contentRange);
    const family = operation?.errorFamily ?? errorFamilyNear(request.path);
    setFamilyHeaders(response, family, requestId);
    response.statusCode = failure.status;
    response.setHeader('content-type', 'application/json; charset=utf-8');
    const body = Buffer.from(JSON.stringify(failureBody(failure, requestId, family)));
    const rest = Number(request.headers['content-length'] ?? Number.NaN);
    if (request.complete || rest <= maxUnpacedBytes) response.end(body);
    else endAfterRequest(request, response, body, { keepsConnection: rest <= maxDroppedBytes });
  };
}

/**
 * Responds in the middle of a request. Reads and drops the rest of the request, and ends the response afterwards or after
 * `lingerMs`. If the connection closed while the client still sends, the client would lose the response.
 */
function endAfterRequest(
  request: Request,
  response: Response,
  body: Buffer,
  { keepsConnection }: { keepsConnection: boolean },
): void {
  if (!keepsConnection) response.setHeader('connection', 'close');
  response.setHeader('content-length', body.length);
  response.write(body);
  const end = () => response.end();
  const alarm = setTimeout(end, lingerMs);
  request.once('end', end);
  response.once('close', () => clearTimeout(alarm));
  request.on('data', () => bodyPacer.pause(request));
  request.resume();
}

/** The error body of a family. Native routes keep the flat form for rejections and failures of the provider. */
export function failureBody(failure: Failure, requestId: string, family: Family): unknown {
  const { status, code, message } = failure;
  if (family === 'management') return { success: false, message };
  if (family === 'native' && failure instanceof ProviderOutage) {
    const { request_id = requestId, ...reported } = failure.reported ?? { code, message };
    return { ...reported, request_id };
  }
  const error = { code, message, request_id: requestId };
  if (family !== 'messages') return { error: { ...error, param: fieldOf(failure) } };
  const type = messagesTypes[status] ?? 'invalid_request_error';
  return { type: 'error', error: { type, ...error }, request_id: requestId };
}

/** Returns the field that a message of the gateway names before its first colon. Messages of providers name none. */
function fieldOf(failure: Failure): string | undefined {
  if (failure instanceof ProviderFailure || failure instanceof ProviderOutage) return undefined;
  return /^([^\s:]+): /.exec(failure.message)?.[1];
}

/** Converts any other error to a 500 without its details. */
export function asFailure(error: unknown): Failure {
  if (error instanceof Failure) return error;
  return new Failure(500, 'internal_error', 'The gateway failed to handle the request.', { cause: error });
}
