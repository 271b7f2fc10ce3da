import { once } from 'node:events';
import { type IncomingMessage, request as sendHttp } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { OperationId } from '../../generated/operations.ts';
import { documented } from '../conformance/contract/documented.ts';
import { type Variation } from '../conformance/wire/exchange.ts';
import { type HttpResponse, jsonOf, type Target } from '../conformance/wire/http-response.ts';
import { hasSignature } from '../conformance/wire/media-signatures.ts';
import { inspectWav, level } from '../sandbox/audio-inspection.ts';
import { exchange } from '../support/exchange.ts';
import { assertConforms, expectError, expectRoutingError } from '../support/expectations.ts';
import { type Mock, startMock } from './server.ts';
import { taskKinds } from './task-kinds.ts';

const taskMs = 10_000;
let now = Date.now();
let mock: Mock;
let target: Target;
beforeAll(async () => {
  mock = await startMock({ now: () => now, taskMs, paceMs: 1 });
  target = { url: mock.url, key: 'sk-any' };
});
afterAll(() => mock.close());

async function call(operation: OperationId, variation?: Variation): Promise<HttpResponse> {
  return assertConforms(await exchange(target, documented(operation), variation), documented(operation));
}

/** Returns the id in the response of a create operation of any format. */
function idOf(response: unknown): string {
  const found = JSON.stringify(response).match(/"(?:task_id|id|Id|result|session_id|data)":"([^"]+)"/);
  if (found?.[1] === undefined) throw new Error(`no id in ${JSON.stringify(response)}`);
  return found[1];
}

describe('the mock', () => {
  test.each(['*/*', 'text/html', 'application/xml', 'audio/*', undefined])(
    'accepts any Accept header: %s',
    async (accept) => {
      expect((await call('listModels', { headers: { accept } })).status).toBe(200);
      const speech = await call('createSpeech', { headers: { accept } });
      expect(hasSignature(speech.headers.get('content-type') ?? '', speech.body)).toBe(true);
    },
  );

  test('accepts a GET with and without a content type', async () => {
    for (const type of [undefined, 'application/json'])
      expect((await call('getVideo', { headers: { 'content-type': type } })).status).toBe(200);
  });

  test('reports invalid requests like the gateway', async () => {
    const response = await call('createSpeech', { change: { stream: 'yes' } });
    expectError(response, 400, { code: 'invalid_request', field: 'stream' });
    const management = await call('createToken', { change: { name: '' } });
    expect(jsonOf(management)).toMatchObject({ success: false, message: expect.stringContaining('name: ') });
  });

  test('returns a generic error for an unknown path', async () => {
    const response = await exchange(target, { ...documented('getVideo'), path: '/v1/nothing' });
    expect(response.status).toBe(404);
    expectRoutingError(response, 'path_not_found');
  });

  test('returns a model with a slash in its id, with a key in either header', async () => {
    for (const header of ['authorization', 'x-api-key']) {
      const key = header === 'authorization' ? 'Bearer sk-any' : 'sk-any';
      const path = '/v1/models/beta/speech-2.8-hd';
      const reply = await fetch(mock.url + path, { headers: { [header]: key } });
      expect([reply.status, await reply.json()]).toEqual([200, expect.objectContaining({ object: 'model' })]);
    }
  });

  test('returns the model with the requested id, and lists the models of the catalog', async () => {
    const id = 'alpha3-tts-flash';
    expect(jsonOf(await call('getModel', { path: { model: id } }))).toMatchObject({ id });
    const { data } = jsonOf(await call('listModels')) as { data: { id: string }[] };
    expect(data.map((model) => model.id)).toEqual(expect.arrayContaining([id, 'eta-imagine-video']));
  });

  test('has only the examples of resources that no request creates', async () => {
    const [example = ''] = documented('getClip').parameters.flatMap(({ examples }) => examples.map(String));
    expect((await call('getClip', { path: { clip_id: example } })).status).toBe(200);
    const unknown = await call('getClip', { path: { clip_id: 'none' } });
    expectError(unknown, 404, { code: 'resource_not_found', field: 'clip_id' });
  });

  test('returns the requested model', async () => {
    const model = 'gamma3.0-video';
    expect(jsonOf(await call('createVideo', { change: { model } }))).toMatchObject({ model });
    expect((await call('createSpeech', { change: { model: 'none' } })).status).toBe(404);
  });

  test.each([
    ['code=200, example=none', 'must be one of'],
    ['code=418', 'code 418 is not documented'],
    ['example=none', '"none"'],
  ])('rejects Prefer: %s', async (prefer, expected) => {
    const response = await call('getVideo', { headers: { prefer } });
    expectError(response, 400, { code: 'invalid_request', field: 'prefer', includes: [expected] });
  });
});

