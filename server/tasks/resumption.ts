import { channelUnavailable } from '../lib/failure.ts';
import { fault } from '../store/fault-points.ts';
import type { TaskRecord } from '../store/queries/tasks.ts';
import { persist } from '../store/store.ts';
import { type AcceptedTask, callDriver, type Resumed, reportDriverError } from './driver.ts';
import type { TaskEnvironment } from './environment.ts';

/** Input for a task that waits for its owner. */
export interface ResumeInput {
  /** JSON value for the driver. */
  request: object;
  /** Replaces the facts of the task. */
  facts?: Readonly<Record<string, unknown>>;
  /** Replaces its callback URL. */
  callbackUrl?: string;
}

/** Sends a waiting task its input. Undefined: it is final. @throws Failure when the upstream does not accept the input */
export async function resumeTask(
  env: TaskEnvironment,
  task: AcceptedTask,
  { request, facts, callbackUrl }: ResumeInput,
): Promise<TaskRecord | undefined> {
  const { store, timers, timing, clock } = env;
  const { id } = task;
  const isRecorded = await store.run('addTaskInput', {
    id,
    facts: facts === undefined ? null : JSON.stringify(facts),
    callbackUrl: callbackUrl ?? null,
  });
  if (!isRecorded) return undefined;
  fault('resume:noted');
  const { upstreamId, result } = await sendInput(env, task, request);
  fault('resume:answered');
  return persist(store, 'resumeTask', {
    id,
    upstreamId,
    result: JSON.stringify(result),
    nextPollAt: timers.monotonic() + timing.firstPollMs,
    pollInterval: timing.firstPollMs,
    now: clock(),
  });
}

async function sendInput(env: TaskEnvironment, task: AcceptedTask, request: object): Promise<Resumed> {
  const driver = env.drivers.get(task.driver);
  const channel = env.channels.named(task.channel);
  if (channel === undefined) throw channelUnavailable('The provider that has the task is not available.');
  const attempt = channel.health.startAttempt({ user: task.userId, poll: true });
  try {
    const resumed = await callDriver(env, task, channel, env.timing.submitLimitMs, (upstream) => {
      if (driver?.resume === undefined) throw new Error(`the driver ${task.driver} cannot resume tasks`);
      return driver.resume(task, request, upstream);
    });
    attempt.succeed();
    return resumed;
  } catch (error) {
    const candidate = { channel, attempt };
    const about = { task: task.id };
    throw reportDriverError(env.logger, error, candidate, 'upstream did not resume a task', about).failure;
  }
}
