import { describe, expect, test } from 'vitest';
import { requestIdOf, type Unigate } from '../../client/index.ts';
import { collect } from './socket-server.ts';
import { json, stubClient } from './stub-fetch.ts';

const headers = { 'x-request-id': 'req_7' };
const failed = { error: { code: 'invalid_request', message: 'No.' } };

describe('requestIdOf', () => {
  test('returns the id of a result, which stays plain data', async () => {
    const body = { id: 'task_1', object: 'video' };
    const { client } = stubClient([json(body, 200, headers)]);
    const video = await client.videos.retrieve('task_1');
    expect(requestIdOf(video)).toBe('req_7');
    expect(Reflect.ownKeys(video)).toEqual(['id', 'object']);
    expect(requestIdOf({ ...video })).toBeUndefined();
  });

  test('returns the id of the data and the items of a response', async () => {
    const data = { items: [{ id: 1 }], total: 1 };
    const { client } = stubClient([json({ success: true, message: '', data }, 200, headers)]);
    const page = await client.tokens.list();
    expect([page, page.items, page.items[0] ?? {}].map(requestIdOf)).toEqual(['req_7', 'req_7', 'req_7']);
  });

  test('returns the id of vectors without reading their numbers', async () => {
    const body = { data: [{ index: 0, embedding: [1, 2] }] };
    const { client } = stubClient([json(body, 200, headers)]);
    const { data } = await client.embeddings.create({ model: 'm', input: 'a' });
    expect(requestIdOf(data[0] ?? {})).toBe('req_7');
  });

  test.each([
    ['music.retrieveMany', (client: Unigate) => client.music.retrieveMany(['a'])],
    ['logs.search', (client: Unigate) => client.logs.search()],
  ])('returns the id of the result of %s', async (_, call) => {
    const { client } = stubClient([json({ data: [{ action: 'MUSIC' }] }, 200, headers)]);
    expect(requestIdOf(await call(client))).toBe('req_7');
  });

  test('returns the id of a voice and of listed voices', async () => {
    const reply = (output: object) => json({ output }, 200, headers);
    const { client } = stubClient([
      reply({ voice: 'v' }),
      reply({ voice_list: [{ voice_id: 'voxa-v2-a-b' }] }),
    ]);
    const voice = {
      target_model: 'alpha3-tts-vc-2026-01-22',
      name: 'me',
      audio: 'https://files.example/a.wav',
    };
    expect(requestIdOf(await client.voices.clone(voice))).toBe('req_7');
    const voices = await client.voices.list();
    expect([requestIdOf(voices), requestIdOf(voices[0] ?? {})]).toEqual(['req_7', 'req_7']);
  });

  test('returns the id of an error, a binary response, a Response and an event stream', async () => {
    const audio = () => new Response('RIFF', { headers });
    const sse = () => new Response('data: {"output":{}}\n\n', { headers });
    const { client } = stubClient([json(failed, 400, headers), audio, audio, sse]);
    const error: unknown = await client.models.list().catch((cause: unknown) => cause);
    const speech = { model: 'm', voice: 'v', input: 'Hi.' };
    const events = client.speech.events(speech);
    const results = [
      error as Error,
      await client.speech.create(speech),
      await client.openAddress('http://gateway.example/v1/files/t/a.wav'),
    ];
    await collect(events);
    expect([...results, events].map(requestIdOf)).toEqual(['req_7', 'req_7', 'req_7', 'req_7']);
  });

  test('returns undefined for a response without an id', async () => {
    const { client } = stubClient([json({ data: [] })]);
    expect(requestIdOf(await client.models.list())).toBeUndefined();
  });
});

test('onResponse gets the response of a result that is not an object', async () => {
  const { client } = stubClient([json({ input_tokens: 3 }, 200, headers), json(failed, 400, headers)]);
  const ids: (string | undefined)[] = [];
  const onResponse = (response: Response) => void ids.push(requestIdOf(response));
  const prompt = { model: 'm', messages: [] };
  expect(await client.messages.countTokens(prompt, { onResponse })).toBe(3);
  await expect(client.messages.countTokens(prompt, { onResponse })).rejects.toThrow('No.');
  expect(ids).toEqual(['req_7']);
});

describe('an id that would lead to another path', () => {
  test.each<[string, (client: Unigate) => Promise<unknown>]>([
    ['task_id must not be empty.', (client) => client.videos.retrieve('')],
    ['task_id must not be "..".', (client) => client.videos.retrieve('..')],
    ['task_id must not be ".".', (client) => client.videos.delete('.')],
    ['task_id must not be empty.', (client) => client.videos.waitFor('')],
    ['task_id must not be empty.', (client) => client.videos.download('')],
    ['clip_id must not be empty.', (client) => client.music.songs([])],
    ['model must not be empty.', (client) => client.models.retrieve('')],
    ['id must not be empty.', (client) => client.tokens.delete(undefined as unknown as number)],
    ['name must not be "..".', (client) => client.admin.channels.enable('..')],
    [
      'task_id must not be empty.',
      (client) => client.call('getVideo', { params: { path: { task_id: '' } } }),
    ],
    [
      'task_id must not be empty.',
      async (client) => client.http.GET('/v1/videos/{task_id}', { params: { path: { task_id: '' } } }),
    ],
  ])('%s', async (message, call) => {
    const { client, fetch } = stubClient([]);
    await expect(call(client)).rejects.toThrow(message);
    expect(fetch).not.toHaveBeenCalled();
  });

  test('does not include dots and slashes within an id', async () => {
    const { client, fetch } = stubClient([json({}), json({})]);
    await client.models.retrieve('beta/speech-2.8-hd');
    await client.videos.retrieve('../secrets');
    expect(fetch.mock.calls.map(([sent]) => new URL(sent.url).pathname)).toEqual([
      '/v1/models/beta%2Fspeech-2.8-hd',
      '/v1/videos/..%2Fsecrets',
    ]);
  });
});
