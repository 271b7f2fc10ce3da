import type { ServerResponse } from 'node:http';
import type { Attributes } from '@opentelemetry/api';
import { firstByteDuration, serverActiveRequests, serverRequestDuration } from '../telemetry/metrics.ts';
import type { Operation } from './routes.ts';

/** Made once each: by operation, or by method where there is none, then by what came of it. */
const known = new Map<string, Map<number, Attributes>>();
const operations = new Map<string, Attributes>();
const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'CONNECT']);

/** Counts a request, and once more when the function that it gives is called with what is known by then. */
export function beginRequest(
  began: number,
): (method: string, operation: Operation | undefined, end: ServerResponse) => void {
  serverActiveRequests.add(1);
  return (method, operation, { headersSent, statusCode, writableFinished }) => {
    serverActiveRequests.add(-1);
    // Who leaves before the answer gets none.
    const status = headersSent ? statusCode : 499;
    recordRequest(began, method, operation, status, headersSent && !writableFinished);
  };
}

/** The first byte of an answer has come from upstream and goes out. `began`: by `performance.now()`. */
export function recordFirstByte(began: number, { id }: Operation): void {
  if (!firstByteDuration.read) return;
  const attributes = operations.get(id) ?? { 'unigate.operation': id };
  operations.set(id, attributes);
  firstByteDuration.record((performance.now() - began) / 1e3, attributes);
}

/** `began`: by `performance.now()`. `broken`: the answer began and did not come to its end. */
export function recordRequest(
  began: number,
  method: string,
  operation: Operation | undefined,
  status: number,
  broken = false,
): void {
  if (!serverRequestDuration.read) return;
  const seconds = (performance.now() - began) / 1e3;
  serverRequestDuration.record(seconds, attributesOf(method, operation, status, broken));
}

function attributesOf(
  method: string,
  operation: Operation | undefined,
  status: number,
  broken: boolean,
): Attributes {
  const subject = operation?.id ?? method;
  const outcomes = known.get(subject) ?? new Map<number, Attributes>();
  const outcome = status * 4 + (method === 'HEAD' ? 2 : 0) + (broken ? 1 : 0);
  const made = outcomes.get(outcome);
  if (made !== undefined) return made;
  const attributes: Attributes = {
    'http.request.method': methods.has(method) ? method : '_OTHER',
    ...(operation !== undefined && { 'http.route': operation.path, 'unigate.operation': operation.id }),
    'http.response.status_code': status,
    ...(broken ? { 'error.type': 'broken' } : status >= 500 && { 'error.type': String(status) }),
  };
  // Node's parser lets only its own list of methods in, so this cannot grow without end.
  known.set(subject, outcomes.set(outcome, attributes));
  return attributes;
}
