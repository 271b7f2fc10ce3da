import { expect } from 'vitest';
import { yieldToEventLoop } from '../../server/lib/timers.ts';

/** Yields to the event loop until a condition is true, at most 5,000 times. Suits work of this thread only. */
export async function yieldUntil(isTrue: () => boolean): Promise<void> {
  for (let turn = 0; turn < 5_000 && !isTrue(); turn += 1) await yieldToEventLoop();
  expect(isTrue()).toBe(true);
}
