import { expect } from 'vitest';
import { yieldToEventLoop } from '../../server/lib/timers.ts';

/** Waits for what happens on this thread alone: what has not come after many turns of its loop does not come. */
export async function until(isSo: () => boolean): Promise<void> {
  for (let turn = 0; turn < 5_000 && !isSo(); turn += 1) await yieldToEventLoop();
  expect(isSo()).toBe(true);
}
