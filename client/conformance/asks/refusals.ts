import type { DocumentedOperation } from '../contract/documented.ts';
import { parameterCases } from '../limits/request-cases.ts';
import { factsOf } from '../subject/seen.ts';
import type { World } from '../subject/world.ts';
import type { Ask } from './ask.ts';
import { plainRequest } from './plain.ts';

const code = 'invalid_request';
const unknownKey = { code: 'invalid_api_key' };

/** What every server refuses, whatever the operation is about. */
export function refusals(operation: DocumentedOperation, world: World): Ask[] {
  const { security, bodyLimitMb } = factsOf(operation);
  const takesBody = operation.requests.length > 0;
  const isSocket = operation.responses.some(({ status }) => status === 101);
  const asks: Ask[] = [];
  if (security !== 'none') {
    const none = { headers: { authorization: undefined } };
    asks.push(
      { name: '401 without a key', status: 401, variation: none, expected: unknownKey },
      {
        name: '401 with a wrong key',
        status: 401,
        variation: { headers: { authorization: 'Bearer sk-wrong' } },
        expected: unknownKey,
      },
      { name: '401 with a revoked key', status: 401, as: 'revoked', expected: unknownKey },
    );
  }
  if (security !== 'none' && takesBody)
    asks.push({
      name: '401 before the body is looked at',
      status: 401,
      variation: { headers: { authorization: undefined, 'content-type': 'text/plain' }, body: '{' },
      expected: unknownKey,
    });
  if (security === 'bearer_or_api_key') asks.push(...otherHeader(operation, world));
  if (takesBody) asks.push(...badBodies(Math.min(bodyLimitMb ?? Infinity, world.bodyLimitMb)));
  asks.push(...badParameters(operation, world));
  if (isSocket)
    asks.push({
      name: '426 to a request that is no socket',
      status: 426,
      expected: { code: 'upgrade_required' },
    });
  return asks;
}

function otherHeader(operation: DocumentedOperation, { target }: World): Ask[] {
  const header = { 'x-api-key': target.key };
  const plain = plainRequest(operation);
  return [
    {
      name: 'takes the key in x-api-key alone',
      status: 200,
      variation: { ...plain, headers: { ...header, authorization: undefined } },
    },
    { name: 'takes the same key in both headers', status: 200, variation: { ...plain, headers: header } },
    {
      name: '401 with two different keys',
      status: 401,
      variation: { headers: { 'x-api-key': 'sk-wrong' } },
      expected: unknownKey,
    },
  ];
}

/** A parameter without limits that is not of its type; not of what would then change everything. */
function notOfType({ id, parameters }: DocumentedOperation): Ask[] {
  const typed = parameters.find(({ in: place, schema }) => place === 'query' && schema.type === 'boolean');
  if (typed === undefined) return [];
  const { name } = typed;
  return [
    {
      name: `400 ${name} of ${id} that is no boolean`,
      status: 400,
      variation: { query: { [name]: 'maybe' } },
      expected: { names: name },
    },
  ];
}

/** A parameter beyond its limits, whatever other operations share it with. */
function badParameters(operation: DocumentedOperation, { admin }: World): Ask[] {
  const cases = operation.parameters
    .filter((parameter) => parameter.in !== 'header')
    .flatMap((parameter) =>
      parameterCases(parameter).filter(({ beyond }) => JSON.stringify(beyond) !== '{}'),
    );
  const [first] = cases;
  const { role, security } = factsOf(operation);
  if (first === undefined) return role === undefined || admin ? notOfType(operation) : [];
  const { field, keyword, limit, beyond } = first;
  const way = operation.responses.some(({ status }) => status === 101) ? { way: 'handshake' as const } : {};
  return [
    {
      name: `400 ${field} beyond ${keyword} ${JSON.stringify(limit)}`,
      status: 400,
      ...(role === undefined && security !== 'none' && { as: 'penniless' as const }),
      variation: beyond,
      expected: { names: field },
      ...way,
    },
  ];
}

function badBodies(megabytes: number): Ask[] {
  const says = (...words: string[]) => ({ says: words });
  return [
    { name: '400 malformed JSON', variation: { body: '{"model": ' }, expected: { code, ...says('JSON') } },
    {
      name: '400 without a body',
      variation: { body: null, headers: { 'content-type': undefined } },
      expected: { code, names: 'body' },
    },
    { name: '400 a body that is no object', variation: { body: '[]' }, expected: { code, names: 'body' } },
  ]
    .map((ask): Ask => ({ ...ask, status: 400 }))
    .concat(
      {
        name: '415 text instead of JSON',
        status: 415,
        variation: { body: 'hello', headers: { 'content-type': 'text/plain' } },
        expected: says('text/plain'),
      },
      ...(!Number.isFinite(megabytes)
        ? []
        : [
            {
              name: `413 a body over ${megabytes} MB, before it is sent`,
              status: 413,
              way: { announces: megabytes * 1024 * 1024 + 1 },
              expected: { code: 'request_too_large', names: 'body', ...says(`${megabytes} MB`) },
            },
          ]),
    );
}
