import type { components } from '../../../generated/http.ts';
import { periodAround } from '../../lib/budget-period.ts';
import { unixTime } from '../../providers/video-task.ts';
import type { BudgetRecord } from '../../store/queries/budgets.ts';

/** Renders a budget in the period of `now`, in epoch milliseconds. */
export function viewBudget(budget: BudgetRecord, now: number): components['schemas']['Budget'] {
  const { period, timeZone, periodStart, periodEnd } = budget;
  // The next reservation or settlement starts the period in the database.
  const isOver = now >= periodEnd;
  const bounds = isOver ? periodAround(period, timeZone, now) : { start: periodStart, end: periodEnd };
  return {
    id: budget.id,
    user_id: budget.userId,
    token_id: budget.tokenId,
    amount: budget.amount,
    period,
    time_zone: timeZone,
    hard: budget.hard,
    thresholds: [...budget.thresholds],
    period_start: unixTime(bounds.start),
    period_end: unixTime(bounds.end),
    spent: isOver ? 0 : budget.spent,
    reserved: budget.reserved,
    created_at: unixTime(budget.createdAt),
  };
}
