import type { Db } from '../schema.ts';
import { type Charge, findCharge } from './charges.ts';
import { deliveriesOf, type FoundDelivery } from './delivery-search.ts';
import { type OwnTask, withRefunds } from './own-tasks.ts';
import { findShownTask } from './task-search.ts';
import { findSeenTasks, findTaskById, type TaskRecord } from './tasks.ts';
import type { Viewer } from './visibility.ts';

/** A task with everything that the store has about it. */
export interface TaskHistory {
  task: TaskRecord;
  shown: OwnTask;
  /** The oldest first. */
  deliveries: FoundDelivery[];
  /** Undefined before the end of the task, and after retention has deleted the log entry. */
  charge: Charge | undefined;
}

/** Reads the history of a task that a viewer sees, or without a viewer of any task. Undefined if there is none. */
export async function readTaskHistory(
  db: Db,
  { id, viewer }: { id: string; viewer?: Viewer },
): Promise<TaskHistory | undefined> {
  const [task] =
    viewer === undefined ? [await findTaskById(db, id)] : await findSeenTasks(db, { ids: [id], ...viewer });
  const found = await findShownTask(db, id);
  if (task === undefined || found === undefined) return undefined;
  const [shown = { ...found, refunded: 0 }] = await withRefunds(db, [found]);
  const charge = task.completedAt === null ? undefined : await findCharge(db, id);
  return { task, shown, deliveries: await deliveriesOf(db, id), charge };
}
