import { Counter, Gauge, Histogram, ObservableCounter, UpDownCounter } from './instruments.ts';

/**
 * All metrics of the gateway, in the order of openapi/guides/19-monitoring.md. Attribute values come from the contract,
 * the catalog, the configuration and fixed lists, never from client input.
 */
export { allMetrics } from './instruments.ts';

/** Bucket limits for durations of up to a day, in seconds. */
const longDurations = [1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1_800, 3_600, 10_800, 43_200, 86_400];

export const serverRequestDuration = new Histogram(
  'http.server.request.duration',
  's',
  'Duration of a request, from its headers to the end of the response. For a socket, until it is open.',
  {
    attributes: [
      'http.request.method',
      'http.route',
      'http.response.status_code',
      'error.type',
      'unigate.operation',
    ],
  },
);

export const serverActiveRequests = new UpDownCounter(
  'http.server.active_requests',
  '{request}',
  'Requests in progress.',
);

export const firstByteDuration = new Histogram(
  'unigate.response.first_byte.duration',
  's',
  'Time from the headers of a request to the first byte of a streamed response, such as audio or events.',
  { attributes: ['unigate.operation'] },
);

export const socketsActive = new UpDownCounter('unigate.socket.active', '{socket}', 'Open client sockets.', {
  attributes: ['unigate.operation'],
});

export const socketDuration = new Histogram(
  'unigate.socket.duration',
  's',
  'Duration of a socket, from its handshake to its close, by result.',
  { attributes: ['unigate.operation', 'http.response.status_code'], boundaries: longDurations },
);

export const upstreamDuration = new Histogram(
  'http.client.request.duration',
  's',
  'Duration of a request to a provider, until the response headers. For a socket, until it is open or refused. No status: no response arrived.',
  {
    attributes: [
      'unigate.channel',
      'server.address',
      'server.port',
      'http.request.method',
      'http.response.status_code',
      'error.type',
    ],
  },
);

export const channelHealthy = new Gauge(
  'unigate.channel.healthy',
  '{channel}',
  'State of a channel: available (1) or in cool-down (0).',
  { attributes: ['unigate.channel'], workerAggregation: 'min' },
);

export const buildInfo = new Gauge(
  'unigate.build.info',
  '{gateway}',
  'Always 1. The labels are the versions of the gateway and of Node.js.',
  { attributes: ['service.version', 'process.runtime.version'], workerAggregation: 'max' },
);

export const channelLimit = new Gauge(
  'unigate.channel.limit',
  '{unit}',
  'Limits of a channel in the configuration.',
  { attributes: ['unigate.channel', 'unigate.limit'], workerAggregation: 'max' },
);

export const channelCalls = new Gauge(
  'unigate.channel.calls',
  '{call}',
  'Calls and sockets in progress on a channel.',
  { attributes: ['unigate.channel'] },
);

export const channelSpending = new Gauge(
  'unigate.channel.spending',
  '{quota}',
  'Quota that a channel with a limit spent today (UTC). Every gateway of a database reports about the same value.',
  { attributes: ['unigate.channel'], workerAggregation: 'max' },
);

export const channelRefusals = new Counter(
  'unigate.channel.refusals',
  '{request}',
  'Requests that a limit of a channel refused, also if another channel then served them.',
  { attributes: ['unigate.channel', 'unigate.limit'] },
);

export const configurationInfo = new Gauge(
  'unigate.configuration.info',
  '{gateway}',
  'Always 1. The label is the revision of the active configuration.',
  { attributes: ['unigate.configuration.revision'], workerAggregation: 'max' },
);

export const reloads = new Counter(
  'unigate.configuration.reload',
  '{reload}',
  'Reloads of the configuration, by result: applied or failed.',
  { attributes: ['unigate.configuration.reload.result'] },
);

export const lastReloadSuccessful = new Gauge(
  'unigate.configuration.last_reload.successful',
  '{gateway}',
  'Whether the last reload of the configuration was applied (1) or failed (0). 1 before the first reload.',
  { workerAggregation: 'min' },
);

export const tasksOpen = new Gauge(
  'unigate.task.open',
  '{task}',
  'Open tasks in the store, by state. Every gateway of a database reports the same number.',
  { attributes: ['unigate.task.state'], workerAggregation: 'max' },
);

export const taskQueueDepth = new Gauge(
  'unigate.task.queue.depth',
  '{task}',
  'Tasks that wait for a place within the limits of a channel. Every gateway of a database reports the same number.',
  { workerAggregation: 'max' },
);

export const taskQueueDuration = new Histogram(
  'unigate.task.queue.duration',
  's',
  'Time that a task waited before a channel with limits got it.',
  { attributes: ['unigate.channel'], boundaries: longDurations },
);