describe('speech', () => {
  test.each([
    ['voxa-v3-flash', {}, 'audio/mpeg'],
    ['voxa-v3-flash', { response_format: 'opus' }, 'audio/ogg'],
    ['alpha3-tts-flash', {}, 'audio/wav'],
    ['alpha3-tts-flash', { stream: true }, 'audio/pcm'],
    ['beta/speech-2.8-hd', { response_format: 'flac' }, 'audio/flac'],
  ])('of %s with %j is a playable file of type %s', async (model, change, type) => {
    const response = await call('createSpeech', {
      change: { model, voice: 'any', response_format: undefined, ...change },
    });
    expect([response.status, response.headers.get('content-type')]).toEqual([200, type]);
    expect(response.body.length).toBeGreaterThan(1000);
  });

  test.each<[OperationId, string, Variation]>([
    ['createSpeech', 'audio/wav', { change: { stream: true, stream_format: 'sse' } }],
    ['synthesizeSpeech', 'audio/mpeg', { headers: { 'x-native-sse': 'enable' } }],
    ['generateMultimodalSpeech', 'audio/wav', { headers: { 'x-native-sse': 'enable' } }],
  ])('of %s is sent as events whose joined chunks are audio', async (operation, _, variation) => {
    const response = await call(operation, variation);
    expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/);
    const events = [...response.body.toString().matchAll(/^data:(.*)$/gm)].map(([, data = '']) =>
      JSON.parse(data),
    );
    const chunks = events.map(({ output }) => Buffer.from(output.audio.data, 'base64'));
    expect(chunks.length).toBeGreaterThan(3);
    expect(Buffer.concat(chunks).length).toBeGreaterThan(1000);
    expect(events.at(-1).output.finish_reason).toBe('stop');
    expect(events.map(({ usage }) => usage?.cost)).toEqual([...chunks.slice(1).map(() => undefined), 26]);
  });

  test.each([
    ['a file', {}, '26', undefined],
    ['a stream', { stream: true }, undefined, '26'],
    ['events', { stream: true, stream_format: 'sse' }, undefined, '26'],
    ['a file of a model metered in tokens', { model: 'alpha-tts', response_format: 'wav' }, '101', undefined],
  ])('as %s states its charge', async (_, change, header, trailer) => {
    const body = { model: 'voxa-v3-flash', input: 'Good morning.', voice: 'any', ...change };
    const sent = sendHttp(`${target.url}/v1/audio/speech`, {
      method: 'POST',
      headers: { authorization: 'Bearer sk-any', 'content-type': 'application/json', te: 'trailers' },
    }).end(JSON.stringify(body));
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    await response.resume().toArray();
    const { headers, trailers } = response;
    expect([headers['x-unigate-cost'], trailers['x-unigate-cost']]).toEqual([header, trailer]);
  });

  test('of a beta model is hexadecimal, as a whole and in events', async () => {
    const beta = { example: 'beta' };
    const names = documented('generateMultimodalSpeech').requests.flatMap(({ examples }) => examples);
    expect(names.map(({ name }) => name)).toContain('beta');
    const whole = jsonOf(await call('generateMultimodalSpeech', beta)) as {
      output: { data: { audio: string } };
    };
    expect(hasSignature('audio/mpeg', Buffer.from(whole.output.data.audio, 'hex'))).toBe(true);
    const events = await call('generateMultimodalSpeech', { ...beta, headers: { 'x-native-sse': 'enable' } });
    expect(events.body.toString()).toContain('"status":2');
  });

  test.each<[string, number, OperationId, Variation['change']]>([
    ['an alpha model', 24_000, 'createSpeech', { model: 'alpha3-tts-flash', response_format: 'wav' }],
    ['a voxa model', 22_050, 'createSpeech', { model: 'voxa-v3-flash', response_format: 'wav' }],
    [
      'a voxa model on request',
      48_000,
      'createSpeech',
      { model: 'voxa-v3-flash', response_format: 'wav', extra_body: { input: { sample_rate: 48_000 } } },
    ],
    ['a beta model', 32_000, 'createSpeech', { model: 'beta/speech-2.8-hd', response_format: 'wav' }],
  ])('of %s has %i samples per second', async (_, rate, operation, change) => {
    const { body } = await call(operation, { change: { voice: 'any', ...change } });
    const { sampleRate, samples } = inspectWav(body);
    expect(sampleRate).toBe(rate);
    expect(level(samples)).toBeGreaterThan(0.01);
  });

  test.each<[OperationId, Variation]>([
    ['synthesizeSpeech', { headers: { 'x-native-sse': 'enable' } }],
    ['generateMultimodalSpeech', { headers: { 'x-native-sse': 'enable' } }],
    ['createSpeech', { change: { stream: true, stream_format: 'sse' } }],
  ])('of %s as events links to a file of the mock', async (operation, variation) => {
    const { body } = await call(operation, variation);
    expect(body.toString()).not.toContain('files.example');
    const [, url = ''] = /"url":"(http[^"]+)"/.exec(body.toString()) ?? [];
    expect(url.startsWith(mock.url)).toBe(true);
    const file = await fetch(url);
    expect(hasSignature(file.headers.get('content-type') ?? '', Buffer.from(await file.arrayBuffer()))).toBe(
      true,
    );
  });

  test('of a native route links to a file that supports ranges', async () => {
    const response = jsonOf(await call('synthesizeSpeech')) as { output: { audio: { url: string } } };
    const { url } = response.output.audio;
    const part = await fetch(url, { headers: { range: 'bytes=0-2' } });
    expect([part.status, (await part.arrayBuffer()).byteLength]).toEqual([206, 3]);
    expect((await fetch(url, { method: 'HEAD' })).status).toBe(200);
    const beyond = await fetch(url, { headers: { range: 'bytes=9999999-' } });
    expect([beyond.status, beyond.headers.get('content-range')]).toEqual([
      416,
      expect.stringMatching(/^bytes \*\/\d+$/),
    ]);
  });

  test('has no file of an unknown name', async () => {
    expect((await fetch(`${mock.url}/mock-media/..%2fserver.ts`)).status).toBe(404);
  });
});

