import { request as rawRequest } from 'node:http';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { operationIds } from '../../generated/operations.ts';
import { findRoute, routes } from '../../server/http/routes.ts';
import { documentedOperations } from '../conformance/contract/documented.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { post } from './ledger.ts';

let target: TestGateway;
const limits = { bodyMb: 1, requestsPerMinute: 0, socketsPerKey: 0 };
beforeAll(async () => {
  target = await startTestGateway({ limits });
});
afterAll(() => target.close());

const sentence = { model: 'voxa-v3-flash', input: 'Hi.', voice: 'voxanna' };

describe('routes', () => {
  test('every operation is found by each of its paths, with its own parameters', () => {
    for (const { path, operation, names } of routes) {
      const match = findRoute(path.replace(/\{[^}]+\}/g, 'x-1'));
      expect(match?.methods.get(operation.method)?.operation.id, path).toBe(operation.id);
      expect(match?.values, path).toEqual(names.map(() => 'x-1'));
    }
    expect(new Set(routes.map(({ operation }) => operation.id)).size).toBe(operationIds.length);
  });

  test('a trailing slash is ignored, and an unknown path is not found', () => {
    expect(findRoute('/api/token')?.methods.get('post')?.operation.id).toBe('createToken');
    expect(findRoute('/v1/audio/speech/')?.methods.get('post')?.operation.id).toBe('createSpeech');
    expect(findRoute('//')).toEqual(findRoute('/'));
    for (const path of ['/v1', '/v1/videos/', '/v1/videos//content', '/v1/audio/speech/x', '/__proto__']) {
      const found = findRoute(path)?.methods.values().next().value?.path;
      expect(path === '/v1/videos/' ? '/v1/videos' : undefined, path).toBe(found);
    }
  });
});

describe('an id with slashes at the end of a path', () => {
  test.each([
    ['/v1/models/beta/speech-2.8-hd', 'beta/speech-2.8-hd'],
    ['/v1/models/beta/speech-2.8-hd/', 'beta/speech-2.8-hd'],
    ['/v1/models/beta%2Fspeech-2.8-hd', 'beta%2Fspeech-2.8-hd'],
    ['/v1/models/a/b/c', 'a/b/c'],
    ['/v1/models/voxa-v2', 'voxa-v2'],
  ])('%s is found', (path, value) => {
    const match = findRoute(path);
    expect([match?.methods.get('get')?.operation.id, match?.values]).toEqual(['getModel', [value]]);
  });

  test.each(['/v1/models//x', '/v1/models/a//b', '/v1/videos/a/b/c', '/v1/voices/a/b'])(
    '%s is not found',
    (path) => {
      expect(findRoute(path)).toBeUndefined();
    },
  );

  test('is served with its slash, percent-encoded or not', async () => {
    const headers = { authorization: `Bearer ${target.key}` };
    for (const path of ['beta/speech-2.8-hd', 'beta%2Fspeech-2.8-hd', 'beta/speech-2.8-hd/']) {
      const reply = await fetch(`${target.url}/v1/models/${path}`, { headers });
      expect([reply.status, await reply.json()]).toEqual([
        200,
        expect.objectContaining({ id: 'beta/speech-2.8-hd' }),
      ]);
    }
    const unknown = await fetch(`${target.url}/v1/models/beta/nothing`, { headers });
    expect([unknown.status, await unknown.json()]).toEqual([
      404,
      { error: expect.objectContaining({ code: 'model_not_found' }) },
    ]);
    const long = await fetch(`${target.url}/v1/models/${'a/'.repeat(101)}b`, { headers });
    expect(long.status).toBe(400);
  });
});

