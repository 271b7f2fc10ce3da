import type { TaskDriver } from '../tasks/driver.ts';
import { etaDriver } from './eta/tasks.ts';
import { imgjobDriver } from './imgjob/tasks.ts';
import { nativeModel3d } from './native/model3d.ts';
import { nativeDriver } from './native/tasks.ts';
import { nativeVideo } from './native/video-result.ts';
import { officialDriver } from './official/tasks.ts';
import { sigmaDriver } from './sigma/tasks.ts';

/** Drivers by protocol. Tasks store this name. */
export const drivers: ReadonlyMap<string, TaskDriver> = new Map([
  ['native_video', nativeDriver(nativeVideo)],
  ['native_3d', nativeDriver(nativeModel3d)],
  ['official', officialDriver],
  ['eta', etaDriver],
  ['sigma', sigmaDriver],
  ['imgjob', imgjobDriver],
]);
