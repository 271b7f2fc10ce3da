import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type OperationId, operations } from '../../generated/operations.ts';
import type { ChannelProtocol } from '../../server/settings/configuration.ts';
import { type DocumentedOperation, documentedOperations } from '../conformance/contract/documented.ts';
import { excerpt } from '../conformance/wire/wire.ts';
import { exchange } from '../support/exchange.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { requestUpgrade } from '../support/send-head.ts';
import { channelTo } from '../support/upstream.ts';
import { ledgerRows, post } from './ledger.ts';

const protocols: readonly ChannelProtocol[] = [
  'native',
  'official',
  'eta',
  'sigma',
  'imgjob',
  'messages',
  'embeddings',
  'verification',
];
const channels = protocols.map((protocol) =>
  channelTo('http://127.0.0.1:9', {
    name: protocol,
    protocol,
    models: ['*', 'house-chat'].map((id) => ({ id, upstream: undefined })),
  }),
);

/** Operations that use a model. An asset needs none. */
const metered = [...documentedOperations.values()].filter(({ id, responses }) => {
  if (id === 'uploadAsset') return false;
  if (id === 'createVerificationSession') return true;
  if ((operations[id as OperationId]?.errorFamily ?? 'management') === 'management') return false;
  return responses.some(({ status }) => status === 403);
});

/** One request of an operation for each of its media types. */
const requestsOf = ({ requests }: DocumentedOperation) =>
  requests.flatMap(({ mediaType, examples }) =>
    examples.slice(0, 1).map(({ name }) => ({ mediaType, example: name })),
  );

describe('without a price', () => {
  let target: TestGateway;
  beforeAll(async () => {
    target = await startTestGateway({ channels, prices: {} });
  });
  afterAll(() => target.close());

  test.each(metered.map((operation) => [operation.id, operation] as const))(
    '%s responds with 404 and reserves no quota',
    async (id, operation) => {
      const socket = operation.responses.some(({ status }) => status === 101);
      const variations = socket ? [{}] : requestsOf(operation);
      expect(variations.length).toBeGreaterThan(0);
      for (const variation of variations) {
        const caller = { url: target.url, key: target.key, isGateway: false };
        const response = await (socket ? requestUpgrade : exchange)(caller, operation, variation);
        expect(response.status, `${id}: ${excerpt(response)}`).toBe(404);
        expect(response.body.toString()).toContain('does not exist.');
      }
      expect(await ledgerRows(target)).toEqual([]);
      expect(await target.gateway.store.read.selectFrom('tasks').selectAll().execute()).toEqual([]);
    },
  );

  test('the response equals that for an unknown model', async () => {
    const errorFor = async (model: string) => {
      const reply = await post(target.url, target.key, '/v1/embeddings', { model, input: 'a' });
      const { error } = (await reply.json()) as { error: Record<string, string> };
      return [reply.status, error.code, error.message?.replace(model, 'MODEL')];
    };
    const unknown = await errorFor('no-such-model');
    expect(unknown).toEqual([404, 'model_not_found', 'model: "MODEL" does not exist.']);
    for (const model of ['theta-embedding-1', 'house-chat', 'voxa-v2'])
      expect(await errorFor(model)).toEqual(unknown);
  });

  test('no model is listed', async () => {
    const headers = { authorization: `Bearer ${target.key}` };
    expect(await (await fetch(`${target.url}/v1/models`, { headers })).json()).toMatchObject({ data: [] });
    for (const id of ['voxa-v2', 'house-chat'])
      expect((await fetch(`${target.url}/v1/models/${id}`, { headers })).status).toBe(404);
  });
});

test('the sandbox serves the models that no configured channel serves, at its own price', async () => {
  const native = channels.filter(({ protocol }) => protocol === 'native');
  const target = await startTestGateway({ channels: native, prices: { 'voxa-v2': 3 } });
  const headers = { authorization: `Bearer ${target.key}` };
  const { data } = (await (await fetch(`${target.url}/v1/models`, { headers })).json()) as {
    data: { id: string }[];
  };
  const ids = data.map(({ id }) => id);
  expect(ids).toEqual(expect.arrayContaining(['voxa-v2', 'iota-chat-1', 'theta-embedding-1']));
  expect(ids).not.toContain('voxa-v1');
  const embedding = { model: 'theta-embedding-1', input: 'one two' };
  expect((await post(target.url, target.key, '/v1/embeddings', embedding)).status).toBe(200);
  const [row] = await ledgerRows(target);
  expect(row).toMatchObject({ state: 'settled' });
  expect(target.gateway.prices.terms('theta-embedding-1', 'default').unitPrice).toBe(1);
  await target.close();
});
