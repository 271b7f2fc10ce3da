import { Batcher } from '../store/batcher.ts';
import type { TaskPoll } from '../store/commands/task-polls.ts';
import { persist, type Store } from '../store/store.ts';

const maxBatch = 200;

/** Records the results of polls. Returns false for a poll whose claim was not the latest any more. */
export class PollRecorder extends Batcher<TaskPoll, boolean> {
  constructor(store: Store) {
    super((polls) => persist(store, 'recordPolls', polls), maxBatch);
  }
}
