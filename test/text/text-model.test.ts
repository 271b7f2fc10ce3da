import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { Channel } from '../../server/channels/channel.ts';
import { makeKey, post } from '../server/ledger.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { channelTo, type RecordingUpstream, startUpstream } from '../support/upstream.ts';

const minute = 60_000;
const message = {
  id: 'msg_1',
  role: 'assistant',
  content: [{ type: 'text', text: 'Hi.' }],
  usage: { input_tokens: 1, output_tokens: 1 },
};
const embedding = {
  object: 'list',
  data: [{ object: 'embedding', index: 0, embedding: [0.5] }],
  usage: { prompt_tokens: 1 },
};

let upstream: RecordingUpstream;
let target: TestGateway;
beforeAll(async () => {
  upstream = await startUpstream(({ path }, response) => {
    const body = path.endsWith('/count_tokens') ? { input_tokens: 1 } : message;
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(path.endsWith('/embeddings') ? embedding : body));
  });
  const models = [{ id: 'own-*', upstream: undefined }];
  target = await startTestGateway({
    sandbox: false,
    channels: [
      channelTo(upstream.url, { name: 'messages', protocol: 'messages', models }),
      channelTo(upstream.url, { name: 'embeddings', protocol: 'embeddings', models }),
    ],
    groups: { default: { ratio: 1, models: ['*'] }, few: { ratio: 1, models: ['own-open'] } },
    prices: { '*': 1 },
  });
});
afterAll(async () => {
  await target.close();
  await upstream.close();
});

const headers = { 'compat-version': '2023-06-01' };
const conversation = { max_tokens: 8, messages: [{ role: 'user', content: 'Hi.' }] };

describe.each<[string, object]>([
  ['/v1/messages', conversation],
  ['/v1/messages/count_tokens', { messages: conversation.messages }],
  ['/v1/embeddings', { input: 'Hi.' }],
])('%s of a model that only a channel lists', (path, body) => {
  const call = (key: string, model: string) => post(target.url, key, path, { ...body, model }, { headers });

  test.each([
    ['the limits of its key', { modelLimits: ['own-open'] }],
    ['its group', { group: 'few' }],
  ])('is rejected for a key if %s do not include it', async (_, rights) => {
    const { key } = await makeKey(target, { quota: 10_000, ...rights });
    expect((await call(key, 'own-open')).status).toBe(200);
    const seen = upstream.seen.length;
    const refused = await call(key, 'own-shut');
    expect([refused.status, await refused.json()]).toEqual([
      403,
      expect.objectContaining({ error: expect.objectContaining({ code: 'access_denied' }) }),
    ]);
    expect(upstream.seen.length).toBe(seen);
  });
});

test('a provider of messages may take five minutes to respond', async () => {
  const sent = vi.spyOn(Channel.prototype, 'request');
  try {
    const { key } = await makeKey(target, { quota: 10_000 });
    const body = { ...conversation, model: 'own-open' };
    expect((await post(target.url, key, '/v1/messages', body, { headers })).status).toBe(200);
    // Longer than the default limit of five minutes.
    expect(sent.mock.calls[0]?.[0].maxSilenceMs).toBeGreaterThan(5 * minute);
  } finally {
    sent.mockRestore();
  }
});
