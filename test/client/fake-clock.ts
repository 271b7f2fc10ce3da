import { vi } from 'vitest';

/** Moves the fake clock on, twenty times as fast as the real one, until something is so. */
export async function until(condition: () => boolean): Promise<void> {
  const isSo = () => {
    vi.advanceTimersByTime(100);
    return condition();
  };
  await vi.waitUntil(isSo, { timeout: 10_000, interval: 5 });
}
