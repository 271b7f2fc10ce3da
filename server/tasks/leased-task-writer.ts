import type { LeaseDraw } from '../quota/ledger.ts';
import { Batcher } from '../store/batcher.ts';
import type { LeasedTask, LeasedTaskResult } from '../store/commands/new-tasks.ts';
import type { Store } from '../store/store.ts';

const maxBatch = 200;

/** Creates tasks from leased quota, so that concurrent creations of a key do not lock its row. */
export class LeasedTaskWriter extends Batcher<LeasedTask, LeasedTaskResult> {
  constructor(store: Pick<Store, 'run'>) {
    super((tasks) => store.run('createLeasedTasks', tasks), maxBatch);
  }
}

/** Returns whether the creation of a task drew its quota from the lease. */
export function leaseDrawOf({ outcome }: LeasedTaskResult): LeaseDraw {
  if (outcome === 'created') return 'drawn';
  return outcome === 'no_lease' ? 'no_lease' : 'unused';
}
