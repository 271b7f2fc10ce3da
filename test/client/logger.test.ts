import { describe, expect, test, vi } from 'vitest';
import { type LogFields, Unigate, type UnigateOptions } from '../../client/index.ts';
import { startSocketServer } from './socket-server.ts';
import { json, stubClient } from './stub-fetch.ts';

/** Returns a client that logs to a list. */
function loggingClient(responders: Parameters<typeof stubClient>[0], options: UnigateOptions = {}) {
  const entries: [string, string, LogFields][] = [];
  const log = (level: string) => (message: string, fields: LogFields) =>
    void entries.push([level, message, fields]);
  const logger = { debug: log('debug'), warn: log('warn') };
  return { ...stubClient(responders, { ...options, logger }), entries };
}

const headers = { 'x-request-id': 'req_1', 'retry-after-ms': '0' };

describe('the logger', () => {
  test('receives requests, responses and retries', async () => {
    const { client, entries } = loggingClient([
      json({}, 503, headers),
      () => Promise.reject(new TypeError('fetch failed', { cause: new Error('ECONNRESET') })),
      json({ object: 'list', data: [] }, 200, { 'x-request-id': 'req_2' }),
    ]);
    vi.spyOn(Math, 'random').mockReturnValue(0);
    await client.models.list();
    const durationMs = expect.any(Number);
    const url = { method: 'GET', url: 'http://gateway.example/v1/models' };
    expect(entries).toEqual([
      ['debug', 'request', { ...url, attempt: 1 }],
      ['debug', 'response', { ...url, attempt: 1, status: 503, requestId: 'req_1', durationMs }],
      ['warn', 'retry', { ...url, attempt: 1, status: 503, requestId: 'req_1', durationMs, retryInMs: 0 }],
      ['debug', 'request', { ...url, attempt: 2 }],
      [
        'debug',
        'request failed',
        { ...url, attempt: 2, durationMs, error: expect.stringContaining('closed') },
      ],
      ['warn', 'retry', { ...url, attempt: 2, durationMs, error: expect.any(String), retryInMs: 1_000 }],
      ['debug', 'request', { ...url, attempt: 3 }],
      ['debug', 'response', { ...url, attempt: 3, status: 200, requestId: 'req_2', durationMs }],
    ]);
    vi.restoreAllMocks();
  });

  test('receives a warning when a response is that of a deprecated operation', async () => {
    const sunset = 'Mon, 31 May 2027 00:00:00 GMT';
    const { client, entries } = loggingClient([
      json({ object: 'list', data: [] }, 200, { deprecation: '@1793491200', sunset }),
    ]);
    await client.models.list();
    const url = { method: 'GET', url: 'http://gateway.example/v1/models' };
    expect(entries.at(-1)).toEqual(['warn', 'deprecated', { ...url, attempt: 1, sunset }]);
  });

  test('receives no key, header, query, body or token of a file', async () => {
    const { client, entries } = loggingClient(
      [json({ success: true, data: { items: [], total: 0 } }), () => new Response('MP4')],
      { defaultHeaders: { 'x-secret': 'in-a-header' } },
    );
    await client.logs.search({ keyword: 'in-the-query' });
    await client.openAddress('http://gateway.example/v1/files/in-the-path/video.mp4?signature=in-the-query');
    const text = JSON.stringify(entries);
    expect(entries).toHaveLength(4);
    expect(text).toContain('http://gateway.example/v1/files/***/video.mp4"');
    expect(text).not.toMatch(/sk-test|in-a-header|in-the-query|in-the-path/);
  });
});

describe('defaultHeaders', () => {
  test('are sent with every request to the gateway, below the headers of a call', async () => {
    const { client, fetch } = stubClient(
      [json({ data: [] }), json({ data: [] }), () => new Response('MP4')],
      {
        defaultHeaders: { 'X-Team': 'a', authorization: 'Bearer other' },
      },
    );
    await client.models.list();
    await client.models.list({ headers: { 'x-team': 'b' } });
    await client.openAddress('http://files.example/video.mp4');
    const sent = fetch.mock.calls.map(([request]) => request.headers);
    expect(sent.map((of) => of.get('x-team'))).toEqual(['a', 'b', null]);
    expect(sent[0]?.get('authorization')).toBe('Bearer sk-test');
  });

  test('are sent with the handshake of a socket', async () => {
    const { url, all } = await startSocketServer();
    const client = new Unigate({ baseUrl: url, apiKey: 'k', defaultHeaders: { 'x-team': 'a' } });
    await client.realtime('m', { headers: { 'x-call': 'b' } });
    expect(all[0]?.request.headers).toMatchObject({ 'x-team': 'a', 'x-call': 'b' });
  });

  test('must be valid', () => {
    const options = { apiKey: 'k', defaultHeaders: { 'x team': 'secret\n1' } };
    expect(() => stubClient([], options)).toThrow('defaultHeaders contains the invalid header "x team".');
  });
});
