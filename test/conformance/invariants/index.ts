import type { OperationId } from '../../../generated/operations.ts';
import type { DocumentedOperation } from '../contract/documented.ts';
import type { Request } from '../wire/exchange.ts';
import { type HttpResponse, parsedBody } from '../wire/http-response.ts';
import { images } from './images.ts';
import { management } from './management.ts';
import { music } from './music.ts';
import { speech } from './speech.ts';
import { text } from './text.ts';
import { video } from './video.ts';
import { type Call, type Invariants, requestId, when } from './vocabulary.ts';

/** Rules about the meaning of responses, by operation. Each area has a file. */
const invariants: Invariants<OperationId> = {
  ...speech,
  ...video,
  ...music,
  ...images,
  ...text,
  ...management,
};

/** Rules for every error. The messages family repeats the request id beside the error. */
const errorRules = [requestId('error.request_id'), when('', 'type', 'error', requestId('request_id'))];

/** Checks the meaning of a response that arrived at a time in epoch milliseconds. Returns the violations. */
export function invariantProblems(
  operation: DocumentedOperation,
  request: Pick<Request, 'path' | 'body'>,
  response: HttpResponse,
  now = Date.now(),
): string[] {
  const body = parsedBody(response);
  if (body === undefined) return [];
  const call: Call = {
    path: pathParameters(operation, request.path),
    request: bodyOf(request),
    body,
    headers: response.headers,
    now,
  };
  const rules = invariants[(operation.aliasOf ?? operation.id) as OperationId] ?? [];
  return (response.status === 200 ? rules : errorRules).flatMap((rule) => rule(call));
}

/** Returns the decoded path parameters of a request. */
function pathParameters({ path }: DocumentedOperation, actual: string): Record<string, string> {
  const names = [...path.matchAll(/\{([^}]+)\}/g)].map(([, name = '']) => name);
  const pattern = path.replace(/[.*+?^$()|[\]\\]/g, String.raw`\$&`).replace(/\{[^}]+\}/g, '([^/]+)');
  const values = new RegExp(`^${pattern}$`).exec(actual.split('?', 1)[0] ?? '') ?? [];
  return Object.fromEntries(
    names.flatMap((name, at) =>
      values[at + 1] === undefined ? [] : [[name, decodeURIComponent(values[at + 1] ?? '')]],
    ),
  );
}

function bodyOf({ body }: Pick<Request, 'body'>): unknown {
  if (body === undefined) return undefined;
  if (body instanceof FormData) return Object.fromEntries(body);
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}
