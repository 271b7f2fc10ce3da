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
])('the seconds of %j are %j', (answer, seconds) => {
  expect(secondsOf(answer)).toBe(seconds);
});

test('words that are too long are cut wherever they are shown', () => {
  const [long, cut] = ['x'.repeat(20_001), 'x'.repeat(20_000)];
  expect(readSnapshot({ resolution: long, ratio: long })).toEqual({
    native: { content: {}, resolution: cut, ratio: cut },
    metadata: { resolution: cut, ratio: cut },
  });
});
