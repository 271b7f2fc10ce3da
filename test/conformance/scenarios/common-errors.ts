import { factsOf } from '../context/coverage.ts';
import type { RunContext } from '../context/run-context.ts';
import type { DocumentedOperation } from '../contract/documented.ts';
import { parameterCases } from '../limits/request-cases.ts';
import { wrongKey } from '../wire/curl.ts';
import type { Scenario } from './scenario.ts';
import { validRequest } from './valid-request.ts';

const code = 'invalid_request';
const unknownKey = { code: 'invalid_api_key' };

/** Errors that every operation returns: authentication, request bodies, parameters and upgrades. */
export function commonErrorScenarios(operation: DocumentedOperation, context: RunContext): Scenario[] {
  const { security, bodyLimitMb } = factsOf(operation);
  const hasBody = operation.requests.length > 0;
  const isSocket = operation.responses.some(({ status }) => status === 101);
  const scenarios: Scenario[] = [];
  if (security !== 'none') {
    const none = { headers: { authorization: undefined } };
    scenarios.push(
      { name: '401 without a key', status: 401, variation: none, expected: unknownKey },
      {
        name: '401 with a wrong key',
        status: 401,
        variation: { headers: { authorization: `Bearer ${wrongKey}` } },
        expected: unknownKey,
      },
      { name: '401 with a revoked key', status: 401, as: 'revoked', expected: unknownKey },
    );
  }
  if (security !== 'none' && hasBody)
    scenarios.push({
      name: '401 before the body is read',
      status: 401,
      variation: { headers: { authorization: undefined, 'content-type': 'text/plain' }, body: '{' },
      expected: unknownKey,
    });
  if (security === 'bearer_or_api_key') scenarios.push(...apiKeyHeaderScenarios(operation, context));
  if (hasBody)
    scenarios.push(...invalidBodyScenarios(Math.min(bodyLimitMb ?? Infinity, context.bodyLimitMb)));
  scenarios.push(...invalidParameterScenarios(operation, context));
  if (isSocket)
    scenarios.push({
      name: '426 a request without an upgrade',
      status: 426,
      expected: { code: 'upgrade_required' },
    });
  return scenarios;
}

function apiKeyHeaderScenarios(operation: DocumentedOperation, { target }: RunContext): Scenario[] {
  const header = { 'x-api-key': target.key };
  const plain = validRequest(operation);
  return [
    {
      name: '200 the key in x-api-key only',
      status: 200,
      variation: { ...plain, headers: { ...header, authorization: undefined } },
    },
    { name: '200 the same key in both headers', status: 200, variation: { ...plain, headers: header } },
    {
      name: '401 with two different keys',
      status: 401,
      variation: { headers: { 'x-api-key': wrongKey } },
      expected: unknownKey,
    },
  ];
}

/** A query parameter that is not a boolean. Used where no parameter has a limit. */
function nonBooleanScenarios({ id, parameters }: DocumentedOperation): Scenario[] {
  const typed = parameters.find(({ in: place, schema }) => place === 'query' && schema.type === 'boolean');
  if (typed === undefined) return [];
  const { name } = typed;
  return [
    {
      name: `400 ${name} of ${id} that is not a boolean`,
      status: 400,
      variation: { query: { [name]: 'maybe' } },
      expected: { field: name },
    },
  ];
}

/** The first parameter with a limit, beyond that limit. */
function invalidParameterScenarios(operation: DocumentedOperation, { admin }: RunContext): Scenario[] {
  const cases = operation.parameters
    .filter((parameter) => parameter.in !== 'header')
    .flatMap((parameter) =>
      parameterCases(parameter).filter(({ beyond }) => JSON.stringify(beyond) !== '{}'),
    );
  const [first] = cases;
  const { role, security } = factsOf(operation);
  if (first === undefined) return role === undefined || admin ? nonBooleanScenarios(operation) : [];
  const { field, keyword, limit, beyond } = first;
  const mode = operation.responses.some(({ status }) => status === 101) ? { mode: 'handshake' as const } : {};
  return [
    {
      name: `400 ${field} beyond ${keyword} ${JSON.stringify(limit)}`,
      status: 400,
      ...(role === undefined && security !== 'none' && { as: 'noQuota' as const }),
      variation: beyond,
      expected: { field },
      ...mode,
    },
  ];
}

function invalidBodyScenarios(megabytes: number): Scenario[] {
  const includes = (...words: string[]) => ({ includes: words });
  return [
    {
      name: '400 malformed JSON',
      variation: { body: '{"model": ' },
      expected: { code, ...includes('JSON') },
    },
    {
      name: '400 without a body',
      variation: { body: null, headers: { 'content-type': undefined } },
      expected: { code, field: 'body' },
    },
    {
      name: '400 a body that is not an object',
      variation: { body: '[]' },
      expected: { code, field: 'body' },
    },
  ]
    .map((scenario): Scenario => ({ ...scenario, status: 400 }))
    .concat(
      {
        name: '415 text instead of JSON',
        status: 415,
        variation: { body: 'hello', headers: { 'content-type': 'text/plain' } },
        expected: includes('text/plain'),
      },
      ...(!Number.isFinite(megabytes)
        ? []
        : [
            {
              name: `413 a body over ${megabytes} MB, before it is sent`,
              status: 413,
              mode: { announcedBytes: megabytes * 1024 * 1024 + 1 },
              expected: { code: 'request_too_large', field: 'body', ...includes(`${megabytes} MB`) },
            },
          ]),
    );
}
