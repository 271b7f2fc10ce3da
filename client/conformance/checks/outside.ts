import type { Outcome } from '../asks/ask.ts';
import { type DocumentedOperation, pathBelow } from '../contract/documented.ts';
import type { World } from '../subject/world.ts';
import { jsonOf } from '../wire/answer.ts';
import { curlOf } from '../wire/curl.ts';
import { requestOf, send, type Variation } from '../wire/exchange.ts';
import { excerpt } from '../wire/wire.ts';

/** A request beside the operation that belongs to none, and so is answered in the generic form. */
export interface Outside {
  name: string;
  status: number;
  code: string;
  path?: string;
  variation?: Variation;
}

export function outsideOf(operation: DocumentedOperation): Outside[] {
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

/** Sends it and holds the answer to what `info.description` says of all of them. */
export async function carryOutside(
  { target, timeoutMs, seen }: World,
  operation: DocumentedOperation,
  { status, code, path = operation.path, variation }: Outside,
): Promise<Outcome> {
  const request = requestOf(target, { ...operation, path }, variation);
  const curl = curlOf(request);
  const answer = await send(request, AbortSignal.timeout(timeoutMs));
  const id = answer.headers.get('x-request-id');
  const problems: string[] = [];
  if (answer.status !== status)
    problems.push(`answered ${answer.status} instead of ${status}: ${excerpt(answer)}`);
  else {
    const { error } = jsonOf(answer) as { error?: { code?: string; message?: string; request_id?: string } };
    seen.errors.add(`generic ${status} ${error?.code}`);
    if (error?.code !== code || typeof error.message !== 'string')
      problems.push(`not a generic error ${code}: ${excerpt(answer)}`);
    if (id === null || error?.request_id !== id)
      problems.push(`request_id is ${error?.request_id}, x-request-id is ${id}`);
    const allow = answer.headers.get('allow')?.split(', ') ?? [];
    if (status === 405 && !allow.includes(operation.method.toUpperCase()))
      problems.push(`header allow does not list ${operation.method.toUpperCase()}`);
  }
  return { problems, curl };
}
