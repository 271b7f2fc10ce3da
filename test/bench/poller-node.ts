import { setTimeout as pause } from 'node:timers/promises';
import { pino } from 'pino';
import { Channels } from '../../server/channels/channels.ts';
import { systemTimers } from '../../server/lib/timers.ts';
import { Heartbeat } from '../../server/quota/heartbeat.ts';
import { openStore } from '../../server/store/open-store.ts';
import type { StoreOptions } from '../../server/store/store.ts';
import { Tasks } from '../../server/tasks/tasks.ts';
import { defaultTiming } from '../../server/tasks/timing.ts';
import { channelTo } from '../support/upstream.ts';

/** What a node of `poller-nodes.ts` is started with. */
export interface NodeStart {
  id: string;
  store: StoreOptions;
  channels: readonly string[];
}

/** What it tells each second: how late each poll was, in milliseconds, by the task. */
export type NodeWord = { late: [task: string, ms: number][]; cpuMs: number };

/** Milliseconds of an upstream's answer, from and to. */
const latency = [30, 70] as const;

const { id, store: options, channels: names } = JSON.parse(process.argv[2] ?? '') as NodeStart;
const store = await openStore(options);
const logger = pino({ level: 'error' });
const heartbeat = new Heartbeat({ store, id, logger, timers: systemTimers, clock: Date.now });
await heartbeat.start();
const channels = new Channels(
  names.map((name) => channelTo('http://127.0.0.1:9', { name })),
  Date.now,
);
let late: NodeWord['late'] = [];
const tasks = new Tasks({
  store,
  owner: id,
  drivers: new Map([
    [
      'bench',
      {
        submit: ({ id: task }) => Promise.resolve({ upstreamId: `up-${task}` }),
        async poll({ id: task, polledAt }) {
          // Without jitter, and at the longest interval from the start.
          late.push([task, systemTimers.monotonic() - (polledAt ?? 0) - defaultTiming.maxPollMs]);
          await pause(latency[0] + Math.random() * (latency[1] - latency[0]));
          return { state: 'in_progress', progress: 50 };
        },
      },
    ],
  ]),
  channels: { names, named: (name) => channels.named(name) },
  priceTerms: () => ({ unitPrice: 1, groupRatio: 1, group: 'default', configRevision: 'abc' }),
  random: () => 0,
  logger,
});
await tasks.start();
let cpu = process.cpuUsage();
setInterval(() => {
  const used = process.cpuUsage(cpu);
  cpu = process.cpuUsage();
  process.send?.({ late, cpuMs: Math.round((used.user + used.system) / 1_000) } satisfies NodeWord);
  late = [];
}, 1_000);
