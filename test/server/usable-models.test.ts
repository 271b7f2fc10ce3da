import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { generateKey, hashKey } from '../../server/store/keys.ts';
import { engines } from '../store/engines.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { channelTo } from '../support/upstream.ts';
import { makeKey } from './ledger.ts';

interface Model {
  id: string;
  owned_by: string;
  unit_price: number;
  group_ratio: number;
  protocols: string[];
  voices?: { id: string; name?: string; custom?: boolean }[];
}

describe.each(engines)('the models of a key on %s', (engine) => {
  let target: TestGateway;
  beforeAll(async () => {
    const modelsWithIds = (...ids: string[]) => ids.map((id) => ({ id, upstream: undefined }));
    const channel = (name: string, change: object) => channelTo('http://127.0.0.1:9', { name, ...change });
    target = await startTestGateway(
      {
        channels: [
          channel('chat', { protocol: 'messages', models: modelsWithIds('house-chat', 'own-*') }),
          channel('vectors', {
            protocol: 'embeddings',
            models: modelsWithIds('house-vectors'),
            groups: ['default'],
          }),
          channel('closed', { protocol: 'messages', models: modelsWithIds('shut-chat'), groups: [] }),
          channel('native', { models: modelsWithIds('house-voice', '*'), priority: -1 }),
        ],
        groups: { default: { models: ['*'], ratio: 1 }, trial: { models: ['*'], ratio: 2.5 } },
        prices: { 'voxa-v2': 3, '*': 1 },
      },
      engine,
    );
  });
  afterAll(() => target.close());

  const getModels = async (path: string, key = target.key) => {
    const headers = { authorization: `Bearer ${key}` };
    const response = await fetch(`${target.url}/v1/models${path}`, { headers });
    return { status: response.status, body: (await response.json()) as Model & { data: Model[] } };
  };
  const save = (voice_id: string, user_id: number, target_model: string, created_at: number, status = 'OK') =>
    target.gateway.store.run('saveVoice', {
      voice_id,
      user_id,
      token_id: 1,
      service: 'voice-enrollment',
      target_model,
      channel: 'sandbox',
      status,
      name: 'narrator',
      facts: '{}',
      created_at,
      updated_at: created_at,
    });

  test('include its own voices, newest first, and no voices of others', async () => {
    const { id: otherUserId } = await target.gateway.store.run('createUser', {
      name: 'stranger',
      group: 'default',
      now: 1,
    });
    await save('voxa-v2-a', 1, 'voxa-v2', 1);
    await save('voxa-v2-b', 1, 'voxa-v2', 2, 'DEPLOYING');
    await save('voxa-v2-gone', 1, 'voxa-v2', 3, 'UNDEPLOYED');
    await save('voxa-v2-other', otherUserId, 'voxa-v2', 4);
    await save('vc-a', 1, 'alpha3-tts-vc-2026-01-22', 5);
    const own = (id: string) => ({ id, name: 'narrator', custom: true });
    const custom = ({ voices = [] }: Model) => voices.filter((voice) => voice.custom === true);
    const { body } = await getModels('/voxa-v2');
    expect(custom(body)).toEqual([own('voxa-v2-b'), own('voxa-v2-a')]);
    expect(body.voices?.map(({ id }) => id)).toContain('voxanna');
    expect((await getModels('/alpha3-tts-vc-2026-01-22')).body.voices).toEqual([own('vc-a')]);
    const { data } = (await getModels('')).body;
    expect(data.flatMap(custom)).toHaveLength(3);
    const key = generateKey();
    const record = { userId: otherUserId, name: 'own', keyHash: hashKey(key), keyHint: '***', now: 1 };
    await target.gateway.store.run('createToken', { ...record, unlimitedQuota: true });
    expect(custom((await getModels('/voxa-v2', key)).body)).toEqual([own('voxa-v2-other')]);
  });

  test('include those that channels list beyond the catalog', async () => {
    const ids = (await getModels('')).body.data.map(({ id }) => id);
    expect(ids).toEqual(expect.arrayContaining(['house-chat', 'house-vectors', 'iota-chat-1']));
    for (const id of ['own-*', '*', 'shut-chat', 'house-voice']) expect(ids).not.toContain(id);
    expect(new Set(ids).size).toBe(ids.length);
    expect((await getModels('/house-chat')).body).toMatchObject({
      owned_by: 'operator',
      protocols: ['messages'],
    });
    expect((await getModels('/own-one')).status).toBe(404);
    const limited = await makeKey(target, { quota: 1, modelLimits: ['house-v*'] });
    expect((await getModels('', limited.key)).body.data.map(({ id }) => id)).toEqual(['house-vectors']);
    expect((await getModels('/house-chat', limited.key)).status).toBe(404);
  });

  test('have the price of the group of the key', async () => {
    const trial = await makeKey(target, { quota: 1, group: 'trial' });
    const priceOf = async (id: string, key?: string) => {
      const { unit_price, group_ratio } = (await getModels(`/${id}`, key)).body;
      return [unit_price, group_ratio];
    };
    expect(await priceOf('voxa-v2')).toEqual([3, 1]);
    expect(await priceOf('voxa-v2', trial.key)).toEqual([3, 2.5]);
    expect(await priceOf('house-chat', trial.key)).toEqual([1, 2.5]);
  });
});
