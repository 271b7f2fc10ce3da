import { describe, expect, test } from 'vitest';
import { storedRequest } from '../../server/operations/me/stored-request.ts';
import { timelineOf } from '../../server/operations/me/task-timeline.ts';
import { acceptedTask } from '../support/accepted-task.ts';

describe('the stored request', () => {
  test('has the parts of the request, and no facts for drivers', () => {
    const facts = {
      prompt: 'A kite.',
      seconds: '5',
      mv: 'chirp-hawk',
      sent_hosts: ['media.example'],
      sent_addresses: ['a hash'],
      public_ids: { 'upstream-7': 'asset-1' },
    };
    expect(storedRequest({ facts })).toEqual({ prompt: 'A kite.', seconds: '5' });
  });

  test('shortens inline media and long texts at any depth', () => {
    const media = `data:image/png;base64,${'A'.repeat(500)}`;
    const facts = {
      prompt: 'é'.repeat(10_001),
      input: { images: [media, 'https://files.example/a.png'], n: 2 },
    };
    expect(storedRequest({ facts })).toEqual({
      prompt: `${'é'.repeat(10_000)}… (10001 characters)`,
      input: { images: [`${media.slice(0, 64)}… (522 characters)`, 'https://files.example/a.png'], n: 2 },
    });
  });

  test('does not split a surrogate pair', () => {
    const { prompt } = storedRequest({ facts: { prompt: `${'a'.repeat(9_999)}😀` } });
    expect(String(prompt).isWellFormed()).toBe(true);
  });
});

describe('the timeline', () => {
  const task = acceptedTask({ createdAt: 1_000 });

  test('omits events without a time', () => {
    const queued = { ...task, upstreamId: null, askedAt: null, polledAt: 5_000 };
    expect(timelineOf({ task: queued, deliveries: [] })).toEqual([{ event: 'created', at: 1 }]);
  });

  test('has a cancellation as such, and no event before the creation', () => {
    const error = { code: 'task_canceled', message: 'The task was canceled before it began.' };
    const canceled = {
      ...task,
      askedAt: 990,
      polledAt: 1_500,
      completedAt: 2_500,
      state: 'failed',
      error,
    } as const;
    expect(timelineOf({ task: canceled, deliveries: [] })).toEqual([
      { event: 'created', at: 1 },
      { event: 'submitted', at: 1 },
      { event: 'polled', at: 1.5 },
      { event: 'canceled', at: 2.5 },
    ]);
  });
});
