import type { Drawn } from '../quota/ledger.ts';
import type { LeasedTask, LeasedTaskResult } from '../store/commands/new-tasks.ts';
import type { Store } from '../store/store.ts';
import { BatchWriter } from './batch-writer.ts';

/** Makes tasks whose quota is leased: creations of one key wait for no row of it. */
export class LeasedCreations extends BatchWriter<LeasedTask, LeasedTaskResult> {
  constructor(store: Pick<Store, 'run'>) {
    super((tasks) => store.run('createLeasedTasks', tasks), { outcome: 'no_lease' });
  }
}

/** What became of the quota of a task that was to be made of a lease. */
export function drawnBy({ outcome }: LeasedTaskResult): Drawn {
  if (outcome === 'created') return 'taken';
  return outcome === 'no_lease' ? 'no_lease' : 'kept';
}
