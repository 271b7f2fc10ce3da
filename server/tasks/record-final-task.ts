import type { Unit } from '../../generated/catalogue.ts';
import { highestCost } from '../quota/prices.ts';
import type { Settlement } from '../store/commands/ledger.ts';
import type { TaskRecord } from '../store/queries/tasks.ts';
import { taskDuration } from '../telemetry/metrics.ts';
import { recordCost, recordSettlement } from '../telemetry/quota-metrics.ts';

/** Returns the quota reserved for a task at its creation. */
export function reservedQuotaOf({
  unit,
  expectedUnits: units,
  pricing,
  unitPrice,
  groupRatio,
}: Pick<TaskRecord, 'unit' | 'expectedUnits' | 'pricing' | 'unitPrice' | 'groupRatio'>): number {
  if (pricing?.reserved !== undefined) return pricing.reserved;
  const expected = { unit: unit as Unit, units, maxOutputTokens: pricing?.maxOutputTokens };
  return highestCost(expected, { unitPrice, rule: pricing?.rule ?? null, groupRatio });
}

/** Records the metrics of a final task. `settlement` is undefined if its reservation was closed before. */
export function recordFinalTask(
  task: TaskRecord,
  settlement: Settlement | undefined,
  cost: number | null = null,
): void {
  const { channel, driver, state, createdAt, completedAt } = task;
  if (cost !== null && settlement !== undefined) recordCost(task.model, cost);
  if (settlement !== undefined) recordSettlement(task.model, reservedQuotaOf(task), settlement);
  taskDuration.record(Math.max(0, (completedAt ?? createdAt) - createdAt) / 1e3, {
    'unigate.channel': channel,
    'unigate.task.driver': driver,
    'unigate.task.state': state,
  });
}
