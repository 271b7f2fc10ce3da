import { vi } from 'vitest';

/** Shortest timeout of a condition, in milliseconds: on a busy machine a video of a second can take half a minute. */
const patience = 40_000;

const { waitFor, waitUntil } = vi;
const patient = <T extends { timeout?: number }>(options: number | T = {} as T): number | T =>
  typeof options === 'number'
    ? Math.max(options, patience)
    : { ...options, timeout: Math.max(options.timeout ?? 0, patience) };

// A condition that comes true a little late is no fault, and the runner would give up after one second. Files share
// their worker, and only the first of them finds the runner's own.
if (waitFor.name !== 'waitPatiently') {
  vi.waitFor = function waitPatiently(callback, options) {
    return waitFor(callback, patient(options));
  };
  vi.waitUntil = (callback, options) => waitUntil(callback, patient(options));
}