describe('embeddings', () => {
  const embed = async (change: Variation['change']) => {
    const response = jsonOf(await call('createEmbedding', change === undefined ? {} : { change }));
    return (response as { data: { index: number; embedding: number[] | string }[] }).data;
  };

  test('have one vector per input, with the requested dimensions', async () => {
    const input = ['One.', 'Two.', 'One.'];
    const vectors = await embed({ input, dimensions: 8, encoding_format: 'float' });
    expect(vectors.map(({ index }) => index)).toEqual([0, 1, 2]);
    expect(vectors.map(({ embedding }) => embedding.length)).toEqual([8, 8, 8]);
    expect(vectors[2]?.embedding).toEqual(vectors[0]?.embedding);
    expect(vectors[1]?.embedding).not.toEqual(vectors[0]?.embedding);
  });

  test('are encoded as requested', async () => {
    const [plain] = await embed({ input: 'One.', dimensions: 8, encoding_format: 'float' });
    const [encoded] = await embed({ input: 'One.', dimensions: 8, encoding_format: 'base64' });
    const bytes = Buffer.from(String(encoded?.embedding), 'base64');
    expect(Array.from({ length: bytes.length / 4 }, (_, at) => bytes.readFloatLE(at * 4))).toEqual(
      plain?.embedding,
    );
  });
});

