import { price } from '../models/usage.ts';
import type { TaskRecord } from '../store/queries/tasks.ts';
import { taskDuration } from '../telemetry/metrics.ts';
import { recordSettlement } from '../telemetry/quota-flow.ts';

/** Quota that was held for a task when it was made. */
export function heldFor({ expectedUnits, rate }: Pick<TaskRecord, 'expectedUnits' | 'rate'>): number {
  return price(expectedUnits, rate, 1);
}

/** Tells the metrics of a task that is final. */
export function recordEnd(task: TaskRecord, charged: number): void {
  const { channel, driver, state, createdAt, completedAt } = task;
  recordSettlement(task.model, heldFor(task), charged);
  taskDuration.record(Math.max(0, (completedAt ?? createdAt) - createdAt) / 1e3, {
    'unigate.channel': channel,
    'unigate.task.driver': driver,
    'unigate.task.state': state,
  });
}
