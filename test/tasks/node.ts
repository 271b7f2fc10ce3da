import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { Channels } from '../../server/channels/channels.ts';
import { systemTimers } from '../../server/lib/timers.ts';
import { Heartbeat, type HeartbeatOptions } from '../../server/quota/heartbeat.ts';
import type { NewChange } from '../../server/store/commands/changes.ts';
import type { TaskRecord } from '../../server/store/queries/tasks.ts';
import type { Store } from '../../server/store/store.ts';
import { CallbackDeliveries } from '../../server/tasks/callbacks/callback-deliveries.ts';
import { EventScan } from '../../server/tasks/callbacks/event-scan.ts';
import type { AcceptedTask } from '../../server/tasks/driver.ts';
import type { TaskOptions } from '../../server/tasks/environment.ts';
import type { ResumeInput } from '../../server/tasks/resumption.ts';
import type { TaskCreation } from '../../server/tasks/task-creation.ts';
import { Tasks } from '../../server/tasks/tasks.ts';
import type { ManualEnd } from '../../server/tasks/transitions.ts';
import { channelTo } from '../support/upstream.ts';
import { httpDriver } from './http-driver.ts';

export interface NodeOptions {
  name: string;
  upstreamUrl: string;
  token: { id: number; userId: number };
  timing?: TaskOptions['timing'];
  /** URL for state changes of its tasks. */
  callbackUrl?: string;
  /** Whether it detects events and sends them to endpoints. */
  detectsEvents?: boolean;
  /** How soon it detects a lost gateway. */
  heartbeat?: Pick<HeartbeatOptions, 'intervalMs' | 'maxMissed'>;
}

/** Quota per second. */
export const rate = 10;

/** How an operator ends a task, and the recorded change. */
export const manualEnd: ManualEnd = { outcome: 'failed', error: { code: 'task_lost', message: 'Lost.' } };
export const changeOf = (id: string): NewChange => ({
  userId: 1,
  tokenId: 1,
  action: 'settleTask',
  subject: `task ${id}`,
  details: {},
  now: 1,
});

/** The input for a task that waits for one. */
export const inputOf = (prompt: string): ResumeInput => ({ request: {}, facts: { prompt, input: 'more' } });

/** @throws Error if no upstream has accepted the task */
export function acceptedTask(task: TaskRecord | undefined): AcceptedTask {
  if (task === undefined || task.upstreamId === null) throw new Error('no upstream has accepted the task');
  return { ...task, upstreamId: task.upstreamId };
}

/** Opens the task engine of a gateway on the system clock, with short pauses. */
export function openNode(store: Store, options: NodeOptions) {
  const { name, upstreamUrl, token, timing, callbackUrl, detectsEvents = false } = options;
  const clock = Date.now;
  const channels = new Channels([channelTo(upstreamUrl, { name: 'one' })], clock);
  const logger = pino({ level: 'fatal' });
  const owner = `${name}_${randomUUID()}`;
  const heartbeat = new Heartbeat({
    store,
    id: owner,
    logger,
    timers: systemTimers,
    clock,
    ...options.heartbeat,
  });
  const deliveries = new CallbackDeliveries({
    store,
    owner,
    render: ({ id, state }) => ({ id, status: state, node: name }),
    allowPrivate: true,
    secret: undefined,
    logger,
    clock,
    timing: { claimGapMs: 5, idleMs: 20, pausesMs: [20, 20, 20] },
  });
  const events = new EventScan({
    store,
    channels,
    gateway: owner,
    logger,
    timers: systemTimers,
    clock,
    onDeliveries: () => deliveries.wake(),
    timing: { intervalMs: 20 },
  });
  const tasks = new Tasks({
    store,
    owner,
    drivers: new Map([['http', httpDriver(name)]]),
    channels: { names: ['one'], named: (channel) => channels.named(channel) },
    priceTerms: () => ({
      unitPrice: rate,
      rule: null,
      groupRatio: 1,
      group: 'default',
      configRevision: 'abc',
    }),
    logger,
    onChange: () => deliveries.wake(),
    clock,
    timing: {
      firstPollMs: 10,
      maxPollMs: 40,
      maxRetryMs: 40,
      claimGapMs: 5,
      idleMs: 20,
      submitLimitMs: 15_000,
      ...timing,
    },
  });
  const order = (prompt: string): TaskCreation => ({
    requestId: randomUUID(),
    caller: {
      tokenId: token.id,
      userId: token.userId,
      tokenName: 'a key',
      isAdmin: false,
      group: 'default',
      modelLimits: null,
    },
    operation: 'createVideo',
    ...(callbackUrl === undefined ? { format: 'videos' } : { format: 'official', callbackUrl }),
    driver: 'http',
    model: { id: 'gamma3.0-video', unit: 'seconds' },
    channels: channels.serving('native', 'gamma3.0-video', 'default'),
    request: { prompt },
    facts: { prompt },
    expectedUnits: 5,
  });
  return {
    tasks,
    order,
    async start() {
      await heartbeat.start();
      await tasks.start();
      if (callbackUrl !== undefined || detectsEvents) await deliveries.start();
      if (detectsEvents) events.start();
    },
    async close() {
      await tasks.stop();
      await events.stop();
      await deliveries.stop();
      await heartbeat.stop();
      await channels.close();
    },
  };
}
