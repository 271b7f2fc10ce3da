import { Counter, Gauge, Histogram, type Instrument, Level } from './instruments.ts';

/**
 * All that the gateway measures. openapi/guides/14-watching.md has the same list. Attributes take their
 * values from the contract, the catalogue, the configuration and fixed lists: never from what a client wrote.
 */

/** For what may take hours, in seconds. */
const longDurations = [1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1_800, 3_600, 10_800, 43_200, 86_400];

export const serverRequestDuration = new Histogram({
  name: 'http.server.request.duration',
  unit: 's',
  text: 'Time from the head of a request to the end of its answer; of a socket, until it is open.',
  attributes: [
    'http.request.method',
    'http.route',
    'http.response.status_code',
    'error.type',
    'unigate.operation',
  ],
});

export const serverActiveRequests = new Level({
  name: 'http.server.active_requests',
  unit: '{request}',
  text: 'Requests that are being answered.',
});

export const firstByteDuration = new Histogram({
  name: 'unigate.response.first_byte.duration',
  unit: 's',
  text: 'Time from the head of a request to the first byte of an answer that is passed on piece by piece, such as audio or events.',
  attributes: ['unigate.operation'],
});

export const socketsActive = new Level({
  name: 'unigate.socket.active',
  unit: '{socket}',
  text: 'Sockets of clients that are open.',
  attributes: ['unigate.operation'],
});

export const socketDuration = new Histogram(
  {
    name: 'unigate.socket.duration',
    unit: 's',
    text: 'Time from the handshake of a socket to its end, by how it ended.',
    attributes: ['unigate.operation', 'http.response.status_code'],
  },
  longDurations,
);

export const upstreamDuration = new Histogram({
  name: 'http.client.request.duration',
  unit: 's',
  text: 'Time from sending a request to a provider to the head of its answer; of a socket, until it is open or refused. Without a status, none came.',
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
  text: 'Whether a channel is asked like any other (1) or rests (0).',
  together: 'least',
  attributes: ['unigate.channel'],
});

export const configurationInfo = new Gauge({
  name: 'unigate.configuration.info',
  unit: '{gateway}',
  text: 'Always 1; its label is the revision of the configuration in force.',
  together: 'most',
  attributes: ['unigate.configuration.revision'],
});

export const taskDuration = new Histogram(
  {
    name: 'unigate.task.duration',
    unit: 's',
    text: 'Time from the creation of a task to its end, by how it ended. Its count is that of ended tasks.',
    attributes: ['unigate.channel', 'unigate.task.driver', 'unigate.task.state'],
  },
  longDurations,
);

export const tasksOpen = new Gauge({
  name: 'unigate.task.open',
  unit: '{task}',
  text: 'Tasks in the store that are not over, by state; every gateway of a database tells all of them.',
  together: 'most',
  attributes: ['unigate.task.state'],
});

export const pollLag = new Gauge({
  name: 'unigate.task.poll.lag',
  unit: 's',
  text: 'How long the longest due task has waited for somebody to ask about it; every gateway of a database tells the same.',
  together: 'most',
});

export const deliveryDuration = new Histogram({
  name: 'unigate.delivery.duration',
  unit: 's',
  text: 'Time that one try to deliver a callback took, by what came of it. Its count is that of tries.',
  attributes: ['unigate.delivery.result'],
});

export const deliveriesClosed = new Counter({
  name: 'unigate.delivery.closed',
  unit: '{delivery}',
  text: 'Callbacks that were delivered or given up.',
  attributes: ['unigate.delivery.outcome'],
});

export const deliveryBacklog = new Gauge({
  name: 'unigate.delivery.backlog',
  unit: '{delivery}',
  text: 'Callbacks in the store that wait for a try; every gateway of a database tells all of them.',
  together: 'most',
});

export const deliveryLag = new Gauge({
  name: 'unigate.delivery.lag',
  unit: 's',
  text: 'How long the longest due callback has waited for its try; every gateway of a database tells the same.',
  together: 'most',
});

export const quotaReserved = quota('reserved', 'Quota that was held before the work.');
export const quotaCharged = quota('charged', 'Quota that was charged.');
export const quotaRefunded = quota('refunded', 'Quota that was held and given back.');
export const quotaDebt = quota(
  'debt',
  'Cost of calls and tasks that no quota covered, recorded as debts of keys.',
);

export const storeDuration = new Histogram({
  name: 'db.client.operation.duration',
  unit: 's',
  text: 'Time from giving a command to the store to its commit.',
  attributes: ['db.system.name', 'db.operation.name', 'error.type'],
});

export const commitSize = new Histogram(
  {
    name: 'unigate.store.commit.size',
    unit: '{command}',
    text: 'Commands that SQLite committed together.',
  },
  [1, 2, 4, 8, 16, 32, 64, 128, 256, 512],
);

export const commitDuration = new Histogram({
  name: 'unigate.store.commit.duration',
  unit: 's',
  text: "Time of one commit of SQLite's writer, with its commands and the way there and back.",
});

export const connectionCount = pool(
  'count',
  '{connection}',
  'Connections to PostgreSQL, by whether they are in use.',
  ['db.client.connection.state'],
);
export const connectionMax = pool('max', '{connection}', 'Most connections of a pool to PostgreSQL.');
export const connectionsPending = pool(
  'pending_requests',
  '{request}',
  'What waits for a connection to PostgreSQL.',
);

export const eventLoopDelay = {
  p50: delay('p50', 'Half of the turns of the event loop are no later than this, since the last scrape.'),
  p99: delay('p99', '99 of 100 turns of the event loop are no later than this, since the last scrape.'),
  max: delay('max', 'The latest turn of the event loop since the last scrape.'),
};

export const eventLoopUtilization = new Gauge({
  name: 'nodejs.eventloop.utilization',
  unit: '1',
  text: 'Share of the time since the last scrape that the event loop was busy.',
  together: 'most',
});

export const memoryUsage = new Gauge({
  name: 'process.memory.usage',
  unit: 'By',
  text: 'Resident memory of the process, all threads.',
});

export const heapUsed = new Gauge({
  name: 'v8js.memory.heap.used',
  unit: 'By',
  text: "The main thread's heap in use.",
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
  text: 'Time since the process began.',
  together: 'most',
});

function quota(end: string, text: string): Counter {
  return new Counter({
    name: `unigate.quota.${end}`,
    unit: '{quota}',
    text: `${text} Models beyond the catalogue are \`other\`.`,
    attributes: ['unigate.model'],
  });
}

function pool(name: string, unit: string, text: string, attributes: readonly string[] = []): Gauge {
  const described = { name: `db.client.connection.${name}`, unit, text };
  return new Gauge({ ...described, attributes: ['db.client.connection.pool.name', ...attributes] });
}

function delay(figure: string, text: string): Gauge {
  return new Gauge({ name: `nodejs.eventloop.delay.${figure}`, unit: 's', text, together: 'most' });
}

/** In the order of the list. */
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
