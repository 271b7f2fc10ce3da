import { describe, expect, test } from 'vitest';
import { Channel } from '../../server/channels/channel.ts';
import { Failure } from '../../server/lib/failure.ts';
import {
  errorEvent,
  fatalErrors,
  fatalFrom,
  readProviderError,
} from '../../server/sockets/realtime/errors.ts';
import { StoreUnavailable } from '../../server/store/availability.ts';
import { channelTo } from '../support/upstream.ts';

test.each([
  [new Failure(401, 'invalid_api_key', 'No key.'), 'invalid_api_key', 1008, 401],
  [new Failure(403, 'access_denied', 'Not yours.'), 'access_denied', 1008, 403],
  [new Failure(403, 'insufficient_user_quota', 'Too little.'), 'insufficient_user_quota', 1008, 403],
  [new Failure(429, 'rate_limit_exceeded', 'Too many.'), 'rate_limit_exceeded', 1013, 429],
  [new Failure(502, 'bad_response_status_code', 'Failed.'), 'bad_response', 1011, 502],
  [new Failure(503, 'get_channel_failed', 'Away.'), 'get_channel_failed', 1013, 503],
  [new Failure(504, 'upstream_timeout', 'Silent.'), 'upstream_timeout', 1011, 504],
  [new Failure(404, 'model_not_found', 'No price.'), 'access_denied', 1008, 403],
  [new Failure(413, 'request_too_large', 'Large.'), 'internal_error', 1011, 500],
] as const)('%s ends a session with %s', (failure, code, close, status) => {
  expect(fatalFrom(failure)).toEqual({ code, message: failure.message });
  expect(fatalErrors[code]).toMatchObject({ close, status });
});

test('an unavailable store and an unexpected error reveal no details', () => {
  const away = new StoreUnavailable(new Error('db-7'));
  expect(fatalFrom(away)).toEqual({ code: 'store_unavailable', message: away.message });
  expect(fatalFrom(new Error('db-7'))).toEqual({ code: 'internal_error', message: 'The gateway failed.' });
});

test('an error event has its own id and every field', () => {
  const event = JSON.parse(errorEvent({ type: null, code: null, message: 'No.' })) as { event_id: string };
  expect(event).toEqual({
    event_id: expect.stringMatching(/^event_[0-9a-f]{32}$/),
    type: 'error',
    error: { type: null, code: null, message: 'No.', param: null, event_id: null },
  });
});

describe('an error of the provider', () => {
  const channel = new Channel(channelTo('http://127.0.0.1:1'), Date.now);
  const failed = 'The provider failed to handle the request.';
  const busy = 'The provider takes no more requests now.';
  const read = (error: Record<string, unknown>) => {
    const result = readProviderError(error, channel);
    return 'event' in result ? (JSON.parse(result.event) as { error: object }).error : result;
  };

  test.each([
    [
      { code: 'Throttling', message: 'x' },
      { fatal: 'rate_limit_exceeded', message: busy },
    ],
    [{ type: 'rate_limit_error' }, { fatal: 'rate_limit_exceeded', message: busy }],
    [
      { code: 'InvalidApiKey', message: 'x' },
      { fatal: 'bad_response', message: failed },
    ],
    [{ type: 'invalid_request_error', message: 'No such voice.' }, { message: 'No such voice.' }],
    [{ code: 'invalid_value', message: 'No such voice.' }, { message: 'No such voice.' }],
    [{ code: 'invalid_value', message: '' }, { message: 'The provider rejected the event.' }],
    [{ code: 'invalid_value' }, { message: 'The provider rejected the event.' }],
    [{ code: 'invalid_value', message: 7 }, { message: 'The provider rejected the event.' }],
    [
      { code: 'Unknown', message: 'stack' },
      { message: failed, code: 'Unknown', type: null },
    ],
    [
      { code: 1, type: [], param: {}, event_id: 2 },
      { message: failed, code: null, type: null, param: null, event_id: null },
    ],
    [
      { code: 'invalid_value', param: 'session.voice', event_id: 'e1' },
      { param: 'session.voice', event_id: 'e1' },
    ],
    [{ code: 'invalid_value', message: 'x'.repeat(501) }, { message: 'x'.repeat(500) }],
  ])('%j', (error, expected) => {
    expect(read(error)).toMatchObject(expected);
  });

  test('of a removed channel is a failure', () => {
    expect(readProviderError({ code: 'invalid_value', message: 'No.' }, undefined)).toEqual({
      fatal: 'bad_response',
      message: failed,
    });
  });
});