describe('errors before the operation runs', () => {
  test('404 for an unknown path, 405 with Allow for an unknown method', async () => {
    const unknown = await fetch(`${target.url}/v1/nothing`);
    expect([unknown.status, await unknown.json()]).toEqual([
      404,
      {
        error: {
          code: 'path_not_found',
          message: expect.stringContaining('/v1/nothing'),
          request_id: unknown.headers.get('x-request-id'),
        },
      },
    ]);
    const message = async (path: string, method = 'GET') =>
      ((await (await fetch(target.url + path, { method })).json()) as { error: { message: string } }).error
        .message;
    expect(await message('/models')).toBe(
      'GET /models is not part of this API. GET /v1/models is: check the base address.',
    );
    expect(await message('/v1/v1/messages', 'POST')).toBe(
      'POST /v1/v1/messages is not part of this API. POST /v1/messages is: check the base address.',
    );
    expect(await message('/v1/v1/messages')).toBe('GET /v1/v1/messages is not part of this API.');
    const family = async (path: string) =>
      Object.keys((await (await fetch(target.url + path)).json()) as object).sort();
    expect(await family('/v1/messages/batches')).toEqual(['error', 'request_id', 'type']);
    expect(await family('/api/admin/nothing')).toEqual(['message', 'success']);
    // Operations of several families are below this path.
    expect(await family('/api/v1/services/nothing')).toEqual(['error']);
    const method = await fetch(`${target.url}/v1/audio/speech`);
    expect([method.status, method.headers.get('allow')]).toEqual([405, 'POST']);
  });

  test('401 before the body is read', async () => {
    const reply = await fetch(`${target.url}/v1/audio/speech`, {
      method: 'POST',
      body: '{',
      headers: { 'content-type': 'application/json' },
    });
    expect(reply.status).toBe(401);
  });

  test.each([
    ['Basic abc', 401],
    ['Bearer', 401],
    ['Bearer wrong-key', 401],
    ['', 401],
  ])('authorization %j gets %i', async (authorization, status) => {
    const reply = await fetch(`${target.url}/v1/models`, { headers: { authorization } });
    expect(reply.status).toBe(status);
    expect(await reply.json()).toMatchObject({ error: { code: 'invalid_api_key' } });
  });

  test('the authorization scheme is case-insensitive', async () => {
    const reply = await fetch(`${target.url}/v1/models`, {
      headers: { authorization: `bearer ${target.key}` },
    });
    expect(reply.status).toBe(200);
  });

  test('messages also accept x-api-key, and the same key in both headers, but not two different keys', async () => {
    const send = (headers: Record<string, string>) =>
      fetch(`${target.url}/v1/messages`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: '{}',
      });
    const bearer = { authorization: `Bearer ${target.key}` };
    expect((await send({ 'x-api-key': target.key })).status).toBe(400);
    expect((await send({ ...bearer, 'x-api-key': target.key })).status).toBe(400);
    const two = await send({ ...bearer, 'x-api-key': 'other-key-123' });
    expect(two.status).toBe(401);
    expect(two.headers.get('request-id')).toBe(two.headers.get('x-request-id'));
    expect(await two.json()).toMatchObject({
      type: 'error',
      error: { type: 'authentication_error', code: 'invalid_api_key' },
    });
    const otherOperation = await fetch(`${target.url}/v1/videos`, { headers: { 'x-api-key': target.key } });
    expect(otherOperation.status).toBe(401);
  });

  test('management errors have their own format', async () => {
    const reply = await fetch(`${target.url}/api/log/search?p=0`, {
      headers: { authorization: `Bearer ${target.key}` },
    });
    expect([reply.status, await reply.json()]).toEqual([
      400,
      { success: false, message: expect.stringMatching(/^p: /) },
    ]);
  });

  test('413 by the declared and by the actual length, without reading the rest', async () => {
    const declared = await post(target.url, target.key, '/v1/audio/speech', {
      ...sentence,
      x: 'y'.repeat(1024 * 1024),
    });
    expect(declared.status).toBe(413);
    expect(await declared.json()).toMatchObject({
      error: { code: 'request_too_large', message: expect.stringContaining('1 MB') },
    });
    const streamed = await new Promise<number | undefined>((resolve, reject) => {
      const request = rawRequest(
        `${target.url}/v1/audio/speech`,
        {
          method: 'POST',
          headers: {
            authorization: `Bearer ${target.key}`,
            'content-type': 'application/json',
            'transfer-encoding': 'chunked',
          },
        },
        (response) => {
          resolve(response.statusCode);
          request.destroy();
        },
      );
      request.on('error', reject);
      const chunk = Buffer.alloc(64 * 1024, 0x20);
      const write = () => {
        if (!request.destroyed) request.write(chunk, () => setImmediate(write));
      };
      write();
    });
    expect(streamed).toBe(413);
  });

  test.each([
    ['text/plain', '{}', 415, /content-type: is text\/plain/],
    ['', '{}', 415, /content-type: is missing/],
    ['application/json', '', 400, /body: is required/],
    ['application/json', '{', 400, /body: is not valid JSON/],
    ['application/json', Buffer.from([0x22, 0xff, 0x22]), 400, /body: is not valid UTF-8/],
    ['application/json; charset=utf-8', '{}', 400, /model: is required/],
  ])('content type %j with body %j gets %i', async (contentType, body, status, message) => {
    const headers: Record<string, string> = {
      authorization: `Bearer ${target.key}`,
      'content-type': contentType,
    };
    const reply = await fetch(`${target.url}/v1/audio/speech`, { method: 'POST', headers, body });
    const errorBody = (await reply.json()) as { error: { message: string } };
    expect(reply.status).toBe(status);
    expect(errorBody.error.message).toMatch(message);
  });

  test.each([101, 45_000])('a body nested %i levels deep is refused', async (depth) => {
    const body = `{"model":"alpha3-tts-flash","extra":${'['.repeat(depth)}${']'.repeat(depth)}}`;
    const response = await post(target.url, target.key, '/v1/audio/speech', body);
    expect([response.status, await response.json()]).toMatchObject([
      400,
      { error: { message: expect.stringMatching(/nested deeper than 100 levels/) } },
    ]);
  });

  test('a compressed body and a malformed percent-encoding are refused', async () => {
    const zipped = await post(target.url, target.key, '/v1/audio/speech', '{}', {
      headers: { 'content-encoding': 'gzip' },
    });
    expect(zipped.status).toBe(415);
    const escape = await fetch(`${target.url}/v1/videos/%E0%A4%A`, {
      headers: { authorization: `Bearer ${target.key}` },
    });
    expect(escape.status).toBe(400);
  });

  test('a client that aborts its body does not affect the gateway', async () => {
    await new Promise<void>((resolve) => {
      const socket = connect(Number(new URL(target.url).port), '127.0.0.1', () => {
        socket.write(
          `POST /v1/audio/speech HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${target.key}\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{"mo`,
          () => socket.destroy(),
        );
      });
      socket.on('close', () => resolve());
    });
    expect((await fetch(`${target.url}/healthz`)).status).toBe(200);
  });
});

