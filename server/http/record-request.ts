import type { ServerResponse } from 'node:http';
import type { Labels } from '../telemetry/instruments.ts';
import { firstByteDuration, serverActiveRequests, serverRequestDuration } from '../telemetry/metrics.ts';
import type { Trace } from '../telemetry/trace.ts';
import type { Operation } from './routes.ts';

/** Names of methods in metrics. Any other method is `_OTHER`. */
const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'CONNECT']);

/** The part of a finished request that is recorded. */
interface Recorded {
  readonly operation: Operation | undefined;
  readonly trace: Trace | undefined;
}

/** Counts an active request. The returned function records its end. */
export function startRequestMetrics(
  began: number,
): (method: string, about: Recorded, end: ServerResponse) => void {
  serverActiveRequests.add(1);
  return (method, about, { headersSent, statusCode, writableFinished }) => {
    serverActiveRequests.add(-1);
    // The client disconnected before the response.
    const status = headersSent ? statusCode : 499;
    recordRequest(began, method, about, status, headersSent && !writableFinished);
  };
}

/** Records the time to the first byte of a forwarded response. `began`: by `performance.now()`. */
export function recordFirstByte(began: number, { id }: Operation): void {
  if (!firstByteDuration.isEnabled) return;
  firstByteDuration.record((performance.now() - began) / 1e3, { 'unigate.operation': id });
}

/** `began`: by `performance.now()`. `broken`: the response started but did not complete. */
export function recordRequest(
  began: number,
  method: string,
  { operation, trace }: Recorded,
  status: number,
  broken = false,
): void {
  if (!serverRequestDuration.isEnabled && !trace?.isRecorded) return;
  const seconds = (performance.now() - began) / 1e3;
  const attributes = attributesOf(method, operation, status, broken);
  serverRequestDuration.record(seconds, attributes);
  if (!trace?.isRecorded) return;
  const { 'error.type': error, 'http.route': route, 'http.request.method': name } = attributes;
  trace.end(attributes, error?.toString(), route === undefined ? `${name}` : `${name} ${route}`);
}

function attributesOf(
  method: string,
  operation: Operation | undefined,
  status: number,
  broken: boolean,
): Labels {
  return {
    'http.request.method': methods.has(method) ? method : '_OTHER',
    ...(operation !== undefined && { 'http.route': operation.path, 'unigate.operation': operation.id }),
    'http.response.status_code': status,
    ...(broken ? { 'error.type': 'broken' } : status >= 500 && { 'error.type': String(status) }),
  };
}
