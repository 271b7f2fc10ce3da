import type { TaskDriver } from '../tasks/driver.ts';

/** The drivers by the protocol of the models they serve, which is the name that tasks keep. */
export const drivers: ReadonlyMap<string, TaskDriver> = new Map([]);
