import type { Channel } from '../channels/channel.ts';
import { type AcceptedTask, asDriverError, logDriverError, type TaskDriver } from './driver.ts';
import type { TaskEnvironment } from './environment.ts';
import { withinLimit } from './time-limit.ts';

/** Stops an upstream task that nobody will fetch, if it can be stopped. It costs only the operator if not. */
export async function abandon(
  { timers, timing, stopping, logger }: TaskEnvironment,
  task: AcceptedTask,
  driver: TaskDriver,
  channel: Channel,
): Promise<void> {
  try {
    await withinLimit(timers, timing.pollLimitMs, stopping, async (signal) =>
      driver.cancel?.(task, { channel, user: task.userId, signal }),
    );
  } catch (error) {
    const about = { task: task.id, channel: channel.name };
    logDriverError(logger, asDriverError(error), about, 'an unwanted upstream task goes on');
  }
}
