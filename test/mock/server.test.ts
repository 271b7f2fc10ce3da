import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { OperationId } from '../../generated/operations.ts';
import { documented } from '../conformance/contract/documented.ts';
import { type Variation } from '../conformance/wire/exchange.ts';
import { type HttpResponse, jsonOf, type Target } from '../conformance/wire/http-response.ts';
import { hasSignature } from '../conformance/wire/media-signatures.ts';
import { exchange } from '../support/exchange.ts';
import { assertConforms, expectError, expectRoutingError } from '../support/expectations.ts';
import { type Mock, startMock } from './server.ts';
import { journeys } from './tasks.ts';

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

/** The id in the answer of a create call, in whichever format. */
function idIn(answer: unknown): string {
  const found = JSON.stringify(answer).match(/"(?:task_id|id|Id|result|session_id|data)":"([^"]+)"/);
  if (found?.[1] === undefined) throw new Error(`no id in ${JSON.stringify(answer)}`);
  return found[1];
}

describe('the mock', () => {
  test.each(['*/*', 'text/html', 'application/xml', 'audio/*', undefined])(
    'answers whatever the client says that it accepts: %s',
    async (accept) => {
      expect((await call('listModels', { headers: { accept } })).status).toBe(200);
      const speech = await call('createSpeech', { headers: { accept } });
      expect(hasSignature(speech.headers.get('content-type') ?? '', speech.body)).toBe(true);
    },
  );

  test('needs no body and no content type on a GET, and minds neither', async () => {
    for (const type of [undefined, 'application/json'])
      expect((await call('getVideo', { headers: { 'content-type': type } })).status).toBe(200);
  });

  test('says what is wrong with a request as the gateway does', async () => {
    const answer = await call('createSpeech', { change: { stream: 'yes' } });
    expectError(answer, 400, { code: 'invalid_request', field: 'stream' });
    const management = await call('createToken', { change: { name: '' } });
    expect(jsonOf(management)).toMatchObject({ success: false, message: expect.stringContaining('name: ') });
  });

  test('answers an unknown path in the generic family', async () => {
    const answer = await exchange(target, { ...documented('getVideo'), path: '/v1/nothing' });
    expect(answer.status).toBe(404);
    expectRoutingError(answer, 'path_not_found');
  });

  test('shows a model with a slash in its id, to a key in either header', async () => {
    for (const header of ['authorization', 'x-api-key']) {
      const key = header === 'authorization' ? 'Bearer sk-any' : 'sk-any';
      const path = '/v1/models/beta/speech-2.8-hd';
      const reply = await fetch(mock.url + path, { headers: { [header]: key } });
      expect([reply.status, await reply.json()]).toEqual([200, expect.objectContaining({ object: 'model' })]);
    }
  });

  test('repeats the model that was asked for', async () => {
    for (const operation of ['createVideo', 'createEmbedding', 'createMessage'] as const)
      expect(jsonOf(await call(operation, { change: { model: 'gamma3.0-video' } }))).toMatchObject({
        model: 'gamma3.0-video',
      });
  });

  test.each([
    ['code=200, example=none', 'there are'],
    ['code=418', 'code 418 is not documented here'],
    ['example=none', '"none"'],
  ])('refuses Prefer: %s', async (prefer, says) => {
    const answer = await call('getVideo', { headers: { prefer } });
    expectError(answer, 400, { code: 'invalid_request', field: 'prefer', includes: [says] });
  });
});

describe('speech', () => {
  test.each([
    ['voxa-v3-flash', {}, 'audio/mpeg'],
    ['voxa-v3-flash', { response_format: 'opus' }, 'audio/ogg'],
    ['alpha3-tts-flash', {}, 'audio/wav'],
    ['alpha3-tts-flash', { stream: true }, 'audio/pcm'],
    ['beta/speech-2.8-hd', { response_format: 'flac' }, 'audio/flac'],
  ])('of %s with %j is a file that plays, of type %s', async (model, change, type) => {
    const answer = await call('createSpeech', {
      change: { model, voice: 'any', response_format: undefined, ...change },
    });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, type]);
    expect(answer.body.length).toBeGreaterThan(1000);
  });

  test.each<[OperationId, string, Variation]>([
    ['createSpeech', 'audio/wav', { change: { stream: true, stream_format: 'sse' } }],
    ['synthesizeSpeech', 'audio/mpeg', { headers: { 'x-native-sse': 'enable' } }],
    ['generateMultimodalSpeech', 'audio/wav', { headers: { 'x-native-sse': 'enable' } }],
  ])('of %s comes as events whose pieces join to audio', async (operation, _, variation) => {
    const answer = await call(operation, variation);
    expect(answer.headers.get('content-type')).toMatch(/^text\/event-stream/);
    const events = [...answer.body.toString().matchAll(/^data:(.*)$/gm)].map(([, data = '']) =>
      JSON.parse(data),
    );
    const pieces = events.map(({ output }) => Buffer.from(output.audio.data, 'base64'));
    expect(pieces.length).toBeGreaterThan(3);
    expect(Buffer.concat(pieces).length).toBeGreaterThan(1000);
    expect(events.at(-1).output.finish_reason).toBe('stop');
  });

  test('of a beta model comes as hexadecimal, whole and in events', async () => {
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

  test('natively names a file that can be fetched, with ranges', async () => {
    const answer = jsonOf(await call('synthesizeSpeech')) as { output: { audio: { url: string } } };
    const { url } = answer.output.audio;
    const part = await fetch(url, { headers: { range: 'bytes=0-2' } });
    expect([part.status, (await part.arrayBuffer()).byteLength]).toEqual([206, 3]);
    expect((await fetch(url, { method: 'HEAD' })).status).toBe(200);
  });
});

