import { vi } from 'vitest';

/** Advances the fake clock at twenty times real speed until the condition is true. */
export async function until(condition: () => boolean): Promise<void> {
  const advance = () => {
    vi.advanceTimersByTime(100);
    return condition();
  };
  await vi.waitUntil(advance, { timeout: 10_000, interval: 5 });
}
