import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ConfiguredGateway, channelAt, startConfigured } from '../reload/configured-gateway.ts';
import { type RecordingUpstream, startUpstream } from '../support/upstream.ts';
import { scrape } from './scrape.ts';

let upstream: RecordingUpstream;
let target: ConfiguredGateway;
const settings = (...models: string[]) => ({
  prices: { '*': 1 },
  channels: [channelAt(upstream.url, { protocol: 'embeddings', models })],
});
beforeAll(async () => {
  upstream = await startUpstream((_request, response) => {
    const data = [{ object: 'embedding', index: 0, embedding: [0.5] }];
    const usage = { prompt_tokens: 1, total_tokens: 1 };
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ object: 'list', model: 'any', data, usage }));
  });
  target = await startConfigured(settings('own-model', 'own-*'), { METRICS_PORT: '0' });
});
afterAll(async () => {
  await target.close();
  await upstream.close();
});

const embed = async (model: string) => {
  const reply = await fetch(`${target.url}/v1/embeddings`, {
    method: 'POST',
    headers: { authorization: `Bearer ${target.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, input: 'words' }),
  });
  await reply.arrayBuffer();
  expect(reply.status).toBe(200);
};
const labelsOf = async () =>
  (await scrape(target.operatorUrl)).values('unigate_quota_charged_total').map(({ labels }) => labels);

test('a model that the configuration names has its own label, others of a pattern share one', async () => {
  await embed('own-model');
  await embed('own-secret-1');
  await embed('own-secret-2');
  await expect.poll(labelsOf).toEqual([{ unigate_model: 'own-model' }, { unigate_model: 'other' }]);
});

test('reloads are counted by result, and a failed one is shown until the next', async () => {
  const read = async () => {
    const now = await scrape(target.operatorUrl);
    const count = (result: string) =>
      now.sum('unigate_configuration_reload_total', { unigate_configuration_reload_result: result });
    return [count('applied'), count('failed'), now.sum('unigate_configuration_last_reload_successful')];
  };
  const [applied = 0, failed = 0, isSuccessful] = await read();
  expect(isSuccessful).toBe(1);
  await target.write('channels: [');
  await expect(target.gateway.liveSettings.reload()).rejects.toThrow();
  expect(await read()).toEqual([applied, failed + 1, 0]);
  await target.write(settings('own-model', 'own-*', 'new-model'));
  await target.gateway.liveSettings.reload();
  expect(await read()).toEqual([applied + 1, failed + 1, 1]);
  await embed('new-model');
  await expect.poll(labelsOf).toContainEqual({ unigate_model: 'new-model' });
});
