import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type OperationId, operations } from '../../generated/operations.ts';
import { type DocumentedOperation, documentedOperations } from '../conformance/contract/documented.ts';
import { excerpt } from '../conformance/wire/wire.ts';
import { exchange } from '../support/exchange.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { requestUpgrade } from '../support/send-head.ts';
import { ledgerRows, makeKey } from './ledger.ts';

const all = { models: ['*'], ratio: 1 };

/** What may be refused to a key; keys themselves are no models. */
const guarded = [...documentedOperations.values()].filter(({ id, responses }) => {
  if ((operations[id as OperationId]?.errorFamily ?? 'management') === 'management') return false;
  return responses.some(({ status }) => status === 403);
});

/** What is asked for by an operation's own body, so that nothing has to be there before. */
const requestsOf = ({ requests }: DocumentedOperation) =>
  requests.flatMap(({ mediaType, examples }) =>
    examples.slice(0, 1).map(({ name }) => ({ mediaType, example: name })),
  );

describe('a model that is not for the caller', () => {
  let target: TestGateway;
  const keys: Record<string, string> = {};
  beforeAll(async () => {
    target = await startTestGateway({
      groups: { default: all, few: { models: ['no-such-model'], ratio: 1 } },
    });
    const make = async (token: Parameters<typeof makeKey>[1]) => (await makeKey(target, token)).key;
    keys['a key that is limited to others'] = await make({
      quota: 1_000_000,
      modelLimits: ['no-such-model'],
    });
    keys['a key of a group without it'] = await make({ quota: 1_000_000, group: 'few' });
    keys['a key of a group that is configured no more'] = await make({ quota: 1_000_000, group: 'gone' });
  });
  afterAll(() => target.close());

  test('there are such operations', () => expect(guarded.length).toBeGreaterThan(12));

  test.each(guarded.map((operation) => [operation.id, operation] as const))(
    'is refused by %s before anything is held for it',
    async (id, operation) => {
      const socket = operation.responses.some(({ status }) => status === 101);
      const sends = socket ? [{}] : requestsOf(operation);
      expect(sends.length).toBeGreaterThan(0);
      for (const [whose, key] of Object.entries(keys)) {
        const caller = { url: target.url, key, isGateway: false };
        for (const variation of sends) {
          const answer = await (socket ? requestUpgrade : exchange)(caller, operation, variation);
          expect(answer.status, `${id} with ${whose}: ${excerpt(answer)}`).toBe(403);
        }
      }
      const { read } = target.gateway.store;
      expect(await ledgerRows(target)).toEqual([]);
      expect(await read.selectFrom('tasks').selectAll().execute()).toEqual([]);
    },
  );

  test('is in no list of models', async () => {
    for (const key of Object.values(keys)) {
      const answer = await fetch(`${target.url}/v1/models`, { headers: { authorization: `Bearer ${key}` } });
      expect(await answer.json()).toMatchObject({ object: 'list', data: [] });
    }
  });
});
