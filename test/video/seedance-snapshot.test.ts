import { expect, test } from 'vitest';
import { readSnapshot, secondsOf } from '../../server/providers/official/snapshot.ts';

test.each([
  [{ duration: 5 }, 5],
  [{ duration: '5', frames: 96 }, 5],
  [{ frames: 36 }, 1.5],
  [{ duration: -1, frames: 36, framespersecond: 12 }, 3],
  [{ duration: 0, frames: 36, framespersecond: '18' }, 2],
  [{ frames: 36, framespersecond: 0 }, undefined],
  [{ frames: -36, framespersecond: -12 }, undefined],
  [{ frames: 0 }, undefined],
  [{ framespersecond: 24 }, undefined],
  [undefined, undefined],
])('the seconds of %j are %j', (snapshot, seconds) => {
  expect(secondsOf(snapshot)).toBe(seconds);
});

test('long strings are truncated in every field', () => {
  const [long, truncated] = ['x'.repeat(20_001), 'x'.repeat(20_000)];
  expect(readSnapshot({ resolution: long, ratio: long })).toEqual({
    native: { content: {}, resolution: truncated, ratio: truncated },
    metadata: { resolution: truncated, ratio: truncated },
  });
});
