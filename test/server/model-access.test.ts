import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type OperationId, operations } from '../../generated/operations.ts';
import { type DocumentedOperation, documentedOperations } from '../conformance/contract/documented.ts';
import { excerpt } from '../conformance/wire/wire.ts';
import { exchange } from '../support/exchange.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { requestUpgrade } from '../support/send-head.ts';
import { ledgerRows, makeKey } from './ledger.ts';

const allModels = { models: ['*'], ratio: 1 };

/** Operations that can be forbidden to a key. Management operations do not use a model. */
const restricted = [...documentedOperations.values()].filter(({ id, responses }) => {
  if ((operations[id as OperationId]?.errorFamily ?? 'management') === 'management') return false;
  return responses.some(({ status }) => status === 403);
});

/** One request per media type, with a body that requires no existing resource. */
const requestsOf = ({ requests }: DocumentedOperation) =>
  requests.flatMap(({ mediaType, examples }) =>
    examples.slice(0, 1).map(({ name }) => ({ mediaType, example: name })),
  );

describe('a model that the caller may not use', () => {
  let target: TestGateway;
  const keys: Record<string, string> = {};
  beforeAll(async () => {
    target = await startTestGateway({
      groups: { default: allModels, few: { models: ['no-such-model'], ratio: 1 } },
    });
    const createKey = async (token: Parameters<typeof makeKey>[1]) => (await makeKey(target, token)).key;
    keys['a key limited to other models'] = await createKey({
      quota: 1_000_000,
      modelLimits: ['no-such-model'],
    });
    keys['a key of a group without the model'] = await createKey({ quota: 1_000_000, group: 'few' });
    keys['a key of a group that is no longer configured'] = await createKey({
      quota: 1_000_000,
      group: 'gone',
    });
  });
  afterAll(() => target.close());

  test('the list of these operations is not empty', () => expect(restricted.length).toBeGreaterThan(12));

  test.each(restricted.map((operation) => [operation.id, operation] as const))(
    'is refused by %s without a reservation',
    async (id, operation) => {
      const socket = operation.responses.some(({ status }) => status === 101);
      const variations = socket ? [{}] : requestsOf(operation);
      expect(variations.length).toBeGreaterThan(0);
      for (const [description, key] of Object.entries(keys)) {
        const caller = { url: target.url, key, isGateway: false };
        for (const variation of variations) {
          const response = await (socket ? requestUpgrade : exchange)(caller, operation, variation);
          expect(response.status, `${id} with ${description}: ${excerpt(response)}`).toBe(403);
        }
      }
      const { read } = target.gateway.store;
      expect(await ledgerRows(target)).toEqual([]);
      expect(await read.selectFrom('tasks').selectAll().execute()).toEqual([]);
    },
  );

  test('is not in the list of models', async () => {
    for (const key of Object.values(keys)) {
      const response = await fetch(`${target.url}/v1/models`, {
        headers: { authorization: `Bearer ${key}` },
      });
      expect(await response.json()).toMatchObject({ object: 'list', data: [] });
    }
  });
});
