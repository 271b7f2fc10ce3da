import type { Settings } from '../settings/settings.ts';
import type { QueueLimits } from '../store/commands/task-queue.ts';

type ConfiguredLimits = Pick<
  Settings['limits'],
  'queueTasks' | 'queueTasksPerUser' | 'queueMb' | 'queueMbPerUser'
>;

/** Bytes. */
const megabyte = 1_000_000;

/** Returns the limits of the queue of tasks. */
export function queueLimitsOf({
  queueTasks = 20_000,
  queueTasksPerUser = 1_000,
  queueMb = 1_024,
  queueMbPerUser = 128,
}: ConfiguredLimits): QueueLimits {
  return {
    total: { tasks: queueTasks, bytes: queueMb * megabyte },
    user: { tasks: queueTasksPerUser, bytes: queueMbPerUser * megabyte },
  };
}
