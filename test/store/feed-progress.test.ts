import { expect, test } from 'vitest';
import { FeedProgress } from '../../server/store/feed-progress.ts';

function connected() {
  const time = { now: 1_000 };
  const progress = new FeedProgress(() => time.now);
  progress.connect(time.now);
  /** Advances the time while the event loop runs. */
  const run = (ms: number) => {
    for (let left = ms; left > 0; left -= 50) {
      time.now += Math.min(50, left);
      progress.noteTurn();
    }
  };
  return { time, progress, run };
}

test('an epoch holds for one second after its last confirmation', () => {
  const { time, progress, run } = connected();
  run(999);
  expect(progress.epoch).toBe(1);
  run(1);
  expect(progress.epoch).toBeUndefined();
  progress.confirm(time.now - 100);
  expect(progress.epoch).toBe(1);
  progress.disconnect();
  expect(progress.epoch).toBeUndefined();
  progress.connect(time.now);
  expect(progress.epoch).toBe(2);
});

test('after a pause there is no epoch until a round trip that began after the pause', () => {
  const { time, progress, run } = connected();
  run(100);
  expect(progress).toMatchObject({ epoch: 1, pauses: 0, isBehind: false });
  const before = time.now;
  time.now += 201;
  expect(progress).toMatchObject({ epoch: undefined, pauses: 1, isBehind: true });
  // Its answer arrives now, but changes may have been announced since it began.
  progress.confirm(before);
  expect(progress).toMatchObject({ epoch: undefined, isBehind: true });
  progress.confirm(time.now);
  expect(progress).toMatchObject({ epoch: 1, pauses: 1, isBehind: false });
});

test('a pause is detected by a timer or a reader, whichever runs first, and counted once', () => {
  for (const first of ['noteTurn', 'epoch', 'pauses', 'isBehind'] as const) {
    const { time, progress } = connected();
    time.now += 300;
    if (first === 'noteTurn') progress.noteTurn();
    else void progress[first];
    expect(progress).toMatchObject({ epoch: undefined, pauses: 1, isBehind: true });
  }
});

test('a blocked event loop of 200 ms is not a pause', () => {
  const { time, progress } = connected();
  time.now += 200;
  expect(progress).toMatchObject({ epoch: 1, pauses: 0, isBehind: false });
});
