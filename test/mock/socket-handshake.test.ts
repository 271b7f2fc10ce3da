import { once } from 'node:events';
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { documented } from '../conformance/contract/documented.ts';
import { schemaProblems } from '../conformance/contract/schemas.ts';
import { type ConnectOptions, connect, HandshakeRefused } from '../support/socket-client.ts';
import { type Mock, startMock } from './server.ts';
import { scripts } from './sockets/scripts.ts';

const realtime = '/api-ws/v1/realtime?model=alpha3-tts-flash-realtime';
const inference = '/api-ws/v1/inference?model=voxa-v3-flash';

let mock: Mock;
beforeAll(async () => {
  mock = await startMock();
});
afterAll(() => mock.close());

async function expectRejection(path: string, options: ConnectOptions): Promise<HandshakeRefused> {
  const error = await connect(`${mock.url}${path}`, options).catch((reason: unknown) => reason);
  if (error instanceof HandshakeRefused) return error;
  throw new Error('the handshake was accepted');
}

function expectDocumented(operation: string, { status, body, headers }: HandshakeRefused): void {
  const response = documented(operation).responses.find((one) => one.status === status);
  const [media] = response?.content ?? [];
  if (response === undefined || media === undefined) throw new Error(`${operation} documents no ${status}`);
  expect(schemaProblems(media, body)).toEqual([]);
  for (const { name } of response.headers) expect(headers[name]).toBeTruthy();
  expect(headers['x-request-id']).toBe(body.error.request_id);
}

describe('the handshake', () => {
  test.each([
    [realtime, {}, 401, 'invalid_api_key'],
    [inference, {}, 401, 'invalid_api_key'],
    [inference, { protocols: ['realtime', 'x-insecure-api-key.sk-any'] }, 401, 'invalid_api_key'],
    ['/v1/realtime', { key: 'k' }, 400, 'invalid_request'],
    ['/api-ws/v1/inference?model=', { key: 'k' }, 400, 'invalid_request'],
    ['/v1/realtime?model=voxa-v3-flash', { key: 'k' }, 400, 'invalid_request'],
    ['/v1/realtime?model=none', { key: 'k' }, 404, 'model_not_found'],
    [`${realtime}&mock_script=nothing`, { key: 'k' }, 400, 'invalid_request'],
  ] as const)('%s with %j returns %i', async (path, options, status, code) => {
    const rejection = await expectRejection(path, {
      ...options,
      protocols: [...('protocols' in options ? options.protocols : [])],
    });
    expect([rejection.status, rejection.body.error.code]).toEqual([status, code]);
    expectDocumented(path.includes('inference') ? 'openInferenceSocket' : 'openRealtimeSocket', rejection);
  });

  test.each([...scripts].filter(([, { rejectWith }]) => rejectWith !== undefined))(
    '%s',
    async (name, { rejectWith }) => {
      for (const [path, operation] of [
        [realtime, 'openRealtimeSocket'],
        [inference, 'openInferenceSocket'],
      ] as const) {
        const rejection = await expectRejection(path, { key: 'k', headers: { 'x-mock-script': name } });
        expect(rejection.status).toBe(rejectWith);
        expectDocumented(operation, rejection);
      }
    },
  );

  test('accepts the key of a browser and does not echo it', async () => {
    const protocols = ['realtime', 'x-insecure-api-key.sk-any'];
    const client = await connect(`${mock.url}${realtime}`, { protocols });
    expect(client.socket.protocol).toBe('realtime');
    client.socket.close();
  });

  test.each([
    ['a plain GET', realtime, {}, 426],
    ['another protocol', realtime, { connection: 'upgrade', upgrade: 'h2c' }, 426],
    ['a path without a socket', '/healthz', { connection: 'upgrade', upgrade: 'websocket' }, 200],
  ])('returns an ordinary response for %s', async (_, path, headers, status) => {
    const sent = request(`${mock.url}${path}`, { headers: { authorization: 'Bearer k', ...headers } });
    sent.end();
    const [rejection] = await once(sent, 'response');
    rejection.resume();
    expect(rejection.statusCode).toBe(status);
  });
});