describe('messages', () => {
  const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
  const tools = [{ name: 'get_tide', description: 'Looks up tides.', input_schema: schema }];
  const messages = [{ role: 'user', content: 'Good morning from Vik.' }];
  const ask = (change: Variation['change']) => call('createMessage', { change: { messages, ...change } });
  const any = { tools, tool_choice: { type: 'any' } };

  test('use a tool if the choice requires one', async () => {
    expect(jsonOf(await ask({ tools }))).toMatchObject({ stop_reason: 'end_turn' });
    expect(jsonOf(await ask(any))).toMatchObject({
      stop_reason: 'tool_use',
      content: [{ type: 'tool_use', name: 'get_tide', input: { city: 'Vik' } }],
    });
  });

  test('use a tool in a stream', async () => {
    const response = await ask({ ...any, stream: true });
    expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/);
    const events = [...response.body.toString().matchAll(/^data: ?(.*)$/gm)].map(
      ([, data = '']) => JSON.parse(data) as { type: string; delta?: { partial_json?: string } },
    );
    expect(JSON.parse(events.map(({ delta }) => delta?.partial_json ?? '').join(''))).toEqual({
      city: 'Vik',
    });
    expect(events.at(-2)).toMatchObject({ type: 'message_delta', delta: { stop_reason: 'tool_use' } });
  });
});

test.each<[OperationId, Variation]>([
  ['createMessage', { change: { stream: true } }],
  ['createSpeech', { change: { stream: true, stream_format: 'sse' } }],
  ['synthesizeSpeech', { headers: { 'x-native-sse': 'enable' } }],
  ['generateMultimodalSpeech', { headers: { 'x-native-sse': 'enable' } }],
])('a stream of %s is never JSON', async (operation, { change = {}, headers = {} }) => {
  for (const prefer of [undefined, 'code=200', 'dynamic=true']) {
    const response = await call(operation, { change, headers: { ...headers, prefer } });
    expect(response.headers.get('content-type'), prefer).toMatch(/^text\/event-stream/);
  }
});

test('lists contain what was created', async () => {
  await call('createToken', { change: { name: 'made here' } });
  expect(jsonOf(await call('listTokens'))).toMatchObject({
    data: { items: expect.arrayContaining([expect.objectContaining({ name: 'made here' })]) },
  });
});

describe.each([...taskKinds])('a task of %s', (operation, { read }) => {
  const readOf = documented(read);
  const [parameter = ''] = readOf.parameters
    .filter(({ in: place }) => place === 'path')
    .map(({ name }) => name);

  test('goes through its documented states and ends with existing files', async () => {
    const created = jsonOf(await call(operation));
    const id = idOf(created);
    const seen: string[] = [];
    for (const step of [0, 0.5, 0.6]) {
      now += step * taskMs;
      const shown = await call(read, { path: { [parameter]: id } });
      expect(shown.status).toBe(200);
      expect(shown.body.toString()).toContain(id);
      seen.push(shown.body.toString());
    }
    expect(new Set(seen).size).toBeGreaterThan(1);
    for (const [, url = ''] of (seen.at(-1) ?? '').matchAll(/"(http:\/\/127[^"]+mock-media[^"]+)"/g)) {
      const { status, headers } = await fetch(url);
      expect([status, headers.get('access-control-allow-origin')], url).toEqual([200, '*']);
    }
    expect(seen.at(-1)).not.toContain('files.example');
  });

  test('is not found under another id', async () => {
    const unknown = { getNativeTask: 200 }[read as string] ?? 404;
    // A well-formed id that does not exist.
    const id = idOf(jsonOf(await call(operation))).replace(/.$/, (last) => (last === '7' ? '8' : '7'));
    expect((await exchange(target, readOf, { path: { [parameter]: id } })).status).toBe(unknown);
  });
});

