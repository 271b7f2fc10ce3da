import { factsOf } from '../context/coverage.ts';
import type { RunContext } from '../context/run-context.ts';
import { type DocumentedOperation, pathBelow } from '../contract/documented.ts';
import type { CheckOutcome } from '../scenarios/scenario.ts';
import { curlOf } from '../wire/curl.ts';
import { requestOf, send, type Variation } from '../wire/exchange.ts';
import { jsonOf } from '../wire/http-response.ts';
import { excerpt } from '../wire/wire.ts';

/** A request near an operation that matches none. The response is an error of the operation's family. */
export interface UnknownRouteCase {
  name: string;
  status: number;
  code: string;
  path?: string;
  variation?: Variation;
}

/** The fields of an error body of any family. */
interface ErrorBody {
  success?: boolean;
  message?: string;
  type?: string;
  error?: { code?: string; message?: string; request_id?: string };
}

export function unknownRouteCases(operation: DocumentedOperation): UnknownRouteCase[] {
  const below = pathBelow(operation);
  const other = operation.method === 'put' ? 'TRACE' : 'PUT';
  return [
    ...(below === undefined
      ? []
      : [{ name: '404 below the path', status: 404, code: 'path_not_found', path: below }]),
    {
      name: '405 with another method',
      status: 405,
      code: 'method_not_allowed',
      variation: { method: other },
    },
  ];
}

/** Sends the request and checks the response against the rules in `info.description`. */
export async function checkUnknownRoute(
  { target, timeoutMs, coverage }: RunContext,
  operation: DocumentedOperation,
  { status, code, path = operation.path, variation }: UnknownRouteCase,
): Promise<CheckOutcome> {
  const request = requestOf(target, { ...operation, path }, variation);
  const curl = curlOf(request);
  const response = await send(request, AbortSignal.timeout(timeoutMs));
  const id = response.headers.get('x-request-id');
  const problems: string[] = [];
  if (response.status !== status)
    problems.push(`status ${response.status} instead of ${status}: ${excerpt(response)}`);
  else {
    const { errorFamily: family } = factsOf(operation);
    const { success, message, type, error } = jsonOf(response) as ErrorBody;
    const isManagement = family === 'management';
    coverage.errors.add(isManagement ? `${family} ${status}` : `${family} ${status} ${error?.code}`);
    const hasShape = isManagement
      ? success === false && typeof message === 'string'
      : error?.code === code &&
        typeof error.message === 'string' &&
        (family !== 'messages' || type === 'error');
    if (!hasShape) problems.push(`not an error ${code} of the family ${family}: ${excerpt(response)}`);
    if (id === null) problems.push('the header x-request-id is missing');
    else if (!isManagement && error?.request_id !== id)
      problems.push(`request_id is ${error?.request_id}, x-request-id is ${id}`);
    const allow = response.headers.get('allow')?.split(', ') ?? [];
    if (status === 405 && !allow.includes(operation.method.toUpperCase()))
      problems.push(`header allow does not list ${operation.method.toUpperCase()}`);
  }
  return { problems, curl };
}
