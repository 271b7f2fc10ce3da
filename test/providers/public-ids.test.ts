import { expect, test } from 'vitest';
import { Channel } from '../../server/channels/channel.ts';
import { Failure } from '../../server/lib/failure.ts';
import { failureWithPublicIds, publicIdsIn, taskErrorFrom } from '../../server/providers/public-ids.ts';
import { acceptedTask } from '../support/accepted-task.ts';
import { channelTo } from '../support/upstream.ts';

const channel = new Channel(channelTo('https://api.vendor.example'), Date.now);
const failed = { code: 'task_lost', message: 'It failed.' } as const;
const facts = { public_ids: { 'up-1': 'song-a', 'up-12': 'song-b', other: 7 }, sent_hosts: ['sent.example'] };
const publicError = (error: unknown) =>
  taskErrorFrom(acceptedTask({ id: 'task_1', upstreamId: 'up-123', facts }), channel, error, failed);

test.each([
  [{}, failed],
  [undefined, failed],
  [
    { code: 'TooLong', message: '' },
    { code: 'TooLong', message: 'It failed.' },
  ],
  [
    { message: 'up-123 of up-12 and up-1, other' },
    { code: 'task_lost', message: 'task_1 of song-b and song-a, other' },
  ],
  [
    { code: 'up-12', message: '$& at 10.0.0.7' },
    { code: 'song-b', message: '$& at ***' },
  ],
  [
    { message: 'http://sent.example/a and http://vendor.example/b' },
    { code: 'task_lost', message: 'http://sent.example/a and ***' },
  ],
  [
    { code: 'c'.repeat(201), message: 'm'.repeat(2_001) },
    { code: 'c'.repeat(200), message: 'm'.repeat(2_000) },
  ],
  [{ code: 'InvalidApiKey', message: 'pay up' }, failed],
])('of %j is public as %j', (error, read) => {
  expect(publicError(error)).toEqual(read);
});

test('a failure keeps everything except the ids in its message', () => {
  const failure = new Failure(429, 'rate_limit_exceeded', 'up-1 is busy', { retryAfter: 7 });
  const { status, code, message, retryAfter, cause } = failureWithPublicIds(failure, publicIdsIn(facts));
  expect([status, code, message, retryAfter]).toEqual([429, 'rate_limit_exceeded', 'song-a is busy', 7]);
  expect(cause).toBe(failure);
});