test.each(['submitMusic', 'submitMusicV1', 'submitMusicV1Mv35', 'createMusic'])(
  'music of %s is created in its format and read in both',
  async (name) => {
    const operation = documented(name);
    const response = assertConforms(await exchange(target, operation), operation);
    const listed = operation.path.startsWith('/sigma/v1') && name !== 'createMusic';
    expect(Array.isArray((jsonOf(response) as { data: unknown }).data)).toBe(listed);
    const path = { task_id: idOf(jsonOf(response)) };
    now += taskMs;
    const record = { data: { task_id: path.task_id, status: 'SUCCESS' } };
    expect(jsonOf(await call('fetchMusicTask', { path }))).toMatchObject(record);
    expect(jsonOf(await call('getMusic', { path }))).toMatchObject(record);
  },
);

test('image jobs repeat the fields of their requests and are listed by id, each once', async () => {
  const imagine = await call('submitImagine', { change: { prompt: 'a lighthouse', state: 'order 8' } });
  const action = await call('submitImageAction', { change: { state: undefined } });
  const [grid, upscale] = [idOf(jsonOf(imagine)), idOf(jsonOf(action))];
  now += taskMs;
  const ids = [grid, upscale, grid, 'task_none'];
  expect(jsonOf(await call('listImageJobs', { change: { ids } }))).toMatchObject([
    { id: grid, action: 'IMAGINE', prompt: 'a lighthouse', state: 'order 8', status: 'SUCCESS' },
    { id: upscale, action: 'UPSCALE', state: null },
  ]);
});

test.each([
  [
    { name: 'walk', asset_type: 'video' },
    { Name: 'walk', AssetType: 'Video' },
  ],
  [
    { name: undefined, asset_type: 'Audio' },
    { Name: '', AssetType: 'Audio' },
  ],
])('an asset is created from %j', async (change, expected) => {
  const path = { id: (jsonOf(await call('uploadAsset', { change })) as { data: { Id: string } }).data.Id };
  expect(jsonOf(await call('getAsset', { path }))).toMatchObject({
    data: { Id: path.id, Status: 'Processing', ...expected },
  });
});

test('a video supports ranges, and 416 for a range that it does not have', async () => {
  const path = { task_id: idOf(jsonOf(await call('createVideo'))) };
  now += taskMs;
  const part = await call('downloadVideoContent', { path, headers: { range: 'bytes=0-9' } });
  expect([part.status, part.body.length]).toEqual([206, 10]);
  const beyond = await call('downloadVideoContent', { path, headers: { range: 'bytes=9999999-' } });
  expectError(beyond, 416, { code: 'range_not_satisfiable', field: 'range' });
  expect(beyond.headers.get('content-range')).toMatch(/^bytes \*\/\d+$/);
});

test('a task with [[fail-late]] in its prompt fails, and a queued task can be canceled', async () => {
  const failing = idOf(jsonOf(await call('createVideo', { change: { prompt: '[[fail-late]]' } })));
  now += taskMs;
  expect(jsonOf(await call('getVideo', { path: { task_id: failing } }))).toMatchObject({ status: 'failed' });
  const waiting = { path: { task_id: idOf(jsonOf(await call('createNativeVideo'))) } };
  expect((await call('cancelNativeTask', waiting)).status).toBe(200);
  expect(jsonOf(await call('getNativeTask', waiting))).toMatchObject({ output: { task_status: 'CANCELED' } });
});
