/** A year and month in UTC, such as 2026-11. */
export type Month = string;

/** Returns the month of a time in epoch milliseconds. */
export const monthOf = (ms: number): Month => new Date(ms).toISOString().slice(0, 7);

/** Returns the start of a month in Unix seconds. */
export const startOfMonth = (month: Month): number => Date.parse(`${month}-01T00:00:00Z`) / 1_000;

export function nextMonth(month: Month): Month {
  // Every month ends within 31 days.
  return monthOf((startOfMonth(month) + 31 * 86_400) * 1_000);
}