export const pollLag = new Gauge(
  'unigate.task.poll.lag',
  's',
  'Longest time that a due task has waited for its poll. Every gateway of a database reports the same value.',
  { workerAggregation: 'max' },
);

export const taskDuration = new Histogram(
  'unigate.task.duration',
  's',
  'Duration of a task, from its creation to its end, by final state. The count is the number of ended tasks.',
  { attributes: ['unigate.channel', 'unigate.task.driver', 'unigate.task.state'], boundaries: longDurations },
);

export const deliveryBacklog = new Gauge(
  'unigate.delivery.backlog',
  '{delivery}',
  'Callbacks in the store that wait for a delivery attempt. Every gateway of a database reports the same number.',
  { workerAggregation: 'max' },
);

export const deliveryLag = new Gauge(
  'unigate.delivery.lag',
  's',
  'Longest time that a due callback has waited for its delivery attempt. Every gateway of a database reports the same value.',
  { workerAggregation: 'max' },
);

export const deliveryDuration = new Histogram(
  'unigate.delivery.duration',
  's',
  'Duration of one delivery attempt of a callback, by result. The count is the number of attempts.',
  { attributes: ['unigate.delivery.result'] },
);

export const deliveriesClosed = new Counter(
  'unigate.delivery.closed',
  '{delivery}',
  'Callbacks that were delivered or abandoned.',
  { attributes: ['unigate.delivery.outcome'] },
);

export const quotaReserved = quota('reserved', 'Quota reserved before calls and tasks.');
export const quotaCharged = quota('charged', 'Quota charged.');
export const quotaRefunded = quota('refunded', 'Reserved quota that was refunded.');
export const quotaCost = quota(
  'cost',
  'Cost of calls and tasks at the providers, as far as it is configured.',
);
export const quotaDebt = quota(
  'debt',
  'Cost of calls and tasks that the quota did not cover, recorded as debts of keys.',
);

export const storeDuration = new Histogram(
  'db.client.operation.duration',
  's',
  'Duration of a store command, until its commit.',
  { attributes: ['db.system.name', 'db.operation.name', 'error.type'] },
);

export const commitSize = new Histogram(
  'unigate.store.commit.size',
  '{command}',
  'Number of commands in one SQLite commit.',
  { boundaries: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512] },
);

export const commitDuration = new Histogram(
  'unigate.store.commit.duration',
  's',
  'Duration of one commit of the SQLite writer, including its commands and the transfer between threads.',
);

export const connectionCount = pool(
  'count',
  '{connection}',
  'Connections to PostgreSQL, by state (used or idle).',
  ['db.client.connection.state'],
);
export const connectionMax = pool(
  'max',
  '{connection}',
  'Maximum number of connections of a PostgreSQL pool.',
);
export const connectionsPending = pool(
  'pending_requests',
  '{request}',
  'Requests that wait for a PostgreSQL connection.',
);

export const eventLoopDelay = {
  p50: delay('p50', 'Median event loop delay since the last scrape.'),
  p99: delay('p99', '99th percentile of the event loop delay since the last scrape.'),
  max: delay('max', 'Maximum event loop delay since the last scrape.'),
};

export const eventLoopUtilization = new Gauge(
  'nodejs.eventloop.utilization',
  '1',
  'Fraction of the time since the last scrape in which the event loop was busy.',
  { workerAggregation: 'max' },
);

export const memoryUsage = new Gauge(
  'process.memory.usage',
  'By',
  'Resident memory of the process, all threads.',
);

export const heapUsed = new Gauge('v8js.memory.heap.used', 'By', 'Used heap of the main thread.');

export const cpuTime = new ObservableCounter(
  'process.cpu.time',
  's',
  'CPU time of the process, all threads.',
  {
    attributes: ['cpu.mode'],
  },
);

export const uptime = new Gauge('process.uptime', 's', 'Time since the process started.', {
  workerAggregation: 'max',
});

function quota(end: string, description: string): Counter {
  const attributes = ['unigate.model'];
  const models = 'Models that neither the catalog nor the configuration names are `other`.';
  return new Counter(`unigate.quota.${end}`, '{quota}', `${description} ${models}`, { attributes });
}

function pool(name: string, unit: string, description: string, attributes: readonly string[] = []): Gauge {
  return new Gauge(`db.client.connection.${name}`, unit, description, {
    attributes: ['db.client.connection.pool.name', ...attributes],
  });
}

function delay(figure: string, description: string): Gauge {
  return new Gauge(`nodejs.eventloop.delay.${figure}`, 's', description, { workerAggregation: 'max' });
}
