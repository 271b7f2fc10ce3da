import { expect, test } from 'vitest';
import { readRetryAfter } from '../../server/channels/retry-after.ts';

const date = 'Sun, 01 Mar 2026 12:00:00 GMT';

test.each([
  ['0', 0],
  ['7', 7],
  ['300', 300],
  ['301', 300],
  ['3600', 300],
  ['9'.repeat(400), 300],
  ['Sun, 01 Mar 2026 12:00:07 GMT', 7],
  ['Sun, 01 Mar 2026 13:00:00 GMT', 300],
  ['Sun, 01 Mar 2026 11:59:59 GMT', 0],
])('reads %s as %i seconds', (retryAfter, seconds) => {
  expect(readRetryAfter({ 'retry-after': retryAfter, date })).toBe(seconds);
});

test.each([
  '',
  '1e308',
  '1.5',
  '-1',
  '+1',
  ' 7',
  '0x10',
  'Infinity',
  'soon',
  '7 seconds',
  '2026-03-01T12:00:07Z',
  'Sun, 99 Mar 2026 12:00:07 GMT',
  'Sun, 01 Mar 2026 12:00:07 +0000',
])('ignores %j', (retryAfter) => {
  expect(readRetryAfter({ 'retry-after': retryAfter, date })).toBeUndefined();
});

test('ignores a missing header, and uses the local clock without a date header', () => {
  expect(readRetryAfter({})).toBeUndefined();
  expect(readRetryAfter({ 'retry-after': 'Sun, 01 Mar 2099 12:00:00 GMT' })).toBe(300);
  expect(readRetryAfter({ 'retry-after': date.replace('2026', '2020') })).toBe(0);
});
