import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { parseConfiguration } from '../../server/settings/configuration.ts';
import type { ChannelSettings, Settings } from '../../server/settings/settings.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { channelTo, type RecordingUpstream, startUpstream } from '../support/upstream.ts';
import { logRows, makeKey, post, remainingQuota } from './ledger.ts';

const model = 'alpha3-tts-flash';
const other = 'alpha3-tts-instruct-flash';
const video = 'gamma3.0-video';
const otherVideo = 'gamma3.0-video-prime';

let upstream: RecordingUpstream;
let target: TestGateway;
let answer: (response: ServerResponse, sent: { model: string }) => void;

beforeEach(async () => {
  answer = (response) => json(response, { output: { audio: { data: 'AAAA' } }, usage: { characters: 2 } });
  upstream = await startUpstream(({ body }, response) => answer(response, body as { model: string }));
});
afterEach(async () => {
  await target.close();
  await upstream.close();
});

function json(response: ServerResponse, body: object): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

const to = (name: string, id: string, limits?: ChannelSettings['limits']) =>
  channelTo(upstream.url, { name, models: [{ id, upstream: undefined }], limits });

async function start(channels: ChannelSettings[], change: Partial<Settings> = {}): Promise<void> {
  target = await startTestGateway({
    sandbox: false,
    prices: { [model]: 1, [other]: 3, [video]: 1, [otherVideo]: 3 },
    fallbacks: { [model]: [other], [video]: [otherVideo] },
    channels,
    ...change,
  });
}

const speak = (key = target.key) =>
  post(target.url, key, '/api/v1/services/aigc/multimodal-generation/generation', {
    model,
    input: { text: 'Hi', voice: 'Aria' },
  });
const served = (response: Response) => [response.status, response.headers.get('x-unigate-model')];
const models = () => upstream.seen.map(({ body }) => (body as { model: string }).model);

test('a fallback serves what the limits of a model refuse, at its own price', async () => {
  await start([to('a', model, { requestsPerMinute: 1 }), to('b', other)]);
  const { key, id } = await makeKey(target, { quota: 1_000 });
  expect(served(await speak(key))).toEqual([200, null]);
  const before = await remainingQuota(target, id);
  const second = await speak(key);
  expect(served(second)).toEqual([200, other]);
  expect(models()).toEqual([model, other]);
  const rows = await logRows(target);
  expect(rows.map(({ model_name, error_code }) => [model_name, error_code])).toEqual([
    [model, null],
    [model, 'rate_limit_exceeded'],
    [other, null],
  ]);
  expect(rows[2]).toMatchObject({ request_id: second.headers.get('x-request-id'), unit_price: 3 });
  expect(before - (await remainingQuota(target, id))).toBe(rows[2]?.quota);
});

test('a fallback serves what no healthy channel can, and errors of the fallback are returned', async () => {
  await start([to('a', model), to('b', other)]);
  const [channel] = target.gateway.channels.all;
  answer = (response, sent) =>
    sent.model === model
      ? response.writeHead(500).end()
      : json(response, { output: { audio: { data: 'AAAA' } }, usage: { characters: 2 } });
  const attempt = channel?.health.startAttempt();
  for (let index = 0; index < 3; index += 1) channel?.health.startAttempt().fail('server_error');
  attempt?.finish();
  channel?.health.receiveReports([{ id: 'other', until: Number.MAX_SAFE_INTEGER, reason: 'server_error' }]);
  channel?.health.admit();
  expect(served(await speak())).toEqual([200, other]);
  answer = (response) =>
    response.writeHead(400, { 'content-type': 'application/json' }).end('{"code":"bad","message":"no"}');
  const refused = await speak();
  expect(served(refused)).toEqual([400, other]);
  expect(models()).toEqual([other, other]);
});

test('a key without the fallback gets the error of the requested model', async () => {
  await start([to('a', model, { requestsPerMinute: 1 }), to('b', other)]);
  const { key } = await makeKey(target, { quota: 1_000, modelLimits: [model] });
  expect(served(await speak(key))).toEqual([200, null]);
  expect(served(await speak(key))).toEqual([429, null]);
  expect(models()).toEqual([model]);
});

test('if the fallback is at its limits too, the client gets 429 for the requested model', async () => {
  await start([to('a', model, { requestsPerMinute: 1 }), to('b', other, { requestsPerMinute: 1 })]);
  expect(served(await speak())).toEqual([200, null]);
  expect(served(await speak())).toEqual([200, other]);
  const third = await speak();
  expect(served(third)).toEqual([429, null]);
  expect(models()).toEqual([model, other]);
});

test('a task goes to the fallback before it waits, and a repeated request gets the same task', async () => {
  answer = (response) =>
    json(response, { output: { task_id: 'up-1', task_status: 'PENDING' }, request_id: 'r' });
  await start([to('a', video, { concurrentTasks: 1 }), to('b', otherVideo, { concurrentTasks: 1 })]);
  const create = async (key: string) => {
    const response = await post(
      target.url,
      target.key,
      '/v1/videos',
      { model: video, prompt: 'a kite', seconds: '5' },
      { headers: { 'idempotency-key': key } },
    );
    return {
      served: served(response),
      task: (await response.json()) as { id: string; model: string; queue?: object },
    };
  };
  expect((await create('1')).served).toEqual([200, null]);
  const second = await create('2');
  expect([second.served, second.task.model]).toEqual([[200, otherVideo], otherVideo]);
  expect((await create('2')).task.id).toBe(second.task.id);
  const third = await create('3');
  expect(third).toMatchObject({ served: [200, null], task: { model: video, queue: { position: 1 } } });
});

test.each([
  ['loops', { [model]: [other], [other]: [model] }, 'which is a loop'],
  ['a fallback to itself', { [model]: [model] }, 'which is a loop'],
  ['another protocol', { [model]: [video] }, 'has the protocol native_video'],
  ['unknown models', { [model]: ['nope'] }, 'the catalog has no model nope.'],
])('the configuration refuses %s, with file and line', async (_name, fallbacks, message) => {
  await start([]);
  const text = `prices: {}\nfallbacks: ${JSON.stringify(fallbacks)}\n`;
  expect(() => parseConfiguration('config.yaml', text, {})).toThrow(/^config.yaml:2: /);
  expect(() => parseConfiguration('config.yaml', text, {})).toThrow(message);
});
