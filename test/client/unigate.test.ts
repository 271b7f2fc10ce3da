import { inspect } from 'node:util';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { Unigate, UnigateError } from '../../client/index.ts';
import { json, stubClient } from './stub-fetch.ts';

afterEach(() => void vi.unstubAllEnvs());

describe('settings', () => {
  test('come from the environment', async () => {
    vi.stubEnv('UNIGATE_BASE_URL', 'http://env.example/');
    vi.stubEnv('UNIGATE_API_KEY', ' sk-env\n');
    const fetch = vi.fn(async (request: Request) =>
      Response.json({ data: [request.headers.get('authorization')] }),
    );
    const client = new Unigate({ fetch });
    expect(client.baseUrl).toBe('http://env.example');
    expect(await client.models.list()).toEqual(['Bearer sk-env']);
    expect(fetch.mock.calls[0]?.[0].url).toBe('http://env.example/v1/models');
  });

  test('default to a local gateway', () => {
    vi.stubEnv('UNIGATE_BASE_URL', '');
    expect(new Unigate({ apiKey: 'k' }).baseUrl).toBe('http://127.0.0.1:8080');
  });

  test.each([
    [{ apiKey: '' }, 'apiKey is required, or set UNIGATE_API_KEY.'],
    [{ apiKey: 'sk\nsecret' }, 'apiKey contains characters that are not allowed in a header.'],
    [
      { apiKey: 'k', baseUrl: 'gateway.example' },
      'baseUrl must be an http or https URL, not gateway.example',
    ],
    [{ apiKey: 'k', baseUrl: 'file:///x' }, 'baseUrl must be an http or https URL, not file:///x'],
    [{ apiKey: 'k', baseUrl: 'http://' }, 'baseUrl must be an http or https URL, not http://'],
  ])('%o', (options, message) => {
    vi.stubEnv('UNIGATE_API_KEY', '');
    expect(() => new Unigate(options)).toThrow(new UnigateError(message));
  });

  test('never reveal the key', () => {
    const { client } = stubClient([], { apiKey: 'sk-secret' });
    expect(inspect(client, { depth: 9, showHidden: true })).not.toContain('sk-secret');
    expect(JSON.stringify(client)).not.toContain('sk-secret');
  });
});

describe('call', () => {
  test('sends path and query, and returns the JSON of the response', async () => {
    const { client, fetch } = stubClient([json({ success: true })]);
    const query = { keyword: 'a b', p: 2 };
    expect(await client.call('searchLogs', { params: { query } })).toEqual({ success: true });
    expect(fetch.mock.calls[0]?.[0].url).toBe('http://gateway.example/api/log/search?keyword=a%20b&p=2');
  });

  test('returns bytes if the contract has no JSON', async () => {
    const { client, fetch } = stubClient([() => new Response('MP4')]);
    const bytes = await client.call('downloadVideoContent', { params: { path: { task_id: 'a/b' } } });
    expect(new TextDecoder().decode(bytes)).toBe('MP4');
    expect(fetch.mock.calls[0]?.[0].url).toBe('http://gateway.example/v1/videos/a%2Fb/content');
  });

  test('with the response returns the request id', async () => {
    const { client } = stubClient([json({ object: 'list', data: [] }, 200, { 'x-request-id': 'req_9' })]);
    const { data, requestId, response } = await client.callWithResponse('listModels');
    expect({ data, requestId, status: response.status }).toEqual({
      data: { object: 'list', data: [] },
      requestId: 'req_9',
      status: 200,
    });
  });
});
