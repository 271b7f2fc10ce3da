import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { betaFailure, rejectionFailure } from '../../server/providers/rejection.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { channelTo, type RecordingUpstream, startUpstream } from '../support/upstream.ts';
import { post } from './ledger.ts';

const redactor = { redact: (text: string) => text, redactJson: (bytes: Buffer) => bytes };

test.each([
  [400, 400],
  [404, 404],
  [413, 413],
  [415, 415],
  [409, 400],
  [418, 400],
  [422, 400],
])("a provider's %i is returned as %i", (status, expected) => {
  const rejection = { status, body: Buffer.alloc(0), code: 'Code', message: 'Words.', retryAfter: undefined };
  expect(rejectionFailure(rejection)).toMatchObject({ status: expected, code: 'Code', message: 'Words.' });
});

test.each([
  [0, undefined],
  [1001, 504],
  [1002, 429],
  [1039, 429],
  [1042, 400],
  [2013, 400],
  [1004, 502],
  [1008, 502],
  [9999, 502],
])('the status code %i of a beta model is returned as %s', (status_code, status) => {
  const failure = betaFailure({ base_resp: { status_code, status_msg: 'Words.' } }, redactor as never);
  expect(failure?.status).toBe(status);
});

describe('a rejection without an error code', () => {
  let upstream: RecordingUpstream;
  let target: TestGateway;
  let upstreamStatus = 400;
  beforeAll(async () => {
    upstream = await startUpstream(
      (_request, response) => void response.writeHead(upstreamStatus).end('{"message":"Too blue."}'),
    );
    target = await startTestGateway({
      sandbox: false,
      channels: [channelTo(upstream.url, { models: [{ id: '*-v2', upstream: undefined }] })],
    });
  });
  afterAll(async () => {
    await target.close();
    await upstream.close();
  });

  const speechBody = { model: 'voxa-v2', input: { text: 'x', voice: 'v' } };
  test.each(
    [400, 404, 413, 415, 422].flatMap((status) => [
      [status, '/v1/audio/speech', { model: 'voxa-v2', input: 'x', voice: 'v' }] as const,
      [status, '/api/v1/services/audio/tts/SpeechSynthesizer', speechBody] as const,
    ]),
  )("%i at %s is returned as bad_request, with the provider's message", async (status, path, body) => {
    upstreamStatus = status;
    const reply = await post(target.url, target.key, path, body);
    const { error } = (await reply.json()) as { error: object };
    expect([reply.status, error]).toMatchObject([
      status === 422 ? 400 : status,
      { code: 'bad_request', message: 'Too blue.' },
    ]);
  });

  test('a model that no channel serves is reported as such, with a retry-after', async () => {
    const path = '/api/v1/services/audio/tts/SpeechSynthesizer';
    const reply = await post(target.url, target.key, path, { ...speechBody, model: 'voxa-v3-flash' });
    expect([reply.status, reply.headers.get('retry-after'), await reply.json()]).toMatchObject([
      503,
      '60',
      { error: { code: 'model_not_found' } },
    ]);
  });
});