describe.each([...journeys])('a task of %s', (operation, { read }) => {
  const readOf = documented(read);
  const [parameter = ''] = readOf.parameters
    .filter(({ in: place }) => place === 'path')
    .map(({ name }) => name);

  test('moves through its states, each as documented, and ends with files that are there', async () => {
    const made = jsonOf(await call(operation));
    const id = idIn(made);
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

  test('is not there under another id', async () => {
    const unknown = { getNativeTask: 200 }[read as string] ?? 404;
    // An id of the right form that was never told.
    const id = idIn(jsonOf(await call(operation))).replace(/.$/, (last) => (last === '7' ? '8' : '7'));
    expect((await exchange(target, readOf, { path: { [parameter]: id } })).status).toBe(unknown);
  });
});

test.each(['submitMusic', 'submitMusicV1', 'submitMusicV1Mv35', 'createMusic'])(
  'music of %s is told in its format and read in both',
  async (name) => {
    const operation = documented(name);
    const answer = assertConforms(await exchange(target, operation), operation);
    const listed = operation.path.startsWith('/sigma/v1') && name !== 'createMusic';
    expect(Array.isArray((jsonOf(answer) as { data: unknown }).data)).toBe(listed);
    const path = { task_id: idIn(jsonOf(answer)) };
    now += taskMs;
    const record = { data: { task_id: path.task_id, status: 'SUCCESS' } };
    expect(jsonOf(await call('fetchMusicTask', { path }))).toMatchObject(record);
    expect(jsonOf(await call('getMusic', { path }))).toMatchObject(record);
  },
);

test('a task with [[fail-late]] in its prompt fails at its end, and one in the queue is canceled', async () => {
  const failing = idIn(jsonOf(await call('createVideo', { change: { prompt: '[[fail-late]]' } })));
  now += taskMs;
  expect(jsonOf(await call('getVideo', { path: { task_id: failing } }))).toMatchObject({ status: 'failed' });
  const waiting = { path: { task_id: idIn(jsonOf(await call('createNativeVideo'))) } };
  expect((await call('cancelNativeTask', waiting)).status).toBe(200);
  expect(jsonOf(await call('getNativeTask', waiting))).toMatchObject({ output: { task_status: 'CANCELED' } });
});

test('an unmodified public SDK speaks, makes a video, waits for it, downloads it and lists models', async () => {
  const sdk = new OpenAI({ baseURL: `${mock.url}/v1`, apiKey: 'sk-any', maxRetries: 0 });
  const reply = await sdk.audio.speech.create({ model: 'alpha3-tts-flash', voice: 'Aria', input: 'Hello.' });
  expect(hasSignature('audio/wav', Buffer.from(await reply.arrayBuffer()))).toBe(true);

  const made = await sdk.videos.create({ model: 'eta-imagine-video', prompt: 'A boat.', seconds: '4' });
  expect(made).toMatchObject({ status: 'queued', model: 'eta-imagine-video', seconds: '4' });
  now += taskMs;
  const done = await sdk.videos.retrieve(made.id);
  expect(done).toMatchObject({ id: made.id, status: 'completed', progress: 100 });
  const content = await sdk.videos.downloadContent(made.id);
  expect(hasSignature('video/mp4', Buffer.from(await content.arrayBuffer()))).toBe(true);
  const listed: string[] = [];
  for await (const { id } of sdk.videos.list({ limit: 1 })) listed.push(id);
  expect(listed[0]).toBe(made.id);
  expect(await sdk.videos.delete(made.id)).toMatchObject({ deleted: true });

  const models: string[] = [];
  for await (const { id } of sdk.models.list()) models.push(id);
  expect(models.length).toBeGreaterThan(0);
});
