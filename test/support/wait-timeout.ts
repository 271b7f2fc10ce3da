import { vi } from 'vitest';

/** Shortest timeout of a condition. On a busy machine, a video of 1 s can take 30 s. */
const minTimeoutMs = 40_000;

const { waitFor, waitUntil } = vi;
const withMinTimeout = <T extends { timeout?: number }>(options: number | T = {} as T): number | T =>
  typeof options === 'number'
    ? Math.max(options, minTimeoutMs)
    : { ...options, timeout: Math.max(options.timeout ?? 0, minTimeoutMs) };

// Vitest waits for one second by default, which is too short on a busy machine. Test files share a worker, so the functions
// may be replaced already.
if (waitFor.name !== 'waitWithMinTimeout') {
  vi.waitFor = function waitWithMinTimeout(callback, options) {
    return waitFor(callback, withMinTimeout(options));
  };
  vi.waitUntil = (callback, options) => waitUntil(callback, withMinTimeout(options));
}
