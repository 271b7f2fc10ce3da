import { invalidParameter } from '../../http/native-error.ts';
import type { OfficialTask } from './official-work.ts';
import { statusOf } from './task-view.ts';

/** The page of tasks that a list request asks for, and how many match in all. */
export function selectTasks(
  tasks: readonly OfficialTask[],
  query: URLSearchParams,
): { page: OfficialTask[]; total: number } {
  const number = readNumber(query, 'page_num', 500, 1);
  const size = readNumber(query, 'page_size', 100, 10);
  const ids = query.getAll('filter.task_ids');
  const wanted = (name: string, value: string) => (query.get(name) ?? value) === value;
  const matching = tasks.filter(
    (task) =>
      wanted('filter.status', statusOf(task)) &&
      wanted('filter.model', task.request.model) &&
      wanted('filter.service_tier', task.request.serviceTier) &&
      (ids.length === 0 || ids.includes(task.id)),
  );
  return { page: matching.slice((number - 1) * size, number * size), total: matching.length };
}

function readNumber(query: URLSearchParams, name: string, most: number, usual: number): number {
  const value = Number(query.get(name) ?? usual);
  if (!Number.isInteger(value) || value < 1 || value > most)
    throw invalidParameter(`${name} must be an integer from 1 to ${most}`, name);
  return value;
}
