import type { ServerResponse } from 'node:http';
import type { Labels } from '../telemetry/instruments.ts';
import { firstByteDuration, serverActiveRequests, serverRequestDuration } from '../telemetry/metrics.ts';
import type { Trace } from '../telemetry/trace.ts';
import type { Operation } from './routes.ts';

/** Attribute sets by operation (or method, if there is none) and outcome. */
const known = new Map<string, Map<number, Labels>>();
const operations = new Map<string, Labels>();
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
  const attributes = operations.get(id) ?? { 'unigate.operation': id };
  operations.set(id, attributes);
  firstByteDuration.record((performance.now() - began) / 1e3, attributes);
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
  const subject = operation?.id ?? method;
  const outcomes = known.get(subject) ?? new Map<number, Labels>();
  const outcome = status * 4 + (method === 'HEAD' ? 2 : 0) + (broken ? 1 : 0);
  const made = outcomes.get(outcome);
  if (made !== undefined) return made;
  const attributes: Labels = {
    'http.request.method': methods.has(method) ? method : '_OTHER',
    ...(operation !== undefined && { 'http.route': operation.path, 'unigate.operation': operation.id }),
    'http.response.status_code': status,
    ...(broken ? { 'error.type': 'broken' } : status >= 500 && { 'error.type': String(status) }),
  };
  // Bounded: Node's parser accepts a fixed list of methods.
  known.set(subject, outcomes.set(outcome, attributes));
  return attributes;
}
