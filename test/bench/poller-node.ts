import { setTimeout as delay } from 'node:timers/promises';
import { pino } from 'pino';
import { Channels } from '../../server/channels/channels.ts';
import { systemTimers } from '../../server/lib/timers.ts';
import { Heartbeat } from '../../server/quota/heartbeat.ts';
import { openStore } from '../../server/store/open-store.ts';
import type { StoreOptions } from '../../server/store/store.ts';
import { Tasks } from '../../server/tasks/tasks.ts';
import { defaultTiming } from '../../server/tasks/timing.ts';
import { channelTo } from '../support/upstream.ts';

/** Options of a node of `poller-nodes.ts`. */
export interface NodeOptions {
  id: string;
  store: StoreOptions;
  channels: readonly string[];
}

/** Report of a node every second: the delay of each poll in milliseconds, by task. */
export type NodeReport = { delays: [task: string, ms: number][]; cpuMs: number };

/** Minimum and maximum latency of an upstream response. */
const latencyMs = [30, 70] as const;

const { id, store: options, channels: names } = JSON.parse(process.argv[2] ?? '') as NodeOptions;
const store = await openStore(options);
const logger = pino({ level: 'error' });
const heartbeat = new Heartbeat({ store, id, logger, timers: systemTimers, clock: Date.now });
await heartbeat.start();
const channels = new Channels(
  names.map((name) => channelTo('http://127.0.0.1:9', { name })),
  Date.now,
);
let delays: NodeReport['delays'] = [];
const tasks = new Tasks({
  store,
  owner: id,
  drivers: new Map([
    [
      'bench',
      {
        submit: ({ id: task }) => Promise.resolve({ upstreamId: `up-${task}` }),
        async poll({ id: task, polledAt }) {
          // The interval has no jitter and is at its maximum from the start.
          delays.push([task, systemTimers.monotonic() - (polledAt ?? 0) - defaultTiming.maxPollMs]);
          await delay(latencyMs[0] + Math.random() * (latencyMs[1] - latencyMs[0]));
          return { state: 'in_progress', progress: 50 };
        },
      },
    ],
  ]),
  channels: { names, named: (name) => channels.named(name) },
  priceTerms: () => ({ unitPrice: 1, rule: null, groupRatio: 1, group: 'default', configRevision: 'abc' }),
  random: () => 0,
  logger,
});
await tasks.start();
let cpu = process.cpuUsage();
setInterval(() => {
  const used = process.cpuUsage(cpu);
  cpu = process.cpuUsage();
  process.send?.({ delays, cpuMs: Math.round((used.user + used.system) / 1_000) } satisfies NodeReport);
  delays = [];
}, 1_000);
