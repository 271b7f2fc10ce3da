import { setImmediate } from 'node:timers/promises';

/** Lets whatever waits have its turn: to be awaited between the steps of long work. */
export function breath(): Promise<void> {
  return setImmediate();
}
