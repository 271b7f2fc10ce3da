import type { TaskPoll } from '../store/commands/task-polls.ts';
import { persist, type Store } from '../store/store.ts';
import { BatchWriter } from './batch-writer.ts';

/** Writes what polls found; false when the claim was not the latest any more. */
export class PollRecorder extends BatchWriter<TaskPoll, boolean> {
  constructor(store: Store) {
    super((polls) => persist(store, 'recordPolls', polls), false);
  }
}
