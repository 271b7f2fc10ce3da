import { vi } from 'vitest';

/** Milliseconds. Nothing takes that long but on a machine that has much else to do. */
const patience = 15_000;

const { waitFor, waitUntil } = vi;
const patient = <T extends { timeout?: number }>(options: number | T = {} as T): number | T =>
  typeof options === 'number' ? options : { timeout: patience, ...options };

// A condition that comes true a little late is no fault, and the runner would give up after one second. Files share
// their worker, and only the first of them finds the runner's own.
if (waitFor.name !== 'waitPatiently') {
  vi.waitFor = function waitPatiently(callback, options) {
    return waitFor(callback, patient(options));
  };
  vi.waitUntil = (callback, options) => waitUntil(callback, patient(options));
}
