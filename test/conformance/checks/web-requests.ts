import type { RunContext } from '../context/run-context.ts';
import type { DocumentedOperation } from '../contract/documented.ts';
import type { CheckOutcome } from '../scenarios/scenario.ts';
import { curlOf } from '../wire/curl.ts';
import { requestOf, send, type Variation } from '../wire/exchange.ts';
import type { HttpResponse } from '../wire/http-response.ts';
import { excerpt, mediaTypeOf } from '../wire/wire.ts';
import type { LongCheck } from './long-checks.ts';

const origin = 'https://page.example';
/** Headers that a web page asks for: those of this API, and one that no server knows. */
const requestedHeaders = ['authorization', 'content-type', 'x-api-key', 'x-page-probe'];

/** Checks of what browsers send: preflight requests, an origin, and HEAD. */
export function webChecks(operation: DocumentedOperation, context: RunContext): LongCheck[] {
  const isSocket = operation.responses.some(({ status }) => status === 101);
  if (isSocket || operation.aliasOf !== undefined) return [];
  return [
    { name: 'a preflight request (CORS)', run: () => checkPreflight(operation, context) },
    { name: 'a request from a web page (CORS)', run: () => checkOrigin(operation, context) },
    ...(operation.method === 'get'
      ? [{ name: 'HEAD equals GET without a body', run: () => checkHead(operation, context) }]
      : []),
  ];
}

async function exchanged(
  { target, timeoutMs }: RunContext,
  operation: DocumentedOperation,
  variation: Variation,
): Promise<{ response: HttpResponse; curl: string }> {
  const request = requestOf(target, operation, variation);
  return { response: await send(request, AbortSignal.timeout(timeoutMs)), curl: curlOf(request) };
}

const listIn = (headers: Headers, name: string): string[] =>
  (headers.get(name) ?? '').split(',').map((one) => one.trim().toLowerCase());

function originProblems({ headers }: HttpResponse): string[] {
  const allowed = headers.get('access-control-allow-origin');
  if (allowed !== '*' && allowed !== origin)
    return [`CORS: access-control-allow-origin is ${allowed ?? 'missing'} instead of * or ${origin}`];
  return allowed === '*' || listIn(headers, 'vary').includes('origin')
    ? []
    : ['CORS: vary does not list origin, although access-control-allow-origin depends on it'];
}

/** A preflight request has no key. The response allows the method and every header that the page asks for. */
async function checkPreflight(operation: DocumentedOperation, context: RunContext): Promise<CheckOutcome> {
  const method = operation.method.toUpperCase();
  const { response, curl } = await exchanged(context, operation, {
    method: 'OPTIONS',
    body: null,
    headers: {
      authorization: undefined,
      'content-type': undefined,
      origin,
      'access-control-request-method': method,
      'access-control-request-headers': requestedHeaders.join(','),
    },
  });
  if (response.status !== 200 && response.status !== 204)
    return { problems: [`preflight: status ${response.status} instead of 204: ${excerpt(response)}`], curl };
  const methods = listIn(response.headers, 'access-control-allow-methods');
  const headers = listIn(response.headers, 'access-control-allow-headers');
  // A star does not include the header authorization.
  const refused = requestedHeaders.filter(
    (name) => !headers.includes(name) && (name === 'authorization' || !headers.includes('*')),
  );
  return {
    problems: [
      ...originProblems(response).map((problem) => `preflight: ${problem}`),
      ...(methods.includes(method.toLowerCase()) || methods.includes('*')
        ? []
        : [`preflight: access-control-allow-methods does not list ${method}`]),
      ...refused.map((name) => `preflight: access-control-allow-headers does not list ${name}`),
    ],
    curl,
  };
}

/** A page can read the response, also of an error, and its request id. */
async function checkOrigin(operation: DocumentedOperation, context: RunContext): Promise<CheckOutcome> {
  const { response, curl } = await exchanged(context, operation, {
    headers: { authorization: undefined, origin },
  });
  const exposed = listIn(response.headers, 'access-control-expose-headers');
  return {
    problems: [
      ...originProblems(response),
      ...(exposed.includes('x-request-id') || exposed.includes('*')
        ? []
        : ['CORS: access-control-expose-headers does not list x-request-id']),
    ],
    curl,
  };
}

/** HEAD has the status and the headers of GET, without a body. */
async function checkHead(operation: DocumentedOperation, context: RunContext): Promise<CheckOutcome> {
  const get = await exchanged(context, operation, {});
  const head = await exchanged(context, operation, { method: 'HEAD' });
  const { status, headers, body } = head.response;
  const problems: string[] = [];
  if (status !== get.response.status) problems.push(`HEAD: status ${status}, GET has ${get.response.status}`);
  else if (mediaTypeOf(head.response) !== mediaTypeOf(get.response))
    problems.push(`HEAD: content type ${mediaTypeOf(head.response)}, GET has ${mediaTypeOf(get.response)}`);
  if (body.length > 0) problems.push(`HEAD: a body of ${body.length} bytes`);
  if (headers.get('x-request-id') === null) problems.push('HEAD: header x-request-id is missing');
  return { problems, curl: head.curl };
}
