import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../openapi/tools/document.ts';
import { documented } from '../conformance/contract/documented.ts';
import { type HttpResponse, jsonOf, type Target } from '../conformance/wire/http-response.ts';
import { hasSignature } from '../conformance/wire/media-signatures.ts';
import { exchange } from '../support/exchange.ts';
import { assertConforms } from '../support/expectations.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { type Mock, startMock } from './server.ts';

const taskMs = 10_000;
let now = Date.parse('2026-02-01T09:30:00Z');
let mock: Mock;
let gateway: TestGateway;
beforeAll(async () => {
  [gateway, mock] = await Promise.all([startTestGateway(), startMock({ now: () => now, taskMs })]);
}, 60_000);
afterAll(() => Promise.all([gateway.close(), mock.close()]));

const operation = documented('customizeVoice');
const call = async (target: Target, model: string, input: object, parameters?: object) => {
  const body = { model, input, ...(parameters !== undefined && { parameters }) } as JsonObject;
  return assertConforms(await exchange(target, operation, { body }), operation);
};

interface Output {
  voice_id?: string;
  voice?: string;
  status?: string;
  total_count?: number;
  voice_list?: { voice_id?: string; voice?: string }[];
  preview_audio?: { data: string };
}
async function outputOf(model: string, input: object, parameters?: object): Promise<Output> {
  const response = await call({ url: mock.url, key: 'sk-any' }, model, input, parameters);
  expect(response.status, response.body.toString()).toBe(200);
  return (jsonOf(response) as { output: Output }).output;
}

const words = { voice_prompt: 'A deep, calm voice.', preview_text: 'Hello there.' };
const enrollment = 'voice-enrollment';
const clone = {
  action: 'create_voice',
  target_model: 'voxa-v3.5-flash',
  url: 'https://files.example/me.wav',
};

describe('a designed voice has the responses of the gateway', () => {
  test.each([
    [
      enrollment,
      'voice_id',
      { action: 'create_voice', target_model: 'voxa-v3.5-flash', prefix: 'calm', ...words },
      ['list_voice', 'query_voice', 'delete_voice', 'query_voice', 'list_voice'],
    ],
    [
      'alpha-voice-design',
      'voice',
      { action: 'create', target_model: 'alpha3-tts-vd-2026-01-26', preferred_name: 'calm', ...words },
      ['list', 'query', 'delete', 'query', 'list'],
    ],
  ])('of %s', async (model, field, design, actions) => {
    const lifeOn = async (target: Target) => {
      const created = await call(target, model, design);
      const id = (jsonOf(created) as { output: Record<string, string> }).output[field] ?? '';
      const replies = [created];
      for (const action of actions) {
        const isList = action.startsWith('list');
        replies.push(await call(target, model, { action, ...(!isList && { [field]: id }) }));
      }
      return replies.map((reply) => comparable(reply, id));
    };
    const onGateway = await lifeOn({ url: gateway.url, key: gateway.key });
    expect(onGateway.map(({ status }) => status)).toEqual([200, 200, 200, 200, 404, 200]);
    expect(await lifeOn({ url: mock.url, key: 'sk-any' })).toEqual(onGateway);
  });
});

/** Replaces ids, times, states and audio, which differ between two servers. */
function comparable(response: HttpResponse, id: string) {
  const text = response.body
    .toString()
    .replaceAll(id, 'id')
    .replaceAll(/"(request_id|gmt_create|gmt_modified|status|data)":"[^"]*"/g, '"$1":"any"');
  return { status: response.status, body: JSON.parse(text) as unknown };
}

test('a cloned voice is deployed after a while and again after an update', async () => {
  const { voice_id } = await outputOf(enrollment, { ...clone, prefix: 'narrator' });
  const query = () => outputOf(enrollment, { action: 'query_voice', voice_id });
  const created = '2026-02-01 09:30:00';
  expect(await query()).toEqual({
    gmt_create: created,
    gmt_modified: created,
    status: 'DEPLOYING',
    target_model: 'voxa-v3.5-flash',
    resource_link: 'https://files.example/me.wav',
  });
  now += taskMs;
  expect(await query()).toMatchObject({ gmt_modified: '2026-02-01 09:30:10', status: 'OK' });
  const url = 'https://files.example/second.wav';
  expect(await outputOf(enrollment, { action: 'update_voice', voice_id, url })).toEqual({});
  expect(await query()).toMatchObject({ gmt_create: created, status: 'DEPLOYING', resource_link: url });
});

test('a list contains the voices of its service with the prefix in pages, the newest first', async () => {
  const ids: (string | undefined)[] = [];
  for (const prefix of ['one', 'two', 'one', 'one'])
    ids.push((await outputOf(enrollment, { ...clone, prefix })).voice_id);
  const list = async (input: object) =>
    (await outputOf(enrollment, { action: 'list_voice', ...input })).voice_list?.map(
      ({ voice_id }) => voice_id,
    );
  expect(await list({ prefix: 'one' })).toEqual([ids[3], ids[2], ids[0]]);
  expect(await list({ prefix: 'one', page_index: 1, page_size: 2 })).toEqual([ids[0]]);
  const other = await outputOf('alpha-voice-enrollment', { action: 'list' });
  expect(other).toEqual({ page_index: 0, page_size: 10, total_count: 0, voice_list: [] });
});

test.each(['wav', 'mp3'])('the preview of a designed voice is playable %s', async (format) => {
  const input = { action: 'create_voice', target_model: 'voxa-v3.5-flash', prefix: 'calm', ...words };
  const { preview_audio } = await outputOf(enrollment, input, { response_format: format });
  const type = format === 'mp3' ? 'audio/mpeg' : 'audio/wav';
  expect(hasSignature(type, Buffer.from(preview_audio?.data ?? '', 'base64'))).toBe(true);
});

test('a voice of another service is not found', async () => {
  const { voice_id } = await outputOf(enrollment, { ...clone, prefix: 'mine' });
  const target = { url: mock.url, key: 'sk-any' };
  const query = (id?: string) => call(target, 'alpha-voice-design', { action: 'query', voice: id });
  expect(jsonOf(await query(voice_id))).toMatchObject({ error: { code: 'voice_not_found' } });
});
