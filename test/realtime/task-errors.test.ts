import { describe, expect, test } from 'vitest';
import { Channel } from '../../server/channels/channel.ts';
import { Failure } from '../../server/lib/failure.ts';
import {
  clientTooSlow,
  noText,
  readTaskFailed,
  restarting,
  taskFailedFrame,
  taskFailureFrom,
} from '../../server/sockets/inference/errors.ts';
import { StoreUnavailable } from '../../server/store/availability.ts';
import { channelTo } from '../support/upstream.ts';

test.each([
  [new Failure(400, 'invalid_request', 'voice: is none.'), 'InvalidParameter', 1007, 400],
  [new Failure(401, 'invalid_api_key', 'No key.'), 'InvalidApiKey', 1008, 401],
  [new Failure(403, 'access_denied', 'Not yours.'), 'AccessDenied', 1008, 403],
  [new Failure(429, 'rate_limit_exceeded', 'Too many.'), 'Throttling.RateQuota', 1013, 429],
  [new Failure(503, 'get_channel_failed', 'Away.'), 'ServiceUnavailable', 1013, 503],
  [new Failure(504, 'upstream_timeout', 'Silent.'), 'InternalError', 1011, 504],
])('%s fails a task with %s', (failure, code, close, status) => {
  expect(taskFailureFrom(failure)).toEqual({ code, message: failure.message, close, status });
});

test('an unavailable store and an unexpected error reveal no details', () => {
  const away = new StoreUnavailable(new Error('db-7'));
  const { message } = away;
  expect(taskFailureFrom(away)).toEqual({ code: 'ServiceUnavailable', message, close: 1013, status: 503 });
  const own = { code: 'InternalError', message: 'The gateway failed.', close: 1011, status: 500 };
  expect(taskFailureFrom(new Error('db-7'))).toEqual(own);
});

test('failures of the gateway have a code, a message, a close code and a status for the log', () => {
  expect([noText, clientTooSlow, restarting]).toEqual([
    {
      code: 'CLIENT_ERROR',
      message: 'The client sent no text for 23 seconds.',
      close: 1000,
      status: 408,
      reason: 'timeout',
    },
    {
      code: 'CLIENT_ERROR',
      message: 'The client did not read its connection for too long.',
      close: 1008,
      status: 408,
      reason: 'too slow',
    },
    {
      code: 'ServiceRestarting',
      message: 'The gateway is shutting down. Connect again.',
      close: 1001,
      status: 503,
    },
  ]);
});

describe('task-failed of a provider', () => {
  const channel = new Channel(channelTo('http://127.0.0.1:1'), Date.now);
  const read = (error_code: unknown, error_message: unknown) =>
    readTaskFailed({ header: { error_code, error_message } }, channel);
  const failed = { message: 'The provider failed to handle the task.', close: 1011, status: 502 };
  const refused = { close: 1007, status: 400 };
  const busy = { message: 'The provider takes no more requests now.', close: 1013, status: 429 };

  test.each([
    ['', 'x', { ...failed, code: 'InternalError' }],
    [7, 'x', { ...failed, code: 'InternalError' }],
    ['Arrearage', 'x', { ...failed, code: 'InternalError' }],
    ['Throttling.AllocationQuota', 'x', { ...busy, code: 'Throttling.AllocationQuota' }],
    ['Broken', 'x', { ...failed, code: 'Broken' }],
    [
      'InvalidParameter',
      'No such voice.',
      { ...refused, code: 'InvalidParameter', message: 'No such voice.' },
    ],
    ['CLIENT_ERROR', 'Too late.', { code: 'CLIENT_ERROR', message: 'Too late.', close: 1000, status: 400 }],
    [
      'InvalidParameter',
      7,
      { ...refused, code: 'InvalidParameter', message: 'The provider rejected the task.' },
    ],
    ['InvalidParameter', 'at 10.0.0.7', { ...refused, code: 'InvalidParameter', message: 'at ***' }],
  ])('%j, %j', (code, message, expected) => {
    expect(read(code, message)).toEqual(expected);
  });

  test('is truncated to 500 characters, its code to 200', () => {
    const { code, message } = read(`Invalid ${'y '.repeat(300)}`, 'x '.repeat(300));
    expect([code.length, message.length]).toEqual([200, 500]);
  });
});

test('the frame contains the task, the code and the message', () => {
  expect(JSON.parse(taskFailedFrame('t1', restarting))).toEqual({
    header: {
      task_id: 't1',
      event: 'task-failed',
      error_code: 'ServiceRestarting',
      error_message: 'The gateway is shutting down. Connect again.',
      attributes: {},
    },
    payload: {},
  });
});
