import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { OperationId } from '../../generated/operations.ts';
import { isObject, type JsonObject } from '../../openapi/tools/document.ts';
import { limitRequests } from '../conformance/checks/limits.ts';
import { type DocumentedOperation, documentedOperations } from '../conformance/contract/documented.ts';
import { messageOf } from '../conformance/wire/error.ts';
import type { Variation } from '../conformance/wire/exchange.ts';
import { type HttpResponse, jsonOf, type Target } from '../conformance/wire/http-response.ts';
import { exchange } from '../support/exchange.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { backedOperations } from './backing-gateway.ts';
import { type Mock, startMock } from './server.ts';

let gateway: TestGateway;
let mock: Mock;
beforeAll(async () => {
  [gateway, mock] = await Promise.all([startTestGateway(), startMock({ taskMs: 1, paceMs: 0 })]);
}, 60_000);
afterAll(() => Promise.all([gateway.close(), mock.close()]));

interface LimitRequest {
  operation: DocumentedOperation;
  name: string;
  variation: Variation;
}

/** Characters that the sandbox speaks within a few seconds. The contract tests send longer texts to each server. */
const maxSpokenCharacters = 9000;
const isTooLong = ({ operation, variation }: LimitRequest) =>
  operation.id.endsWith('Speech') && JSON.stringify(variation).length > maxSpokenCharacters;

/** Each accepted request starts a run of the conformance kit, of which a gateway has one at a time. */
const startsRun = ({ operation }: LimitRequest) => operation.id === 'testConformance';
/** Whether an object with the first id exists depends on earlier requests. */
const hasFirstId = ({ name }: LimitRequest) => name === 'at id minimum 1';

const checkedSchemas = new Set<JsonObject>();
// The mock runs the other operations on a gateway of its own.
const requests: LimitRequest[] = [...documentedOperations.values()]
  .filter(({ id, aliasOf }) => aliasOf === undefined && !backedOperations.has(id as OperationId))
  .flatMap((operation) =>
    limitRequests(operation, checkedSchemas).requests.map((request) => ({ operation, ...request })),
  )
  .filter((request) => request.name.startsWith('at '))
  .filter((request) => !isTooLong(request) && !startsRun(request) && !hasFirstId(request));

/** Whether a response of the gateway is due to a difference, by row of the table in the guide. */
const differences: Readonly<
  Record<string, (response: HttpResponse, message: string, request: LimitRequest) => boolean>
> = {
  Voices: ({ status }, message) => status === 400 && message.includes('is not a voice of'),
  References: ({ status }, message) =>
    (status === 400 && /there is no (asset|group|Seedance task) |could not be downloaded/.test(message)) ||
    (status === 404 &&
      /^(continue_clip_id|task_id|taskId): there is no (song|task|image job) /.test(message)),
  // The message of a provider names no field.
  'Provider rules': (response) => response.status === 400 && paramOf(response) === undefined,
  'Example ids': ({ status }, message, request) => status === 404 && usesExampleId(request, message),
  'Sub-accounts': ({ status }, message) => status === 403 && message.includes('require a wallet'),
};

function paramOf(response: HttpResponse): unknown {
  const body = jsonOf(response);
  return isObject(body) && isObject(body.error) ? body.error.param : undefined;
}

/** Whether a request has the ids of the examples in its path, or the id of an example in its body. */
function usesExampleId({ operation, variation }: LimitRequest, message: string): boolean {
  const ids = operation.parameters.filter(
    ({ in: place, examples }) => place === 'path' && examples.length > 0,
  );
  if (ids.length > 0) return ids.every(({ name }) => variation.path?.[name] === undefined);
  const examples = JSON.stringify(operation.requests.flatMap((media) => media.examples));
  const [field] = /^\w+_id(?=: )/.exec(message) ?? [];
  const [id] = field === undefined ? (/"[^"]+"/.exec(message) ?? []) : [`"${field}"`];
  return id !== undefined && examples.includes(id);
}

/** Sends a request to both servers. Returns the difference that no row of the guide explains. */
async function compare(request: LimitRequest, explained: Set<string>): Promise<string | undefined> {
  const { operation, name, variation } = request;
  const send = (target: Target) => exchange(target, operation, variation);
  const [onGateway, onMock] = await Promise.all([
    send({ url: gateway.url, key: gateway.key }),
    send({ url: mock.url, key: 'sk-any' }),
  ]);
  if (summaryOf(onGateway) === summaryOf(onMock)) return undefined;
  const message = onGateway.status < 400 ? '' : messageOf(onGateway);
  const row = Object.keys(differences).find((one) => differences[one]?.(onGateway, message, request));
  if (row !== undefined) explained.add(row);
  return row === undefined
    ? `${operation.id} ${name}: mock ${summaryOf(onMock)}, gateway ${summaryOf(onGateway)}`
    : undefined;
}

/** Status and media type, and the body of an error. */
function summaryOf({ status, headers, body }: HttpResponse): string {
  const [type] = headers.get('content-type')?.split(';') ?? [];
  return `${status} ${status < 400 ? type : body.toString().replaceAll(/req_\w+/g, 'id')}`;
}

async function compareAll(all: readonly LimitRequest[], explained: Set<string>, workers: number) {
  const found: string[] = [];
  const queue = all.values();
  const work = async () => {
    for (const request of queue) {
      const difference = await compare(request, explained);
      if (difference !== undefined) found.push(difference);
    }
  };
  await Promise.all(Array.from({ length: workers }, work));
  return found;
}

test('the mock accepts valid requests at a limit like the gateway', { timeout: 300_000 }, async () => {
  const explained = new Set<string>();
  const isKeyed = ({ name }: LimitRequest) => name.includes('Idempotency-Key');
  const sizeOf = ({ variation }: LimitRequest) => JSON.stringify(variation).length;
  // The longest texts take the gateway longest, so they start first.
  const free = requests.filter((one) => !isKeyed(one)).toSorted((one, two) => sizeOf(two) - sizeOf(one));
  const found = await compareAll(free, explained, 8);
  // Operations of one format share keys, so their order matters.
  const keyed = await compareAll(requests.filter(isKeyed), explained, 1);
  expect([...found, ...keyed]).toEqual([]);
  expect(requests.length).toBeGreaterThan(500);
  expect([...explained].toSorted()).toEqual(Object.keys(differences).toSorted());
});

test('the rows are in the guide', async () => {
  const guide = await readFile(new URL('../../openapi/guides/24-mock-server.md', import.meta.url), 'utf8');
  for (const row of Object.keys(differences)) expect(guide).toContain(`\n| ${row} | `);
});
