import { Counter, Gauge, Histogram, type Instrument, UpDownCounter } from './instruments.ts';

/**
 * All metrics of the gateway. openapi/guides/14-monitoring.md has the same list. Attribute values come from the
 * contract, the catalog, the configuration and fixed lists, never from client input.
 */

/** Bucket limits for durations of up to a day, in seconds. */
const longDurations = [1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1_800, 3_600, 10_800, 43_200, 86_400];

export const serverRequestDuration = new Histogram({
  name: 'http.server.request.duration',
  unit: 's',
  text: 'Duration of a request, from its headers to the end of the response. For a socket, until it is open.',
  attributes: [
    'http.request.method',
    'http.route',
    'http.response.status_code',
    'error.type',
    'unigate.operation',
  ],
});

export const serverActiveRequests = new UpDownCounter({
  name: 'http.server.active_requests',
  unit: '{request}',
  text: 'Requests in progress.',
});

export const firstByteDuration = new Histogram({
  name: 'unigate.response.first_byte.duration',
  unit: 's',
  text: 'Time from the headers of a request to the first byte of a streamed response, such as audio or events.',
  attributes: ['unigate.operation'],
});

export const socketsActive = new UpDownCounter({
  name: 'unigate.socket.active',
  unit: '{socket}',
  text: 'Open client sockets.',
  attributes: ['unigate.operation'],
});

export const socketDuration = new Histogram(
  {
    name: 'unigate.socket.duration',
    unit: 's',
    text: 'Duration of a socket, from its handshake to its close, by result.',
    attributes: ['unigate.operation', 'http.response.status_code'],
  },
  longDurations,
);

export const upstreamDuration = new Histogram({
  name: 'http.client.request.duration',
  unit: 's',
  text: 'Duration of a request to a provider, until the response headers. For a socket, until it is open or refused. No status: no response arrived.',
  attributes: [
    'unigate.channel',
    'server.address',
    'server.port',
    'http.request.method',
    'http.response.status_code',
    'error.type',
  ],
});

export const channelHealthy = new Gauge({
  name: 'unigate.channel.healthy',
  unit: '{channel}',
  text: 'State of a channel: available (1) or in cool-down (0).',
  workerAggregation: 'min',
  attributes: ['unigate.channel'],
});

export const configurationInfo = new Gauge({
  name: 'unigate.configuration.info',
  unit: '{gateway}',
  text: 'Always 1. The label is the revision of the active configuration.',
  workerAggregation: 'max',
  attributes: ['unigate.configuration.revision'],
});

export const taskDuration = new Histogram(
  {
    name: 'unigate.task.duration',
    unit: 's',
    text: 'Duration of a task, from its creation to its end, by final state. The count is the number of ended tasks.',
    attributes: ['unigate.channel', 'unigate.task.driver', 'unigate.task.state'],
  },
  longDurations,
);

export const tasksOpen = new Gauge({
  name: 'unigate.task.open',
  unit: '{task}',
  text: 'Open tasks in the store, by state. Every gateway of a database reports the same number.',
  workerAggregation: 'max',
  attributes: ['unigate.task.state'],
});

export const pollLag = new Gauge({
  name: 'unigate.task.poll.lag',
  unit: 's',
  text: 'Longest time that a due task has waited for its poll. Every gateway of a database reports the same value.',
  workerAggregation: 'max',
});

export const deliveryDuration = new Histogram({
  name: 'unigate.delivery.duration',
  unit: 's',
  text: 'Duration of one delivery attempt of a callback, by result. The count is the number of attempts.',
  attributes: ['unigate.delivery.result'],
});

export const deliveriesClosed = new Counter({
  name: 'unigate.delivery.closed',
  unit: '{delivery}',
  text: 'Callbacks that were delivered or abandoned.',
  attributes: ['unigate.delivery.outcome'],
});

