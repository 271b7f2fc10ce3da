import type { OperationId } from '../../../generated/operations.ts';
import { isObject } from '../../../openapi/tools/document.ts';
import { factsOf } from '../context/coverage.ts';
import type { RunContext } from '../context/run-context.ts';
import type { DocumentedOperation } from '../contract/documented.ts';
import type { Variation } from '../wire/exchange.ts';
import type { Scenario } from './scenario.ts';
import { validRequest } from './valid-request.ts';

/** Returns the error codes in the examples of a response. Management errors have no code. */
function documentedCodes({ responses }: DocumentedOperation, status: number): ReadonlySet<unknown> {
  const content = responses.find((response) => response.status === status)?.content ?? [];
  const values = content.flatMap(({ examples }) => examples.map(({ value }) => value));
  return new Set(values.map((value) => isObject(value) && isObject(value.error) && value.error.code));
}

/** Operations without a charge that share their documented responses with charged ones. */
const freeOperations: readonly OperationId[] = [
  'uploadAsset',
  'countMessageTokens',
  'openInferenceSocket',
  'openRealtimeSocket',
];

/** Operations that look up the task of the request before they check quota and model. */
const taskFirstOperations: readonly OperationId[] = ['submitImageAction'];

/** Errors that the examples of an operation show: missing permission, quota, models and resources. */
export function documentedErrorScenarios(operation: DocumentedOperation, context: RunContext): Scenario[] {
  const { role } = factsOf(operation);
  const id = (operation.aliasOf ?? operation.id) as OperationId;
  const isSocket = operation.responses.some(({ status }) => status === 101);
  const mode = isSocket ? { mode: 'handshake' as const } : {};
  const plain = validRequest(operation);
  const scenarios: Scenario[] = [];
  if (role !== undefined) return roleScenarios(operation, role, context);
  if (taskFirstOperations.includes(id)) return unknownResources(operation, plain);
  if (documentedCodes(operation, 403).has('insufficient_user_quota') && !freeOperations.includes(id))
    scenarios.push({
      name: '403 a key without quota',
      status: 403,
      as: 'noQuota',
      variation: plain,
      expected: { code: 'insufficient_user_quota' },
      ...mode,
    });
  if (documentedCodes(operation, 403).has('access_denied'))
    scenarios.push({
      name: '403 a model that the key may not use',
      status: 403,
      as: 'singleModel',
      variation: plain,
      expected: { code: 'access_denied' },
      ...mode,
    });
  return [...scenarios, ...unknownResources(operation, plain), ...unknownModel(operation, plain)].map(
    (scenario) => ({
      ...mode,
      ...scenario,
    }),
  );
}

function roleScenarios(operation: DocumentedOperation, role: string, { isAdmin }: RunContext): Scenario[] {
  const expected = { includes: [role] };
  const names = { path: { id: '9007199254740991', name: 'unknown' } };
  const scenarios: Scenario[] = [
    { name: `403 without the role ${role}`, status: 403, as: 'nonAdmin', variation: names, expected },
  ];
  if (operation.requests.length > 0)
    scenarios.push({
      name: `403 without the role ${role}, before the body is read`,
      status: 403,
      as: 'nonAdmin',
      variation: { ...names, headers: { 'content-type': 'text/plain' }, body: '{' },
      expected,
    });
  return isAdmin ? [...scenarios, ...unknownResources(operation, {})] : scenarios;
}

/** Ids in the documented format that no resource can have. */
const unknownIds: Readonly<Record<string, string>> = {
  task_id: `task_${'0'.repeat(32)}`,
  clip_id: '00000000-0000-4000-8000-000000000000',
  session_id: 'vs_000000000000',
  id: 'none',
  token: 'A'.repeat(64),
  name: 'unknown',
  model: 'alpha9',
  file: 'nothing.html',
  month: '1999-12',
};
const unknownNumber = String(Number.MAX_SAFE_INTEGER);

function unknownResources(operation: DocumentedOperation, plain: Variation): Scenario[] {
  const inPath = operation.parameters.filter((one) => one.in === 'path');
  // Its other parameters name parts of the resource.
  const [first] = inPath;
  if (first === undefined || !operation.responses.some(({ status }) => status === 404)) return [];
  const value = first.schema.type === 'integer' ? unknownNumber : (unknownIds[first.name] ?? 'none');
  return [
    {
      name: `404 an unknown ${first.name}`,
      status: 404,
      variation: { ...plain, path: { [first.name]: value } },
      expected: { field: first.name },
    },
  ];
}

function unknownModel(operation: DocumentedOperation, plain: Variation): Scenario[] {
  if (!documentedCodes(operation, 404).has('model_not_found')) return [];
  const expected = { code: 'model_not_found', field: 'model' };
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

/** Whether the body names the model. Other operations have a fixed one. */
function namesModel({ requests }: DocumentedOperation): boolean {
  return requests.some(({ examples }) =>
    examples.some(({ value }) => isObject(value) && value.model !== undefined),
  );
}
