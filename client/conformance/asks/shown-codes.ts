import type { OperationId } from '../../../generated/operations.ts';
import { isObject } from '../../../openapi/tools/document.ts';
import type { DocumentedOperation } from '../contract/documented.ts';
import { factsOf } from '../subject/seen.ts';
import type { World } from '../subject/world.ts';
import type { Variation } from '../wire/exchange.ts';
import type { Ask } from './ask.ts';
import { plainRequest } from './plain.ts';

/** The codes in the examples of a response; a management error has none. */
function shownCodes({ responses }: DocumentedOperation, status: number): ReadonlySet<unknown> {
  const shown = responses.find((response) => response.status === status)?.content ?? [];
  const values = shown.flatMap(({ examples }) => examples.map(({ value }) => value));
  return new Set(values.map((value) => isObject(value) && isObject(value.error) && value.error.code));
}

/** Nobody pays for these, although they share their answers with operations that are paid for. */
const free: readonly OperationId[] = [
  'uploadAsset',
  'countMessageTokens',
  'openInferenceSocket',
  'openRealtimeSocket',
];

/** Its key is refused for the button that it has no job of. */
const aboutTasks: readonly OperationId[] = ['submitImageAction'];

/** Refusals that the examples of an operation show: of callers that may not, and of what nobody has. */
export function shownRefusals(operation: DocumentedOperation, world: World): Ask[] {
  const { role } = factsOf(operation);
  const id = (operation.aliasOf ?? operation.id) as OperationId;
  const isSocket = operation.responses.some(({ status }) => status === 101);
  const way = isSocket ? { way: 'handshake' as const } : {};
  const plain = plainRequest(operation);
  const asks: Ask[] = [];
  if (role !== undefined) return ofRole(operation, role, world);
  if (aboutTasks.includes(id)) return unknownThings(operation, plain);
  if (shownCodes(operation, 403).has('insufficient_user_quota') && !free.includes(id))
    asks.push({
      name: '403 a key without quota',
      status: 403,
      as: 'penniless',
      variation: plain,
      expected: { code: 'insufficient_user_quota' },
      ...way,
    });
  if (shownCodes(operation, 403).has('access_denied'))
    asks.push({
      name: '403 a model that the key may not use',
      status: 403,
      as: 'restricted',
      variation: plain,
      expected: { code: 'access_denied' },
      ...way,
    });
  return [...asks, ...unknownThings(operation, plain), ...unknownModel(operation, plain)].map((ask) => ({
    ...way,
    ...ask,
  }));
}

function ofRole(operation: DocumentedOperation, role: string, { isAdmin }: World): Ask[] {
  const expected = { says: [role] };
  const names = { path: { id: '9007199254740991', name: 'nobody' } };
  const asks: Ask[] = [
    { name: `403 without the role ${role}`, status: 403, as: 'ordinary', variation: names, expected },
  ];
  if (operation.requests.length > 0)
    asks.push({
      name: `403 without the role ${role}, before the body is looked at`,
      status: 403,
      as: 'ordinary',
      variation: { ...names, headers: { 'content-type': 'text/plain' }, body: '{' },
      expected,
    });
  return isAdmin ? [...asks, ...unknownThings(operation, {})] : asks;
}

/** An id of the documented form that nobody can have. */
const nobodys: Readonly<Record<string, string>> = {
  task_id: `task_${'0'.repeat(32)}`,
  clip_id: '00000000-0000-4000-8000-000000000000',
  session_id: 'vs_000000000000',
  id: 'none',
  token: 'A'.repeat(64),
  name: 'nobody',
  model: 'alpha9',
  file: 'nothing.html',
};
const number = String(Number.MAX_SAFE_INTEGER);

function unknownThings(operation: DocumentedOperation, plain: Variation): Ask[] {
  const inPath = operation.parameters.filter((one) => one.in === 'path');
  const [last] = operation.id === 'getFile' ? inPath : inPath.slice(-1);
  if (last === undefined || !operation.responses.some(({ status }) => status === 404)) return [];
  const value = last.schema.type === 'integer' ? number : (nobodys[last.name] ?? 'none');
  return [
    {
      name: `404 ${last.name} of nobody`,
      status: 404,
      variation: { ...plain, path: { [last.name]: value } },
      expected: { names: last.name },
    },
  ];
}

function unknownModel(operation: DocumentedOperation, plain: Variation): Ask[] {
  if (!shownCodes(operation, 404).has('model_not_found')) return [];
  const expected = { code: 'model_not_found', names: 'model' };
  const inQuery = operation.parameters.find((one) => one.in === 'query' && one.name === 'model');
  if (operation.requests.length === 0)
    return inQuery?.required === true
      ? [{ name: '404 an unknown model', status: 404, variation: { query: { model: 'alpha9' } }, expected }]
      : [];
  if (!namesModel(operation)) return [];
  const { body } = plain;
  if (inQuery !== undefined || (isObject(body) && body.model === undefined)) return [];
  const variation = isObject(body)
    ? { ...plain, body: { ...body, model: 'alpha9' } }
    : { change: { model: 'alpha9' } };
  return [{ name: '404 an unknown model', status: [404, 400], variation, expected: {} }];
}

/** Whether a client chooses the model in the body. Other operations have a fixed one. */
function namesModel({ requests }: DocumentedOperation): boolean {
  return requests.some(({ examples }) =>
    examples.some(({ value }) => isObject(value) && value.model !== undefined),
  );
}