export const deliveryBacklog = new Gauge({
  name: 'unigate.delivery.backlog',
  unit: '{delivery}',
  text: 'Callbacks in the store that wait for a delivery attempt. Every gateway of a database reports the same number.',
  workerAggregation: 'max',
});

export const deliveryLag = new Gauge({
  name: 'unigate.delivery.lag',
  unit: 's',
  text: 'Longest time that a due callback has waited for its delivery attempt. Every gateway of a database reports the same value.',
  workerAggregation: 'max',
});

export const quotaReserved = quota('reserved', 'Quota reserved before calls and tasks.');
export const quotaCharged = quota('charged', 'Quota charged.');
export const quotaRefunded = quota('refunded', 'Reserved quota that was refunded.');
export const quotaDebt = quota(
  'debt',
  'Cost of calls and tasks that the quota did not cover, recorded as debts of keys.',
);

export const storeDuration = new Histogram({
  name: 'db.client.operation.duration',
  unit: 's',
  text: 'Duration of a store command, until its commit.',
  attributes: ['db.system.name', 'db.operation.name', 'error.type'],
});

export const commitSize = new Histogram(
  {
    name: 'unigate.store.commit.size',
    unit: '{command}',
    text: 'Number of commands in one SQLite commit.',
  },
  [1, 2, 4, 8, 16, 32, 64, 128, 256, 512],
);

export const commitDuration = new Histogram({
  name: 'unigate.store.commit.duration',
  unit: 's',
  text: 'Duration of one commit of the SQLite writer, including its commands and the transfer between threads.',
});

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

export const eventLoopUtilization = new Gauge({
  name: 'nodejs.eventloop.utilization',
  unit: '1',
  text: 'Fraction of the time since the last scrape in which the event loop was busy.',
  workerAggregation: 'max',
});

export const memoryUsage = new Gauge({
  name: 'process.memory.usage',
  unit: 'By',
  text: 'Resident memory of the process, all threads.',
});

export const heapUsed = new Gauge({
  name: 'v8js.memory.heap.used',
  unit: 'By',
  text: 'Used heap of the main thread.',
});

export const cpuTime = new Gauge(
  {
    name: 'process.cpu.time',
    unit: 's',
    text: 'CPU time of the process, all threads.',
    attributes: ['cpu.mode'],
  },
  'counter',
);

export const uptime = new Gauge({
  name: 'process.uptime',
  unit: 's',
  text: 'Time since the process started.',
  workerAggregation: 'max',
});

function quota(end: string, text: string): Counter {
  return new Counter({
    name: `unigate.quota.${end}`,
    unit: '{quota}',
    text: `${text} Models outside the catalog are \`other\`.`,
    attributes: ['unigate.model'],
  });
}

function pool(name: string, unit: string, text: string, attributes: readonly string[] = []): Gauge {
  const described = { name: `db.client.connection.${name}`, unit, text };
  return new Gauge({ ...described, attributes: ['db.client.connection.pool.name', ...attributes] });
}

function delay(figure: string, text: string): Gauge {
  return new Gauge({ name: `nodejs.eventloop.delay.${figure}`, unit: 's', text, workerAggregation: 'max' });
}

/** In the order of the guide. */
export const allMetrics: readonly Instrument[] = [
  serverRequestDuration,
  serverActiveRequests,
  firstByteDuration,
  socketsActive,
  socketDuration,
  upstreamDuration,
  channelHealthy,
  configurationInfo,
  tasksOpen,
  pollLag,
  taskDuration,
  deliveryBacklog,
  deliveryLag,
  deliveryDuration,
  deliveriesClosed,
  quotaReserved,
  quotaCharged,
  quotaRefunded,
  quotaDebt,
  storeDuration,
  commitSize,
  commitDuration,
  connectionCount,
  connectionMax,
  connectionsPending,
  ...Object.values(eventLoopDelay),
  eventLoopUtilization,
  memoryUsage,
  heapUsed,
  cpuTime,
  uptime,
];