describe('CORS', () => {
  // Headers that @anthropic-ai/sdk, LangChain, @ai-sdk/alibaba and openai send from a browser, and an unlisted one.
  const sdkHeaders = [
    'authorization',
    'content-type',
    'anthropic-dangerous-direct-browser-access',
    'x-dashscope-async',
    'openai-organization',
    'x-stainless-something-new',
  ];

  test('a preflight request needs no key and allows every header that the page requests', async () => {
    const response = await fetch(`${target.url}/v1/audio/speech`, {
      method: 'OPTIONS',
      headers: {
        origin: 'https://app.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': sdkHeaders.join(','),
      },
    });
    expect(response.status).toBe(204);
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    expect(response.headers.get('access-control-allow-headers')?.split(',')).toEqual(sdkHeaders);
    expect(response.headers.get('vary')).toBe('Access-Control-Request-Headers');
  });

  test('every documented method and request header is allowed', async () => {
    for (const { id, method, path, parameters } of documentedOperations.values()) {
      const named = parameters.filter((parameter) => parameter.in === 'header');
      const names = ['authorization', ...named.map(({ name }) => name.toLowerCase())];
      const headers = {
        origin: 'https://app.example',
        'access-control-request-method': method.toUpperCase(),
        'access-control-request-headers': names.join(','),
      };
      const url = target.url + path.replaceAll(/\{\w+\}/g, '1');
      const reply = await fetch(url, { method: 'OPTIONS', headers });
      expect(reply.status, id).toBe(204);
      const listed = (name: string) => (reply.headers.get(`access-control-allow-${name}`) ?? '').split(/, ?/);
      expect(listed('methods'), id).toContain(method.toUpperCase());
      expect(listed('headers'), id).toEqual(names);
    }
  });

  test('every documented response header is exposed', async () => {
    const reply = await fetch(`${target.url}/healthz`, { headers: { origin: 'https://app.example' } });
    const exposed = (reply.headers.get('access-control-expose-headers') ?? '').split(', ');
    // Browsers expose the first and evaluate the other two themselves.
    const browserHeaders = ['cache-control', 'content-security-policy', 'x-content-type-options'];
    const documented = [...documentedOperations.values()].flatMap(({ responses }) =>
      responses.flatMap(({ headers }) => headers.map(({ name }) => name.toLowerCase())),
    );
    expect([...exposed, ...browserHeaders]).toEqual(expect.arrayContaining([...new Set(documented)]));
  });

  test('success and error responses are allowed and expose their ids', async () => {
    for (const path of ['/healthz', '/v1/models']) {
      const reply = await fetch(target.url + path, { headers: { origin: 'https://app.example' } });
      expect(reply.headers.get('access-control-allow-origin')).toBe('*');
      const exposed = (reply.headers.get('access-control-expose-headers') ?? '').split(', ');
      for (const name of ['x-request-id', 'request-id', 'retry-after', 'retry-after-ms', 'x-should-retry'])
        expect(exposed).toContain(name);
    }
  });
});
