import { expect, test } from 'vitest';
import { secondsOf } from '../../server/providers/official/snapshot.ts';

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
